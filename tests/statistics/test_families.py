"""Tests that count families of words and generalise over targets and attributes.

Bounds of simulated rates are the nominal rate and 3.3 binomial standard errors (chance of a false alarm .001).
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

from tiltmeter.errors import BadInput
from tiltmeter.statistics import by_unit, permutation_test
from tiltmeter.statistics.families import (
    Kin,
    as_labels,
    crossed_test,
    interaction,
    matched_test,
    spread_of_mean,
    student_test,
    welch_test,
)

SCORES = arrays(
    np.float64, st.integers(4, 6), elements=st.floats(-5, 5).map(lambda value: round(value, 2)), unique=True
)
RUNS = 300


def most(rate: float, runs: int = RUNS) -> float:
    return rate + 3.3 * math.sqrt(rate * (1 - rate) / runs)


def welch(x, y, axis=-1):
    """The difference of means in standard errors, as scipy has it."""
    error = np.sqrt(x.var(axis=axis, ddof=1) / x.shape[axis] + y.var(axis=axis, ddof=1) / y.shape[axis])
    return (x.mean(axis=axis) - y.mean(axis=axis)) / error


def welch_as_normal(x, y, axis=-1):
    """Welch's t with Welch's degrees of freedom, as Wallace (1959) turns it into a normal deviate."""
    t, parts = welch(x, y, axis), [each.var(axis=axis, ddof=1) / each.shape[axis] for each in (x, y)]
    df = (parts[0] + parts[1]) ** 2 / (parts[0] ** 2 / (x.shape[axis] - 1) + parts[1] ** 2 / (y.shape[axis] - 1))
    return np.sign(t) * np.sqrt(df * np.log(1 + t**2 / df)) * (8 * df + 1) / (8 * df + 3)


def test_the_spread_of_a_mean_of_two_families_by_hand():
    # each family is one observation: 1 and 3, so the mean 2 has variance 2 / 2 = 1 and one degree of freedom
    found = spread_of_mean(np.array([1.0, 1.0, 3.0, 3.0]), np.array([0, 0, 1, 1]))
    assert found == pytest.approx((2.0, 1.0, 1.0, 2))


def test_families_of_different_sizes_by_hand():
    # 0, 0, 0 | 4: mean 1; sums of deviations -3 and 3, squares 18. The mean takes 1 - 2 (27 + 1) / (10 * 4) + 10 / 16
    # = .225 of sizes squared, so the variance is 18 / 16 / .225 = 5; it is worth 16 / 10 families
    found = spread_of_mean(np.array([0.0, 0.0, 0.0, 4.0]), np.array([0, 0, 0, 1]))
    assert found == pytest.approx((1.0, 5.0, 0.6, 2))


@given(SCORES)
def test_words_without_kin_have_the_usual_standard_error(values):
    found = spread_of_mean(values, np.arange(values.size))
    assert math.sqrt(found.variance) == pytest.approx(stats.sem(values))
    assert (found.df, found.families) == (values.size - 1, values.size)


@given(SCORES, SCORES, st.sampled_from(["two-sided", "greater", "less"]))
@settings(max_examples=25, deadline=None)
def test_all_splits_are_counted_as_scipy_counts_them(x, y, alternative):
    # Where groups differ in size the degrees of freedom of a split count too.
    statistic = welch if x.size == y.size else welch_as_normal
    expected = stats.permutation_test((x, y), statistic, vectorized=True, n_resamples=np.inf, alternative=alternative)
    # its statistics of all splits, but ties told from rounding
    null, observed = expected.null_distribution, expected.statistic
    extreme = {"two-sided": np.abs(null) - abs(observed), "greater": null - observed, "less": observed - null}
    share = np.mean(extreme[alternative] >= -1e-9)
    assert welch_test(x, y, alternative=alternative).p_value == pytest.approx(share)


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_too_few_splits_are_left_to_students_t(alternative):
    x, y = np.array([1.0, 2.5, 2.0]), np.array([0.0, 0.4, -1.0])
    found = welch_test(x, y, alternative=alternative)
    assert found.p_value == pytest.approx(stats.ttest_ind(x, y, equal_var=False, alternative=alternative).pvalue)
    assert (found.exact, found.splits) == (False, 0)


def test_copies_of_words_add_no_evidence_where_they_are_one_family():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=6) + 1, rng.normal(size=7)
    once = welch_test(x, y)
    families = [np.repeat(np.arange(n), 5) for n in (6, 7)]
    copied = welch_test(np.repeat(x, 5), np.repeat(y, 5), families_x=families[0], families_y=families[1])
    assert copied.p_value == pytest.approx(once.p_value)
    assert welch_test(np.repeat(x, 5), np.repeat(y, 5)).p_value < once.p_value / 3


@pytest.mark.parametrize(
    ("sizes", "spread"),
    [((3, 30), 3.0), ((5, 40), 3.0), ((10, 40), 3.0), ((40, 10), 3.0), ((40, 5), 3.0), ((10, 10), 1.0)],
)
def test_unequal_spread_is_no_difference(sizes, spread):
    rng, ours, plain = np.random.default_rng(sizes), 0, 0
    for run in range(RUNS):
        x, y = spread * rng.normal(size=sizes[0]), rng.normal(size=sizes[1])
        ours += welch_test(x, y, permutations=499, seed=run).p_value <= 0.05
        plain += permutation_test(by_unit(x), by_unit(y), permutations=499, seed=run).p_value <= 0.05
    assert 0.05 - (most(0.05) - 0.05) <= ours / RUNS <= most(0.06)
    if sizes[0] < sizes[1]:
        assert plain / RUNS > 0.15


def test_words_of_one_family_are_not_counted_apart():
    rng, by_family, by_word = np.random.default_rng(4), 0, 0
    families = np.repeat(np.arange(5), 4)
    for run in range(RUNS):
        x, y = (np.repeat(rng.normal(size=5), 4) + rng.normal(size=20) for _ in range(2))
        by_family += (
            welch_test(x, y, families_x=families, families_y=families, permutations=499, seed=run).p_value <= 0.05
        )
        by_word += welch_test(x, y, permutations=499, seed=run).p_value <= 0.05
    assert by_family / RUNS <= most(0.06)
    assert by_word / RUNS > 0.15


@given(arrays(np.float64, 8, elements=st.floats(-3, 3).map(lambda value: round(value, 2))))
@settings(max_examples=30)
def test_matched_pairs_are_exchanged_as_scipy_exchanges_them(differences):
    expected = stats.permutation_test(
        (differences,),
        lambda d, axis: d.sum(axis=axis),
        permutation_type="samples",
        n_resamples=np.inf,
        vectorized=True,
    )
    share = np.mean(np.abs(expected.null_distribution) >= abs(differences.sum()) - 1e-9)
    assert matched_test(differences).p_value == pytest.approx(share, abs=1e-9)


def test_matched_lists_find_what_unmatched_ones_miss():
    rng, paired, unpaired = np.random.default_rng(8), 0, 0
    for run in range(100):
        shared = rng.normal(size=20)
        x, y = (math.sqrt(0.8) * shared + math.sqrt(0.2) * rng.normal(size=20) for _ in range(2))
        paired += matched_test(x + 0.5 - y, permutations=499, seed=run).p_value <= 0.05
        unpaired += welch_test(x + 0.5, y, permutations=499, seed=run).p_value <= 0.05
    assert paired >= 85
    assert unpaired <= 40


def test_families_of_pairs_change_their_sign_as_one():
    differences = np.array([1.0, -0.4, 2.0, 0.3, 1.2, -0.1, 0.8])
    once = matched_test(differences).p_value
    thrice, families = np.repeat(differences, 3), np.repeat(np.arange(7), 3)
    assert matched_test(thrice, families=families).p_value == pytest.approx(once)
    assert matched_test(thrice).p_value < once / 2


def test_few_pairs_are_left_to_students_t():
    differences = np.array([0.3, 0.5, 0.1, 0.4])
    assert matched_test(differences).p_value == pytest.approx(stats.ttest_1samp(differences, 0).pvalue)


def table(rng, n, m, shift=0.0):
    return shift + rng.normal(size=(n, m))


SINGLE = Kin(range(6), range(6), range(5), range(5))


def test_the_larger_of_the_two_p_values_counts():
    rng = np.random.default_rng(1)
    # every target leans alike, but attributes differ wildly: sure over targets, unsure over attributes
    columns = np.array([4.0, -2.0, 5.0, -3.0, 3.0, -4.0, 3.0, -5.0, 2.0, 1.0])
    x, y = table(rng, 6, 10) * 0.1 + columns, table(rng, 6, 10) * 0.1
    found = crossed_test(x, y, n_a=5, kin=SINGLE)
    assert found.by_targets.p_value < 0.05 < found.by_attributes.p_value
    assert found.p_value == found.by_attributes.p_value
    assert found.headline == found.by_attributes


@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_swapping_targets_or_attributes_changes_no_p_value(seed):
    rng = np.random.default_rng(seed)
    x, y = table(rng, 6, 10, 0.4), table(rng, 6, 10)
    found = crossed_test(x, y, n_a=5, kin=SINGLE)
    around = np.r_[5:10, 0:5]
    for swapped in (crossed_test(y, x, n_a=5, kin=SINGLE), crossed_test(x[:, around], y[:, around], n_a=5, kin=SINGLE)):
        assert swapped.p_value == pytest.approx(found.p_value)
        assert swapped.inflation == pytest.approx(found.inflation)


def test_one_sided_tests_look_the_same_way_on_both_sides():
    rng = np.random.default_rng(3)
    x, y = table(rng, 6, 10), table(rng, 6, 10)
    x[:, :5] += 2
    up, down = (crossed_test(x, y, n_a=5, kin=SINGLE, alternative=way) for way in ("greater", "less"))
    assert max(up.by_targets.p_value, up.by_attributes.p_value) < 0.02
    assert min(down.by_targets.p_value, down.by_attributes.p_value) > 0.9


def test_one_attribute_says_nothing_of_others():
    rng = np.random.default_rng(5)
    found = crossed_test(table(rng, 6, 2), table(rng, 6, 2), n_a=1, kin=Kin(range(6), range(6), [0], [0]))
    assert found.by_attributes is None
    assert found.p_value == found.by_targets.p_value


def test_pure_interaction_is_counted_once():
    # similarities without any effect of target or attribute: both spreads hold the same noise
    rng = np.random.default_rng(6)
    kin = Kin(range(30), range(30), range(30), range(30))
    found = [crossed_test(table(rng, 30, 60), table(rng, 30, 60), n_a=30, kin=kin, permutations=9) for _ in range(40)]
    # 1, but for taking no less than either side's own; counted twice it would be above 2
    assert 1.0 <= np.mean([each.inflation for each in found]) < 1.3


def test_what_single_cells_have_is_counted_by_family():
    cells = np.random.default_rng(3).normal(size=(6, 5))
    once = interaction(cells)
    thrice, families = np.repeat(cells, 3, axis=0), np.repeat(np.arange(6), 3)
    assert interaction(thrice, families) == pytest.approx(once)
    assert interaction(thrice.T, None, families) == pytest.approx(once)
    assert interaction(thrice, families, np.arange(5)) == pytest.approx(once)
    # Counted apart, copies would seem to be three times as many cells.
    assert interaction(thrice) < once / 2
    hand = np.array([[1.0, -1.0], [-1.0, 1.0]])  # nothing but cells: 4 / 1 / 4
    assert interaction(hand) == pytest.approx(1.0)


def test_attributes_that_differ_widen_what_is_open():
    rng = np.random.default_rng(7)
    x, y = table(rng, 6, 10) * 0.1 + rng.normal(size=10), table(rng, 6, 10) * 0.1
    assert crossed_test(x, y, n_a=5, kin=SINGLE).inflation > 20


def test_an_interval_over_both_sides_is_no_shorter_than_over_one():
    # Four families of targets: their variance has 2 degrees of freedom, that of both sides would have 5.
    rng = np.random.default_rng(1)
    x, y = table(rng, 6, 10) * 0.1 + rng.normal(size=10), table(rng, 6, 10) * 0.1
    kin = Kin([0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], range(5), range(5))
    found = crossed_test(x, y, n_a=5, kin=kin)
    reach = stats.t.ppf(0.975, found.df) * math.sqrt(found.variance)
    sides = [stats.t.ppf(0.975, each.df) * math.sqrt(each.variance) for each in found.noise]
    assert reach >= max(sides) - 1e-9
    assert found.df >= min(each.df for each in found.noise)


def test_every_word_has_one_name_of_a_family():
    with pytest.raises(BadInput, match="name one family per word"):
        as_labels(["he"], 2)


def test_nothing_that_varies_is_as_far_out_as_can_be():
    assert student_test(1.0, 0.0, 3, "two-sided").p_value == pytest.approx(5e-324)
    assert student_test(0.0, 0.0, 3, "two-sided").p_value == 1.0
    assert student_test(1.0, math.inf, 3, "two-sided").p_value == 1.0
    assert welch_test(np.full(5, 2.0), np.full(5, 1.0)).p_value == pytest.approx(2 / 252)


def test_an_unknown_alternative_is_an_error():
    with pytest.raises(BadInput, match="alternative"):
        welch_test(np.arange(5.0), np.arange(5.0), alternative="both")
    with pytest.raises(BadInput, match="alternative"):
        matched_test(np.arange(5.0), alternative="both")


def apart(n, m=8):
    """Targets and attributes that could not lean more."""
    rng = np.random.default_rng(n)
    side = np.concatenate([np.ones(m), -np.ones(m)])
    return (sign * side + 0.01 * rng.normal(size=(n, 2 * m)) for sign in (1, -1))


@pytest.mark.parametrize(("n", "least"), [(2, 1 / 3), (3, 1 / 10), (4, 1 / 35)])
def test_the_smallest_p_of_an_association_is_that_of_its_coarser_side(n, least):
    kin = Kin(range(n), range(n), range(8), range(8))
    found = crossed_test(*apart(n), n_a=8, kin=kin)
    assert found.p_value == pytest.approx(least)
    assert [side.least_p for side in found.noise] == pytest.approx([least, 2 / math.comb(16, 8)])
    power = found.power(within=1.0, sizes=(n, n))
    assert power.least_p == pytest.approx(least)
    assert (power.effect is None) == (least > 0.05)


@pytest.mark.parametrize(("n", "least"), [(2, 1 / 2), (3, 1 / 4), (4, 0.0), (6, 1 / 32)])
def test_of_two_or_three_matched_words_nothing_is_claimed(n, least):
    kin = Kin(range(n), range(n), range(8), range(8), tuple((i, i) for i in range(n)), range(n))
    found = crossed_test(*apart(n), n_a=8, kin=kin)
    assert found.by_targets.least_p == least  # four and five pairs are tested by Student's t
    assert (found.by_targets.p_value > 0.05) == (n < 4)


def test_one_family_can_never_be_significant():
    found = welch_test(np.array([1.0, 2.0]), np.array([5.0, 6.0]), families_x=["one", "one"])
    assert (found.p_value, found.least_p) == (1.0, 1.0)
