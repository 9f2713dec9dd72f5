"""Permutation and sign-flip tests against counting by hand, against scipy, and against the faults of published code."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from tiltmeter.errors import BadInput
from tiltmeter.statistics import (
    benjamini_hochberg,
    by_unit,
    draw_splits,
    holm,
    p_from_null,
    permutation_test,
    permutation_tests,
    sign_flip_test,
)
from tiltmeter.statistics import permutation as module
from tiltmeter.statistics.permutation import generator, least_p_of_flips

ALTERNATIVES = ["two-sided", "greater", "less"]
# Few different whole numbers, so that ties are many and counting is exact.
WHOLE = st.lists(st.integers(-4, 4), min_size=1, max_size=6)


def p_value(x, y, alternative="two-sided", **options):
    return permutation_test(by_unit(x), by_unit(y), alternative=alternative, **options).p_value


def counted(x, y, alternative):
    """The share of splits at least as extreme, one by one, in whole numbers: n * m * (mean - mean)."""
    everything = [*x, *y]

    def difference(chosen):
        inside = sum(everything[i] for i in chosen)
        return inside * len(everything) - len(x) * sum(everything)

    observed = difference(range(len(x)))
    null = [difference(chosen) for chosen in itertools.combinations(range(len(everything)), len(x))]
    extreme = {
        "greater": [value >= observed for value in null],
        "less": [value <= observed for value in null],
        "two-sided": [abs(value) >= abs(observed) for value in null],
    }[alternative]
    return sum(extreme) / len(null)


@pytest.mark.parametrize(("alternative", "expected"), [("greater", 2 / 6), ("less", 5 / 6), ("two-sided", 4 / 6)])
def test_six_splits_counted_by_hand(alternative, expected):
    # sums of two out of {1, -.2, -1, .2}: .8 (observed), 0, 1.2, -1.2, 0, -.8
    found = permutation_test(by_unit([1.0, -0.2]), by_unit([-1.0, 0.2]), alternative=alternative)
    assert found.p_value == pytest.approx(expected)
    assert (found.exact, found.splits, found.standard_error) == (True, 6, 0.0)


@given(WHOLE, WHOLE, st.sampled_from(ALTERNATIVES))
def test_meeting_in_the_middle_counts_what_listing_all_splits_counts(x, y, alternative):
    assert p_value(x, y, alternative) == pytest.approx(counted(x, y, alternative), abs=1e-12)


@given(WHOLE, WHOLE, st.sampled_from(ALTERNATIVES), st.sampled_from([0.1, 1 / 3, 1e-9, 1e9]))
def test_ties_survive_rounding(x, y, alternative, scale):
    """Tenths and thirds are no binary fractions: equal sums differ in the last digit and must still tie."""
    scaled = p_value([value * scale for value in x], [value * scale for value in y], alternative)
    assert scaled == pytest.approx(counted(x, y, alternative), abs=1e-12)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("sizes", [(5, 5), (3, 6), (6, 3), (2, 9)])
def test_exact_p_is_scipys(alternative, sizes):
    rng = np.random.default_rng(sum(sizes))
    x, y = rng.normal(0.4, size=sizes[0]), rng.normal(size=sizes[1])
    two_sided = alternative == "two-sided"

    def statistic(a, b, axis):
        difference = a.mean(axis) - b.mean(axis)
        # scipy doubles the smaller tail; for groups of two sizes that is another test than |difference|
        return np.abs(difference) if two_sided else difference

    scipys = scipy.stats.permutation_test(
        (x, y),
        statistic,
        n_resamples=np.inf,
        vectorized=True,
        alternative="greater" if two_sided else alternative,
    )
    assert p_value(x, y, alternative) == pytest.approx(scipys.pvalue, abs=1e-12)


@given(WHOLE, WHOLE)
def test_p_values_are_never_zero_and_the_tails_mirror_each_other(x, y):
    assert 0 < p_value(x, y) <= 1
    assert p_value(x, y, "greater") == pytest.approx(p_value(y, x, "less"))
    assert p_value(x, y, "greater") + p_value(x, y, "less") >= 1
    assert p_value(x, y) == pytest.approx(p_value(y, x))


@given(WHOLE, WHOLE, st.sampled_from(ALTERNATIVES))
def test_shifting_all_scores_changes_nothing(x, y, alternative):
    shifted = p_value([value + 1000.3 for value in x], [value + 1000.3 for value in y], alternative)
    assert shifted == pytest.approx(p_value(x, y, alternative))


def test_two_sided_is_right_for_negative_differences():
    low, high = [-3.0, -2.0, -1.0, -2.5], [1.0, 2.0, 3.0, 2.5]
    # wholly separated: the observed split and its mirror, out of 70
    assert p_value(low, high) == pytest.approx(2 / 70)
    assert p_value(low, high, "less") == pytest.approx(1 / 70)
    assert p_value(low, high, "greater") == 1.0


def test_equal_scores_give_a_p_of_one():
    assert p_value([0.3] * 3, [0.3] * 3) == 1.0
    assert p_value([0.1 + 0.2, 0.3], [0.3, 0.3]) == 1.0


def test_the_largest_counted_case_is_right():
    # 11 + 11: C(22, 11) = 705,432 splits; separated groups leave one split in each tail
    found = permutation_test(by_unit(np.arange(11.0) + 20), by_unit(np.arange(11.0)))
    assert (found.exact, found.splits) == (True, 705_432)
    assert found.p_value == pytest.approx(2 / 705_432)


def test_units_not_observations_are_permuted():
    # two words a group, ninety sentences each: C(4, 2) = 6 splits, however many sentences
    x = by_unit(np.repeat([2.0, 3.0], 90), np.repeat(["he", "man"], 90))
    y = by_unit(np.repeat([0.0, 1.0], 90), np.repeat(["she", "woman"], 90))
    assert permutation_test(x, y).splits == 6
    assert permutation_test(x, y).p_value == pytest.approx(2 / 6)


class TestSampled:
    """From 12 + 12 words on there are more than a million splits."""

    x = np.random.default_rng(1).normal(0.5, size=13)
    y = np.random.default_rng(2).normal(size=13)

    def test_the_seed_decides(self):
        first, again, other = (p_value(self.x, self.y, seed=seed) for seed in (1, 1, 2))
        assert first == again
        assert first != other

    @pytest.mark.parametrize("alternative", ALTERNATIVES)
    def test_a_sample_agrees_with_counting_them_all(self, alternative, monkeypatch):
        sampled = permutation_test(by_unit(self.x), by_unit(self.y), alternative=alternative)
        monkeypatch.setattr(module, "EXACT_LIMIT", 10**8)
        exact = permutation_test(by_unit(self.x), by_unit(self.y), alternative=alternative)
        assert (sampled.exact, exact.exact) == (False, True)
        assert sampled.p_value == pytest.approx(exact.p_value, abs=4 * sampled.standard_error)

    def test_the_standard_error_is_binomial(self):
        found = permutation_test(by_unit(self.x), by_unit(self.y), permutations=1_000)
        p = found.p_value
        assert found.standard_error == pytest.approx(math.sqrt(p * (1 - p) / 1_000))

    def test_p_is_never_zero(self):
        found = permutation_test(by_unit(np.arange(15.0) + 50), by_unit(np.arange(15.0)), permutations=999)
        assert found.p_value == 1 / 1000

    def test_every_draw_is_a_split_without_replacement(self):
        # X holds the one large score. No split of the words can beat the observed one, but a "permutation"
        # drawn with replacement beats it whenever it draws the large score twice.
        x, y = [100.0, *[1.0] * 12], [0.0] * 13
        assert p_value(x, y, "greater") == 1 / 10_001

    def test_unequal_groups_are_sampled_rightly(self, monkeypatch):
        x, y = self.x[:8], np.concatenate([self.y, self.y + 0.1])
        sampled = permutation_test(by_unit(x), by_unit(y), permutations=20_000)
        monkeypatch.setattr(module, "EXACT_LIMIT", 10**9)
        exact = permutation_test(by_unit(x), by_unit(y))
        assert sampled.p_value == pytest.approx(exact.p_value, abs=4 * sampled.standard_error)

    def test_many_draws_are_taken_in_pieces(self, monkeypatch):
        whole = p_value(self.x, self.y)
        monkeypatch.setattr(module, "_CHUNK", 1_000)
        assert p_value(self.x, self.y) == pytest.approx(whole, abs=0.03)


def test_drawn_splits_are_all_splits_or_a_sample_of_real_ones():
    masks, exact = draw_splits(3, 2, permutations=10, seed=0)
    assert exact
    assert len({tuple(mask) for mask in masks.tolist()}) == math.comb(5, 3)
    masks, exact = draw_splits(8, 8, permutations=500, seed=0)
    assert not exact
    assert masks.shape == (500, 16)
    assert (masks.sum(axis=1) == 8).all()
    again, _ = draw_splits(8, 8, permutations=500, seed=0)
    assert (masks == again).all()


def test_p_from_a_null_distribution():
    null = np.array([0.0, 1.0, -2.0, 2.0])
    exact = [p_from_null(null, 1.0, alternative=each, exact=True).p_value for each in ALTERNATIVES]
    assert exact == [3 / 4, 2 / 4, 3 / 4]
    sampled = p_from_null(null, 5.0, alternative="greater", exact=False)
    assert sampled.p_value == 1 / 5
    rounded = p_from_null(np.array([0.3 - 1e-17, -1.0]), 0.1 + 0.2, alternative="greater", exact=True)
    assert rounded.p_value == 1 / 2


def test_the_observed_split_counts_even_where_rounding_hides_it():
    assert p_from_null(np.array([0.0, -1.0]), 1e-9, alternative="greater", exact=True).p_value == 1 / 2


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: p_value([1.0], [2.0], "greter"), "did you mean 'greater'"),
        (lambda: p_value([1.0], [2.0], "two_sided"), "did you mean 'two-sided'"),
        (lambda: p_value([1.0], [2.0], permutations=0), "permutations must be at least 1, not 0"),
        (lambda: p_value(TestSampled.x, TestSampled.y, seed=-1), "a seed must be a whole number"),
        (lambda: draw_splits(9, 9, permutations=0, seed=0), "permutations must be at least 1, not 0"),
        (lambda: p_from_null(np.zeros(2), 0.0, alternative="lss", exact=True), "did you mean 'less'"),
    ],
)
def test_options_that_make_no_sense_are_named(call, message):
    with pytest.raises(BadInput, match=message):
        call()


def test_a_seed_gives_the_same_numbers_and_each_purpose_its_own():
    draws = [generator(seed, purpose).random() for seed in (0, np.int64(0), 1) for purpose in ("permute", "resample")]
    assert draws[:2] == draws[2:4]
    assert len(set(draws)) == 4


@pytest.mark.parametrize("seed", [-1, 0.5, None, "zero"])
def test_what_is_no_seed_is_an_error(seed):
    with pytest.raises(BadInput, match="a seed must be a whole number"):
        generator(seed, "permute")


@pytest.mark.parametrize("n", [6, 15])
@pytest.mark.parametrize("shift", [-0.4, 0.0, 0.4])
def test_several_alternatives_at_once_give_the_p_values_of_each_alone(n, shift):
    rng = np.random.default_rng(n)
    x, y = by_unit(rng.normal(shift, 1, n)), by_unit(rng.normal(0, 1, n))
    alternatives = ("two-sided", "greater", "less", "greater")
    together = permutation_tests(x, y, alternatives=alternatives, permutations=500, seed=3)
    alone = [permutation_test(x, y, alternative=each, permutations=500, seed=3) for each in alternatives]
    assert together == alone
    assert together[0].exact == (n == 6)


@pytest.mark.parametrize(("alternative", "expected"), [("greater", 2 / 8), ("less", 7 / 8), ("two-sided", 4 / 8)])
def test_eight_patterns_counted_by_hand(alternative, expected):
    # +-1 +-2 +-3: 6, 4, 2, 0, 0, -2, -4, -6; observed -1 + 2 + 3 = 4
    found = sign_flip_test([-1.0, 2.0, 3.0], alternative=alternative)
    assert found.p_value == expected
    assert (found.exact, found.splits, found.standard_error) == (True, 8, 0.0)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_exact_p_of_flips_is_scipys(alternative):
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


class TestSampledFlips:
    """From 20 units on there are more than a million patterns."""

    values = np.random.default_rng(1).normal(0.4, size=22)

    @pytest.mark.parametrize("alternative", ALTERNATIVES)
    def test_a_sample_agrees_with_counting_them_all(self, alternative, monkeypatch):
        sampled = sign_flip_test(self.values, alternative=alternative)
        monkeypatch.setattr(module, "EXACT_LIMIT", 10**7)
        exact = sign_flip_test(self.values, alternative=alternative)
        assert (sampled.exact, exact.exact) == (False, True)
        assert sampled.p_value == pytest.approx(exact.p_value, abs=4 * sampled.standard_error)

    def test_the_seed_decides_and_p_is_never_zero(self):
        assert sign_flip_test(self.values, seed=1) == sign_flip_test(self.values, seed=1)
        assert sign_flip_test(self.values, seed=1) != sign_flip_test(self.values, seed=2)
        assert sign_flip_test(np.ones(100), permutations=999).p_value == 1 / 1000

    def test_sampling_in_pieces_changes_nothing_but_memory(self, monkeypatch):
        whole = sign_flip_test(self.values)
        monkeypatch.setattr(module, "_CHUNK", 22 * 100)
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
def test_differences_that_cannot_be_used_are_named(call, message):
    with pytest.raises(BadInput, match=message):
        call()


P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=10)


def test_holm_by_hand():
    # sorted .01 .03 .04 times 3, 2, 1: .03 .06 .04, made to rise: .03 .06 .06
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03]), [0.03, 0.06, 0.06])


def test_benjamini_hochberg_by_hand():
    # sorted .01 .03 .04 times 3/1, 3/2, 3/3: .03 .045 .04, made to rise from the end: .03 .04 .04
    np.testing.assert_allclose(benjamini_hochberg([0.01, 0.04, 0.03]), [0.03, 0.04, 0.04])


@given(P_VALUES)
def test_holm_is_its_definition(p):
    order = np.argsort(p, kind="stable")
    expected, largest = np.empty(len(p)), 0.0
    for rank, position in enumerate(order):
        largest = max(largest, min(1.0, (len(p) - rank) * p[position]))
        expected[position] = largest
    np.testing.assert_allclose(holm(p), expected, atol=1e-12)


@given(P_VALUES)
def test_benjamini_hochberg_is_its_definition(p):
    order = np.argsort(p, kind="stable")[::-1]
    expected, smallest = np.empty(len(p)), 1.0
    for i, position in enumerate(order):
        smallest = min(smallest, p[position] * len(p) / (len(p) - i))
        expected[position] = smallest
    np.testing.assert_allclose(benjamini_hochberg(p), expected, atol=1e-12)


@pytest.mark.parametrize(("adjust", "name"), [(holm, "holm"), (benjamini_hochberg, "fdr_bh")])
def test_adjusted_p_values_are_statsmodels(adjust, name):
    p = np.random.default_rng(0).beta(0.5, 2, size=40).round(3)
    np.testing.assert_allclose(adjust(p), multipletests(p, method=name)[1], atol=1e-12)


@given(P_VALUES)
def test_adjusting_never_lowers_a_p_value(p):
    found = benjamini_hochberg(p)
    assert (found >= np.array(p) - 1e-15).all()
    assert (holm(p) >= found - 1e-12).all()
    assert (holm(p) <= 1).all()


def test_no_tests_have_no_p_values():
    assert holm([]).size == benjamini_hochberg([]).size == 0


@pytest.mark.parametrize("p", [[1.2], [-0.1], [float("nan")], [[0.1], [0.1, 0.2]], [[0.1]], ["small"]])
@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_numbers_that_are_no_p_values_are_an_error(p, adjust):
    with pytest.raises(BadInput, match="between 0 and 1"):
        adjust(p)


@pytest.mark.parametrize(
    ("n_x", "n_y", "alternative", "least"),
    [
        (2, 2, "two-sided", 2 / 6),  # 4 over 2 splits, and the mirror image of the most extreme is as extreme
        (4, 4, "two-sided", 2 / 70),
        (4, 4, "greater", 1 / 70),
        (3, 4, "two-sided", 1 / 35),  # groups of unequal size have no mirror image
        (2, 5, "less", 1 / 21),
    ],
)
def test_the_smallest_p_of_a_count_is_that_of_groups_that_lie_apart(n_x, n_y, alternative, least):
    x, y = np.arange(n_x) + 100.0, np.arange(n_y) ** 2 / 7
    if alternative == "less":
        x = -x
    found = permutation_test(by_unit(x), by_unit(y), alternative=alternative)
    assert found.least_p == pytest.approx(least)
    assert found.p_value == pytest.approx(least)


def test_the_smallest_p_of_draws_is_one_more_than_they_are():
    rng = np.random.default_rng(0)
    assert permutation_test(by_unit(rng.normal(size=20)), by_unit(rng.normal(size=20)), permutations=99).least_p == 0.01
    assert sign_flip_test(rng.normal(size=40), permutations=99).least_p == 0.01
    assert least_p_of_flips(40, permutations=99) == 0.01


@pytest.mark.parametrize(
    ("n", "alternative", "least"), [(3, "two-sided", 2 / 8), (6, "two-sided", 2 / 64), (5, "greater", 1 / 32)]
)
def test_the_smallest_p_of_signs_is_that_of_all_alike(n, alternative, least):
    found = sign_flip_test(np.arange(1.0, n + 1), alternative=alternative)
    assert found.least_p == found.p_value == least_p_of_flips(n, alternative=alternative) == least


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=5), st.lists(st.floats(-5, 5), min_size=2, max_size=5))
def test_no_p_is_smaller_than_the_smallest(x, y):
    for alternative in ALTERNATIVES:
        found = permutation_test(by_unit(x), by_unit(y), alternative=alternative)
        assert found.p_value >= found.least_p * (1 - 1e-12)
