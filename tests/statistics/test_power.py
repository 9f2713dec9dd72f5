"""Detectable effects against the noncentral t distribution and against simulated permutation tests."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import nct, t

from tiltmeter.errors import BadInput
from tiltmeter.statistics import by_unit, minimum_detectable_effect, permutation_test


@pytest.mark.parametrize(("n_1", "n_2"), [(2, 2), (3, 3), (8, 8), (5, 40), (40, 5), (100, 100)])
@pytest.mark.parametrize("power", [0.5, 0.8, 0.95])
def test_the_t_test_finds_the_effect_with_the_promised_power(n_1, n_2, power):
    d = minimum_detectable_effect(n_1, n_2, power=power, sd="pooled")
    df, shift = n_1 + n_2 - 2, d * math.sqrt(n_1 * n_2 / (n_1 + n_2))
    limit = t.ppf(0.975, df)
    found = nct.sf(limit, df, shift) + nct.cdf(-limit, df, shift)
    assert found == pytest.approx(power, abs=2e-3)  # the solver's own tolerance, worst for two words a group


def test_cohens_smallest_effects():
    # tables of the t test: 64 a group for d = .5, 26 a group for d = .8, at power .8
    assert minimum_detectable_effect(64, 64, sd="pooled") == pytest.approx(0.5, abs=0.005)
    assert minimum_detectable_effect(26, 26, sd="pooled") == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize(("n_1", "n_2"), [(8, 8), (5, 40)])
def test_weats_units_count_the_gap_in_the_sd(n_1, n_2):
    pooled = minimum_detectable_effect(n_1, n_2, sd="pooled")
    share = n_1 * n_2 / (n_1 + n_2) ** 2
    # the SD of both groups together is sqrt(1 + share * gap^2) when that within groups is 1
    assert minimum_detectable_effect(n_1, n_2) == pytest.approx(pooled / math.sqrt(1 + share * pooled**2))


def test_the_permutation_test_finds_it_as_often():
    gap = minimum_detectable_effect(8, 8, sd="pooled")
    rng = np.random.default_rng(0)
    runs = 600
    hits = sum(
        permutation_test(by_unit(rng.normal(gap, size=8)), by_unit(rng.normal(size=8))).p_value <= 0.05
        for _ in range(runs)
    )
    # binomial SD sqrt(.8 * .2 / 600) = .016; three of them, and .02 for being no t test
    assert hits / runs == pytest.approx(0.8, abs=3 * 0.016 + 0.02)


def test_more_words_find_smaller_effects():
    found = [minimum_detectable_effect(n, n) for n in (2, 4, 8, 16, 64, 256)]
    assert found == sorted(found, reverse=True)
    assert found[0] < 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: minimum_detectable_effect(1, 8), "at least two units"),
        (lambda: minimum_detectable_effect(8, 8, sd="poled"), "did you mean 'pooled'"),
        (lambda: minimum_detectable_effect(8, 8, power=1.5), "alpha and power"),
        (lambda: minimum_detectable_effect(8, 8, alpha=0.0), "alpha and power"),
        (lambda: minimum_detectable_effect(8, 8, alpha=0.9, power=0.8), "alpha and power"),
    ],
)
def test_options_that_make_no_sense_are_named(call, message):
    with pytest.raises(BadInput, match=message):
        call()
