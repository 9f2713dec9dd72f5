"""Scores by unit; standardised differences against textbook formulas, detectable ones against t and simulation."""

from __future__ import annotations

import dataclasses
import json
import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import nct, t

from tiltmeter.errors import BadInput
from tiltmeter.statistics import (
    Interval,
    Noise,
    Power,
    band,
    by_unit,
    concatenated_d,
    effect_size,
    hedges_g,
    permutation_test,
    plain,
    pooled_d,
    power_of_d,
    power_of_difference,
    random_effects,
    welch_test,
    within_groups,
)
from tiltmeter.statistics.families import welch_spread

SCORES = st.lists(st.floats(-100, 100), min_size=1, max_size=30)


def test_scores_of_a_word_become_their_mean_and_mean_square():
    # he: (1 + 3) / 2 = 2 and (1 + 9) / 2 = 5; man: 5 and 25
    group = by_unit([1.0, 5.0, 3.0], ["he", "man", "he"])
    assert group.means.tolist() == [2.0, 5.0]
    assert group.squares.tolist() == [5.0, 25.0]
    assert (group.n, group.observations) == (2, 3)


def test_without_units_every_score_is_its_own():
    group = by_unit([1.0, 3.0])
    assert group.means.tolist() == [1.0, 3.0]
    assert group.squares.tolist() == [1.0, 9.0]


@given(SCORES, st.randoms(use_true_random=False))
def test_units_keep_the_sums_of_scores_and_squares(scores, random):
    units = [random.choice("abc") for _ in scores]
    group = by_unit(scores, units)
    counts = np.array([units.count(unit) for unit in dict.fromkeys(units)])
    assert (group.means * counts).sum() == pytest.approx(sum(scores), abs=1e-9)
    assert (group.squares * counts).sum() == pytest.approx(sum(score**2 for score in scores), abs=1e-9)


@given(SCORES, st.floats(-100, 100))
def test_counting_from_a_centre_is_subtracting_it(scores, centre):
    units = [i % 3 for i in range(len(scores))]
    moved = by_unit(scores, units).around(centre)
    direct = by_unit([score - centre for score in scores], units)
    np.testing.assert_allclose(moved.means, direct.means, atol=1e-9)
    np.testing.assert_allclose(moved.squares, direct.squares, atol=1e-8)


@pytest.mark.parametrize(
    ("scores", "units", "message"),
    [
        ([], None, "at least one number"),
        ([[1.0, 2.0]], None, "at least one number"),
        (3.0, None, "at least one number"),
        ([1.0, float("nan")], None, "NaN or infinity"),
        ([1.0, float("inf")], None, "NaN or infinity"),
        ([[1.0], [1.0, 2.0]], None, "plain list of numbers"),
        (["he"], None, "plain list of numbers"),
        ([1.0, 2.0], ["he"], "2 scores but 1 units"),
    ],
)
def test_scores_that_cannot_be_used_are_named(scores, units, message):
    with pytest.raises(BadInput, match=message):
        by_unit(scores, units)


ROUNDED = st.lists(st.floats(-1, 1).map(lambda value: round(value, 6)), min_size=2, max_size=12)


def test_the_worked_example_of_the_association_text():
    # means .11 and -.075, difference .185; all four: mean .0175, squares summed .034475,
    # variance (.0357 - 4 * .0175^2) / 3 = .034475 / 3, SD .1071992..., d = .185 / .1071992
    assert effect_size([0.10, 0.12], [-0.08, -0.07]) == pytest.approx(1.7257592837, abs=1e-10)


def test_ddof_0_divides_by_n():
    # the same four scores: variance .034475 / 4, so d grows by sqrt(4 / 3)
    found = effect_size([0.10, 0.12], [-0.08, -0.07], ddof=0)
    assert found == pytest.approx(1.7257592837 * math.sqrt(4 / 3), abs=1e-9)


def test_cohens_d_divides_by_the_sd_within_groups():
    # means 2 and 3; squares within: 1+0+1 and 1+0+1; pooled variance 4 / 4 = 1; d = -1
    assert effect_size([1.0, 2.0, 3.0], [2.0, 3.0, 4.0], sd="pooled") == -1.0


def test_hedges_correction_matches_its_published_value():
    # J(4) = gamma(2) / (sqrt(2) gamma(1.5)) = 1 / (1.41421 * .886227) = .797885
    assert hedges_g([1.0, 2.0, 3.0], [2.0, 3.0, 4.0]) == pytest.approx(-0.797885, abs=1e-6)


def test_hedges_g_is_unbiased_where_cohens_d_is_not():
    rng = np.random.default_rng(0)
    pairs = [(rng.normal(1.0, size=4), rng.normal(size=4)) for _ in range(8_000)]
    cohen = [effect_size(x, y, sd="pooled") for x, y in pairs]
    hedges = [hedges_g(x, y) for x, y in pairs]
    error = np.std(hedges) / math.sqrt(len(pairs))
    assert np.mean(hedges) == pytest.approx(1.0, abs=4 * error)
    assert np.mean(cohen) > 1.0 + 4 * error


@given(ROUNDED, ROUNDED, st.sampled_from([0, 1]))
def test_d_is_the_difference_of_means_over_numpys_sd(x, y, ddof):
    everything = np.concatenate([x, y])
    assume(np.ptp(everything) > 1e-5)
    direct = (np.mean(x) - np.mean(y)) / np.std(everything, ddof=ddof)
    assert effect_size(x, y, ddof=ddof) == pytest.approx(direct, abs=1e-9)


@given(ROUNDED, ROUNDED)
def test_groups_of_one_size_cannot_exceed_the_bound(x, y):
    n = min(len(x), len(y))
    assume(np.ptp([*x[:n], *y[:n]]) > 1e-5)
    # d = r * 2 * sqrt((N - 1) / N) with N = 2n and r a correlation, at most 1
    assert abs(effect_size(x[:n], y[:n])) <= 2 * math.sqrt((2 * n - 1) / (2 * n)) + 1e-12


@given(ROUNDED, ROUNDED, st.integers(1, 5), st.sampled_from(["concatenated", "pooled"]))
def test_repeating_every_word_equally_often_keeps_the_population_effect(x, y, times, sd):
    assume(np.ptp(x) > 1e-5)
    assume(np.ptp(y) > 1e-5)
    group_x = by_unit(np.repeat(x, times), np.repeat(np.arange(len(x)), times))
    group_y = by_unit(np.repeat(y, times), np.repeat(np.arange(len(y)), times))
    if sd == "concatenated":
        assert concatenated_d(group_x, group_y, ddof=0) == pytest.approx(effect_size(x, y, ddof=0))
    else:
        repeated = effect_size(np.repeat(x, times), np.repeat(y, times), sd="pooled")
        assert pooled_d(group_x, group_y) == pytest.approx(repeated)


def test_a_word_with_many_sentences_counts_as_much_as_one_with_few():
    # words of group 1: mean 1 (four sentences) and 3 (one); of group 2: 0 and 0 (one each)
    few = by_unit([1.0, 1.0, 1.0, 1.0, 3.0], ["a", "a", "a", "a", "b"])
    other = by_unit([0.0, 0.0])
    # means 2 and 0; unit-weighted mean square (1 + 9 + 0 + 0) / 4 - 1^2 = 1.5; 7 observations
    assert concatenated_d(few, other, ddof=1) == pytest.approx(2 / math.sqrt(1.5 * 7 / 6))
    # within: ((1 - 2)^2 + (3 - 2)^2 + 0 + 0) / 4 = .5
    assert pooled_d(few, other) == pytest.approx(2 / math.sqrt(0.5 * 7 / 5))


@pytest.mark.parametrize("sd", ["concatenated", "pooled"])
def test_scores_far_from_zero_lose_no_digits(sd):
    x, y = np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 5.0])
    assert effect_size(x + 1e6, y + 1e6, sd=sd) == pytest.approx(effect_size(x, y, sd=sd), rel=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: effect_size([0.3, 0.3], [0.3, 0.3]), "all scores are the same"),
        (lambda: effect_size([0.1 + 0.2, 0.3], [0.3, 0.3]), "all scores are the same"),
        (lambda: effect_size([0.0], [0.0]), "all scores are the same"),
        (lambda: effect_size([1.0, 1.0], [2.0, 2.0], sd="pooled"), "do not vary within"),
        (lambda: effect_size([1.0], [2.0], sd="pooled"), "do not vary within"),
        (lambda: effect_size([1.0, 2.0], [3.0], ddof=2), "ddof must be 0 or 1, not 2"),
        (lambda: effect_size([1.0, 2.0], [3.0], sd="poled"), "did you mean 'pooled'"),
        (lambda: effect_size([], [3.0]), "at least one number"),
        (lambda: effect_size([1.0, float("nan")], [3.0]), "NaN"),
        (lambda: hedges_g([1.0, 2.0], [3.0]), "at least four scores"),
    ],
)
def test_an_effect_that_is_not_defined_is_an_error(call, message):
    with pytest.raises(BadInput, match=message):
        call()


def test_bands_begin_at_cohens_limits():
    assert [band(d) for d in (0.0, -0.19, 0.2, -0.5, 0.79, 0.8, -2.0)] == [
        "negligible",
        "negligible",
        "small",
        "medium",
        "medium",
        "large",
        "large",
    ]


@pytest.mark.parametrize("df", [1, 2, 6, 14, 38, 118, 1000])
@pytest.mark.parametrize("tails", [1, 2])
def test_students_t_finds_the_difference_in_four_of_five(df, tails):
    found = power_of_difference([Noise(4.0, df, tails=tails)])
    # the same from the noncentral t distribution, with a standard error of 2
    assert nct.sf(t.ppf(1 - 0.05 / tails, df), df, found.effect / 2) == pytest.approx(0.8, abs=2e-3)
    assert found.least_p == 0.0


def test_cohens_smallest_effects():
    # tables of the t test: 64 a group for d = .5, 26 a group for d = .8, at power .8
    assert power_of_difference([Noise(2 / 64, 126)]).effect == pytest.approx(0.5, abs=0.005)
    assert power_of_difference([Noise(2 / 26, 50)]).effect == pytest.approx(0.8, abs=0.01)


@pytest.mark.parametrize(("n_1", "n_2"), [(8, 8), (5, 40)])
def test_weats_units_count_the_gap_in_the_sd(n_1, n_2):
    noise = [Noise(1 / n_1 + 1 / n_2, n_1 + n_2 - 2)]
    gap, share = power_of_difference(noise).effect, n_1 * n_2 / (n_1 + n_2) ** 2
    # the SD of both groups together is sqrt(within + share * gap^2)
    for within in (1.0, 4.0):
        found = power_of_d(noise, within=within, sizes=(n_1, n_2))
        assert found.effect == pytest.approx(gap / math.sqrt(within + share * gap**2))


def test_a_p_value_that_cannot_be_small_is_no_power():
    assert power_of_difference([Noise(0.5, 4, least_p=0.1)]) == Power(None, 0.1)
    assert power_of_d([Noise(0.5, 4, 0.01), Noise(0.5, 4, 1 / 3)], within=1.0, sizes=(2, 2)) == Power(None, 1 / 3)
    assert power_of_difference([Noise(math.inf, 1, least_p=1.0)]) == Power(None, 1.0)
    assert power_of_difference([Noise(math.inf, 1)]) is None
    assert power_of_difference([Noise(0.0, 4)]) == Power(0.0, 0.0)


def test_coarse_p_values_and_a_second_test_cost_power():
    plain_t, coarse = Noise(0.25, 14), Noise(0.25, 14, least_p=0.03)
    alone = power_of_difference([plain_t]).effect
    assert power_of_difference([coarse]).effect > alone
    assert power_of_difference([plain_t, plain_t], variance=0.5).effect > alone
    # a second test whose noise is nothing beside the first adds nothing
    assert power_of_difference([plain_t, Noise(1e-9, 14)]).effect == pytest.approx(alone)


def test_the_second_test_is_found_as_often_as_simulated():
    # a difference with the noise of two independent sides, and a t test of each of them
    variances, degrees, runs = np.array([0.5, 0.2]), np.array([10, 6]), 40_000
    found = power_of_difference([Noise(v, df) for v, df in zip(variances, degrees, strict=True)], variance=0.7)
    rng = np.random.default_rng(3)
    drawn = found.effect + math.sqrt(0.7) * rng.normal(size=(runs, 1))
    errors = np.sqrt(variances * rng.chisquare(degrees, size=(runs, 2)) / degrees)
    assert (drawn > t.ppf(0.975, degrees) * errors).all(axis=1).mean() == pytest.approx(0.8, abs=0.01)


@given(st.lists(st.tuples(st.floats(0.01, 100), st.floats(0.5, 500)), min_size=1, max_size=2), st.floats(0.1, 10))
def test_power_scales_with_the_scores(sides, factor):
    variance = sum(each for each, _ in sides)
    found = power_of_difference([Noise(*side) for side in sides], variance=variance)
    scaled = power_of_difference([Noise(v * factor**2, df) for v, df in sides], variance=variance * factor**2)
    assert scaled.effect == pytest.approx(found.effect * factor)
    assert found.effect >= max(math.sqrt(v) * t.ppf(0.975, df) for v, df in sides) * 0.99


def test_the_variance_within_groups_by_hand():
    # 1, 2, 3 and 0, 2, 4: variances 1 and 4
    assert within_groups(by_unit([1.0, 2.0, 3.0]), by_unit([10.0, 12.0, 14.0])) == pytest.approx(2.5)
    # words twice each: within words 1 and 1; the means 2, 6 vary by 8 / 2 = 4 around their own mean, and by
    # 8 / 2 more around the true one
    group = by_unit([1.0, 3.0, 5.0, 7.0], "aabb")
    assert within_groups(group, group) == pytest.approx(1 + 4 + 4)


def test_nested_results_become_json():
    found = random_effects([0.2, 0.5], [0.1, 0.1]).to_dict()
    assert json.loads(json.dumps(found)) == found
    assert found["ci"]["method"] == "normal"
    assert found["n"] == 2


def test_numpy_values_become_plain_ones():
    value = plain({1: np.float32(0.5), "b": (np.arange(2), [np.bool_(True)]), "c": None})
    assert value == {"1": 0.5, "b": [[0, 1], [True]], "c": None}
    assert type(value["b"][1][0]) is bool


def test_results_are_frozen():
    found = permutation_test(by_unit([1.0, 2.0]), by_unit([3.0, 4.0]))
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.p_value = 0.0


def test_an_interval_holds_its_ends():
    interval = Interval(-1.0, 2.0, 0.95, "normal")
    assert (-1.0 in interval, 2.0 in interval, 2.1 in interval) == (True, True, False)


@pytest.mark.parametrize("icc", [0.05, 0.3])
def test_the_detectable_effect_of_words_in_sentences_is_found_in_four_of_five(icc):
    # 11 + 11 words in 90 sentences each; d is in SDs of sentences, and the test is between words.
    words, sentences, runs = 11, 90, 500
    rng = np.random.default_rng([7, int(100 * icc)])
    units = np.repeat(np.arange(words), sentences)

    def draw(shift=0.0):
        of_word = math.sqrt(icc) * rng.normal(size=words) + shift
        return by_unit(np.repeat(of_word, sentences) + math.sqrt(1 - icc) * rng.normal(size=units.size), units)

    def stated():
        x, y = draw(), draw()
        spread = welch_spread(x.means, y.means)
        noise = Noise(spread.variance, spread.df, least_p=1 / 300)
        return power_of_d([noise], within=within_groups(x, y), sizes=(words, words)).effect

    d = float(np.mean([stated() for _ in range(40)]))
    shift = d / math.sqrt(1 - d**2 / 4)  # the difference that d is of, in SDs within groups
    tests = (welch_test(draw(shift).means, draw().means, permutations=299, seed=seed) for seed in range(runs))
    power = np.mean([test.p_value <= 0.05 for test in tests])
    assert power == pytest.approx(0.8, abs=2.5 * math.sqrt(0.8 * 0.2 / runs))


def test_a_difference_between_the_groups_does_not_change_the_variance_within():
    rng = np.random.default_rng(2)
    units = np.repeat(np.arange(6), 5)
    one, two = rng.normal(size=(2, 30))
    level, apart = (within_groups(by_unit(one + shift, units), by_unit(two, units)) for shift in (0.0, 9.0))
    assert apart == pytest.approx(level)
