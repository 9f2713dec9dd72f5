"""The sign-flip test: counted by hand, against scipy, and sampled where there are too many patterns."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from tiltmeter.errors import BadInput
from tiltmeter.statistics import permutation, sign_flip_test

ALTERNATIVES = ["two-sided", "greater", "less"]


@pytest.mark.parametrize(("alternative", "expected"), [("greater", 2 / 8), ("less", 7 / 8), ("two-sided", 4 / 8)])
def test_eight_patterns_counted_by_hand(alternative, expected):
    # +-1 +-2 +-3: 6, 4, 2, 0, 0, -2, -4, -6; observed -1 + 2 + 3 = 4
    found = sign_flip_test([-1.0, 2.0, 3.0], alternative=alternative)
    assert found.p_value == expected
    assert (found.exact, found.splits, found.standard_error) == (True, 8, 0.0)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_exact_p_is_scipys(alternative):
    values = np.random.default_rng(3).normal(0.4, size=11)
    scipys = scipy.stats.permutation_test(
        (values,),
        lambda x, axis: x.sum(axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
        vectorized=True,
        alternative=alternative,
    )
    assert sign_flip_test(values, alternative=alternative).p_value == pytest.approx(scipys.pvalue, abs=1e-12)


@given(st.lists(st.integers(-4, 4), min_size=1, max_size=10), st.sampled_from([0.1, 1 / 3, 1e-9, 1e9]))
@settings(max_examples=50)
def test_ties_survive_rounding_and_signs_do_not_matter(values, scale):
    p = sign_flip_test(values).p_value
    assert 0 < p <= 1
    assert sign_flip_test([value * scale for value in values]).p_value == p
    assert sign_flip_test([-value for value in values]).p_value == p


def test_differences_of_zero_give_a_p_of_one():
    assert sign_flip_test([0.0, 0.0]).p_value == 1.0


class TestSampled:
    """From 20 units on there are more than a million patterns."""

    values = np.random.default_rng(1).normal(0.4, size=22)

    @pytest.mark.parametrize("alternative", ALTERNATIVES)
    def test_a_sample_agrees_with_counting_them_all(self, alternative, monkeypatch):
        sampled = sign_flip_test(self.values, alternative=alternative)
        monkeypatch.setattr(permutation, "EXACT_LIMIT", 10**7)
        exact = sign_flip_test(self.values, alternative=alternative)
        assert (sampled.exact, exact.exact) == (False, True)
        assert sampled.p_value == pytest.approx(exact.p_value, abs=4 * sampled.standard_error)

    def test_the_seed_decides_and_p_is_never_zero(self):
        assert sign_flip_test(self.values, seed=1) == sign_flip_test(self.values, seed=1)
        assert sign_flip_test(self.values, seed=1) != sign_flip_test(self.values, seed=2)
        assert sign_flip_test(np.ones(100), permutations=999).p_value == 1 / 1000

    def test_sampling_in_pieces_changes_nothing_but_memory(self, monkeypatch):
        whole = sign_flip_test(self.values)
        monkeypatch.setattr(permutation, "_CHUNK", 22 * 100)
        assert sign_flip_test(self.values).p_value == pytest.approx(whole.p_value, abs=4 * whole.standard_error)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sign_flip_test([]), "at least one number"),
        (lambda: sign_flip_test([1.0, float("inf")]), "NaN or infinity"),
        (lambda: sign_flip_test([1.0], alternative="gretaer"), "did you mean 'greater'"),
        (lambda: sign_flip_test([1.0], permutations=0), "permutations must be at least 1"),
    ],
)
def test_input_that_cannot_be_used_is_named(call, message):
    with pytest.raises(BadInput, match=message):
        call()
