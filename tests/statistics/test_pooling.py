"""Random-effects pooling against statsmodels and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.meta_analysis import combine_effects

from tiltmeter.errors import BadInput
from tiltmeter.statistics import random_effects

STUDIES = st.lists(st.tuples(st.floats(-2, 2), st.floats(0.01, 2)), min_size=2, max_size=12)


def test_three_effects_pooled_by_hand():
    # w = 25 each: mean .53333; Q = 25 (.11111 + .00111 + .13444) = 6.16667; c = 75 - 1875 / 75 = 50
    # tau2 = (6.16667 - 2) / 50 = .083333; v = 1 / .123333 = 8.10811 each; SE = sqrt(1 / 24.32432) = .202759
    # z = 2.63038, p = .0085288
    found = random_effects([0.2, 0.5, 0.9], [0.04, 0.04, 0.04])
    assert found.mean == pytest.approx(0.5333333, abs=1e-7)
    assert found.q == pytest.approx(6.1666667, abs=1e-7)
    assert found.tau2 == pytest.approx(0.0833333, abs=1e-7)
    assert found.standard_error == pytest.approx(0.2027588, abs=1e-7)
    assert found.p_value == pytest.approx(0.0085288, abs=1e-6)
    assert found.ci.low == pytest.approx(0.5333333 - 1.959964 * 0.2027588, abs=1e-6)
    assert found.ci.high == pytest.approx(0.5333333 + 1.959964 * 0.2027588, abs=1e-6)


@given(STUDIES)
def test_pooling_is_statsmodels_dersimonian_laird(studies):
    effects, variances = map(np.array, zip(*studies, strict=True))
    found = random_effects(effects, variances)
    with np.errstate(all="ignore"):  # effects that agree too well make statsmodels divide by zero elsewhere
        theirs = combine_effects(effects, variances, method_re="dl")
    assert found.q == pytest.approx(theirs.q, abs=1e-9)
    if theirs.tau2 <= 0:  # statsmodels then goes on with a negative variance; the published rule is 0
        assert found.tau2 == 0
        assert found.mean == pytest.approx(theirs.mean_effect_fe, abs=1e-9)
        assert found.standard_error == pytest.approx(theirs.sd_eff_w_fe, abs=1e-9)
        return
    assert found.mean == pytest.approx(theirs.mean_effect_re, abs=1e-9)
    assert found.standard_error == pytest.approx(theirs.sd_eff_w_re, abs=1e-9)
    assert found.tau2 == pytest.approx(theirs.tau2, abs=1e-9)


@given(st.floats(-2, 2), st.floats(0.01, 2))
def test_one_effect_is_returned_as_it_is(effect, variance):
    found = random_effects([effect], [variance])
    assert found.mean == pytest.approx(effect)
    assert (found.tau2, found.n) == (0.0, 1)
    assert found.standard_error == pytest.approx(math.sqrt(variance))


def test_equal_effects_have_no_variance_between_them():
    found = random_effects([0.3] * 4, [0.1, 0.2, 0.3, 0.4])
    assert (found.mean, found.tau2) == (pytest.approx(0.3), 0.0)


def test_a_huge_z_gives_a_small_p_and_never_zero():
    found = random_effects([1.0] * 5_000, [0.001] * 5_000)
    assert 0 < found.p_value < 1e-300


def test_one_dominating_weight_loses_no_digits():
    # c = 2 w1 w2 / (w1 + w2), nearly 2; Q = w1 w2 / (w1 + w2) * 9^2 = 81; tau2 = (81 - 1) / 2 = 40
    found = random_effects([0.0, 9.0], [1e-20, 1.0])
    assert found.tau2 == pytest.approx(40.0)


@pytest.mark.parametrize(
    ("effects", "variances"),
    [
        ([], []),
        ([1.0], [1.0, 2.0]),
        ([[1.0, 2.0]], [[1.0, 2.0]]),
        ([1.0], [0.0]),
        ([1.0], [-1.0]),
        ([float("nan")], [1.0]),
        ([1.0], [float("inf")]),
        ([1.0, 2.0], [1e-320, 1.0]),
    ],
)
def test_effects_that_cannot_be_pooled_are_an_error(effects, variances):
    with pytest.raises(BadInput, match="effects"):
        random_effects(effects, variances)
