"""Shares and clustered means: against scipy and statsmodels, and by simulation where clusters are alike inside."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.meta_analysis import combine_effects
from statsmodels.stats.proportion import proportion_confint

from tiltmeter.errors import BadInput
from tiltmeter.statistics import (
    Power,
    clustered_mean,
    clustered_share,
    correlation,
    power_of_correlation,
    power_of_mean,
    power_of_share,
    random_effects,
    share,
)
from tiltmeter.statistics import estimates as module
from tiltmeter.statistics.estimates import preferred, wilson

COUNTS = st.integers(1, 200).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
OUTCOMES = st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=2, max_size=12)


def test_a_share_by_hand():
    # z^2 = 3.841459: centre (.6 + .192073) / 1.384146 = .572246; reach sqrt(3.841459 * .033604) / 1.384146 = .259575
    # p: 2 * P(X >= 6 of 10) = 2 * 386 / 1024
    found = share(6, 10)
    assert (found.ci.low, found.ci.high) == pytest.approx((0.31267, 0.83182), abs=1e-5)
    assert found.p_value == pytest.approx(2 * 386 / 1024)
    assert (found.value, found.n, found.ci.method) == (0.6, 10, "Wilson")


@given(COUNTS, st.sampled_from([0.8, 0.95, 0.99]))
def test_wilsons_interval_is_that_of_statsmodels_and_p_that_of_scipy(counts, level):
    successes, trials = counts
    found = share(successes, trials, level=level)
    low, high = proportion_confint(successes, trials, alpha=1 - level, method="wilson")
    assert (found.ci.low, found.ci.high) == pytest.approx((low, high), abs=1e-12)
    assert found.p_value == pytest.approx(scipy.stats.binomtest(successes, trials).pvalue)
    assert 0 <= found.ci.low <= found.value <= found.ci.high <= 1


def test_a_tie_counts_half_in_the_share_and_nothing_in_the_test():
    found = share(6, 12, ties=2)
    assert found.value == 7 / 12
    assert found.p_value == pytest.approx(scipy.stats.binomtest(6, 10).pvalue)
    assert found.ci == wilson(7 / 12, 12)
    assert (share(0, 4, ties=4).value, share(0, 4, ties=4).p_value) == (0.5, 1.0)


def test_scores_that_differ_by_rounding_tie():
    first, second = np.array([0.1 + 0.2, -1e6, 0.0, 1.0]), np.array([0.3, -1e6 - 1, 0.0, 2.0])
    assert preferred(first, second).tolist() == [0.5, 1.0, 0.5, 0.0]


def test_a_clustered_share_by_hand():
    # sums of outcome - .5 by cluster: 1, .5, -1; |+-1 +-.5 +-1| >= |.5| holds for all 8 patterns of signs
    found = clustered_share([1, 1, 0.5, 1, 0, 0], ["a", "a", "b", "b", "c", "c"])
    assert found.value == pytest.approx(3.5 / 6)
    assert (found.p_value, found.exact, found.n, found.n_clusters) == (1.0, True, 6, 3)
    # sums 1, .5, .5: 2 is reached only with all signs alike, 2 of 8
    assert clustered_share([1, 1, 0.5, 1, 1, 0.5], ["a", "a", "b", "b", "c", "c"]).p_value == 0.25


@given(OUTCOMES, st.integers(0, 3))
@settings(max_examples=40)
def test_swapping_successes_and_failures_mirrors_a_clustered_share(outcomes, step):
    clusters = [i // (step + 1) for i in range(len(outcomes))]
    found = clustered_share(outcomes, clusters)
    mirrored = clustered_share([1 - outcome for outcome in outcomes], clusters)
    assert mirrored.value == pytest.approx(1 - found.value)
    assert mirrored.p_value == pytest.approx(found.p_value)
    assert (mirrored.ci.low, mirrored.ci.high) == pytest.approx((1 - found.ci.high, 1 - found.ci.low), abs=1e-9)
    assert 0 <= found.ci.low <= found.value <= found.ci.high <= 1


@given(st.lists(st.booleans(), min_size=2, max_size=14))
@settings(max_examples=30)
def test_with_one_outcome_a_cluster_p_is_the_binomial_one(outcomes):
    found = clustered_share(np.array(outcomes, dtype=float), range(len(outcomes)))
    assert found.p_value == pytest.approx(scipy.stats.binomtest(sum(outcomes), len(outcomes)).pvalue)


def test_with_many_independent_outcomes_the_interval_is_nearly_wilsons():
    outcomes = np.repeat([1.0, 0.0], [240, 160])
    found = clustered_share(outcomes, range(400)).ci
    expected = share(240, 400).ci
    assert (found.low, found.high) == pytest.approx((expected.low, expected.high), abs=0.008)


def test_copies_of_a_cluster_say_nothing_new():
    outcomes, clusters = np.array([1.0, 0.0, 1.0, 1.0, 0.5, 1.0]), np.arange(6)
    once, copied = (
        clustered_share(outcomes, clusters),
        clustered_share(np.repeat(outcomes, 50), np.repeat(clusters, 50)),
    )
    assert (copied.value, copied.p_value, copied.ci) == (once.value, once.p_value, once.ci)
    assert share(200, 300, ties=50).p_value < 1e-6 < copied.p_value


def test_where_all_outcomes_agree_the_interval_still_has_width():
    found = clustered_share([1.0] * 12, np.repeat(np.arange(4), 3))
    assert found.ci == wilson(1.0, 4)
    assert clustered_share([1.0, 1.0], ["a", "a"]).ci.method == "not estimable: one cluster"


def alike(rng, clusters, size, spread):
    """Outcomes whose chance differs between clusters, one half on average."""
    chance = np.clip(0.5 + spread * rng.choice([-1, 1], size=clusters), 0, 1)
    return (rng.random((clusters, size)) < chance[:, None]).astype(float).ravel(), np.repeat(np.arange(clusters), size)


def test_the_clustered_test_keeps_its_level_where_counting_sentences_does_not():
    rng = np.random.default_rng(0)
    samples = [alike(rng, 12, 10, 0.3) for _ in range(400)]
    by_cluster = np.mean([clustered_share(*sample).p_value <= 0.05 for sample in samples])
    by_sentence = np.mean([share(int(outcomes.sum()), outcomes.size).p_value <= 0.05 for outcomes, _ in samples])
    assert by_cluster <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 400)
    assert by_sentence > 0.2


@pytest.mark.parametrize("clusters", [6, 20])
def test_the_clustered_interval_covers_the_truth(clusters):
    rng = np.random.default_rng(clusters)
    samples = [alike(rng, clusters, 8, 0.25) for _ in range(400)]
    covered = np.mean([0.5 in clustered_share(*sample, permutations=9).ci for sample in samples])
    assert covered >= 0.95 - 2 * math.sqrt(0.05 * 0.95 / 400)


@pytest.mark.parametrize("clusters", [5, 12])
def test_the_interval_of_a_mean_of_normal_values_is_students(clusters, monkeypatch):
    monkeypatch.setattr(module, "RESAMPLES", 200_000)
    # symmetrical values, whose resampled mean is nearly normal
    values = scipy.stats.norm.ppf((np.arange(clusters) + 0.5) / clusters)
    found = clustered_mean(values, level=0.8).ci
    low, high = scipy.stats.t.interval(0.8, clusters - 1, 0, scipy.stats.sem(values))
    assert (found.low, found.high) == pytest.approx((low, high), rel=0.04)


def test_a_clustered_mean_is_the_mean_of_all_values():
    found = clustered_mean([1.0, 2.0, 6.0], clusters=["a", "a", "b"])
    # sums 3 and 6: 9 is reached by 2 of 4 patterns
    assert (found.value, found.p_value, found.n, found.n_clusters) == (3.0, 0.5, 3, 2)
    assert (found.ci.low, found.ci.high) == (1.5, 6.0)
    assert clustered_mean([1.0, 2.0, 6.0], alternative="greater").p_value == 1 / 8


def test_resampling_in_pieces_changes_nothing_but_memory(monkeypatch):
    values = np.random.default_rng(0).normal(size=30)
    whole = clustered_mean(values).ci
    monkeypatch.setattr(module, "_BATCH", 300)
    assert clustered_mean(values).ci == whole


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: share(3, 2), "3 successes and 0 ties in 2 trials"),
        (lambda: share(0, 0), "0 trials"),
        (lambda: share(-1, 2), "-1 successes"),
        (lambda: share(2, 3, ties=2), "2 ties in 3"),
        (lambda: share(1, 2, level=95), "between 0 and 1"),
        (lambda: clustered_share([0.7, 1.0], [1, 2]), "an outcome is 1, 0, or .5"),
        (lambda: clustered_share([], []), "at least one number"),
        (lambda: clustered_share([1.0, float("nan")], [1, 2]), "NaN"),
        (lambda: clustered_share([1.0, 0.0], [1]), "2 values but 1 cluster"),
        (lambda: clustered_share([1.0, 0.0], [1, 2], level=0), "between 0 and 1"),
        (lambda: clustered_mean([1.0]), "at least two units"),
        (lambda: clustered_mean([1.0, 2.0], clusters=["a", "a"]), "at least two units"),
        (lambda: clustered_mean([1.0, 2.0], alternative="grater"), "did you mean 'greater'"),
        (lambda: clustered_mean([1.0, 2.0], permutations=0), "permutations must be at least 1"),
    ],
)
def test_input_that_cannot_be_used_is_named(call, message):
    with pytest.raises(BadInput, match=message):
        call()


RNG = np.random.default_rng(3)
X = RNG.normal(size=30)
Y = 0.6 * X + RNG.normal(size=30)


def test_pearson_by_hand():
    # x 1 2 3 4, y 1 2 3 5: covariances -1.5*-1.75 - .5*-.75 + .5*.25 + 1.5*2.25 = 6.5
    # squares 5 and 8.75; r = 6.5 / sqrt(43.75) = .98271
    assert correlation([1, 2, 3, 4], [1, 2, 3, 5]).r == pytest.approx(6.5 / math.sqrt(43.75))


def test_spearman_by_hand():
    # ranks 1 2 3 4 against 2 1 4 3: 1 - 6 * 4 / (4 * 15) = .6
    found = correlation([1, 2, 3, 4], [20, 10, 99, 30], method="spearman")
    assert found.r == pytest.approx(0.6)
    assert found.ci.low <= 0.6 <= found.ci.high


def test_pearson_has_fishers_interval():
    found = correlation(X, Y)
    # artanh(r) +- 1.96 / sqrt(n - 3)
    reach = 1.959964 / math.sqrt(27)
    assert found.ci.low == pytest.approx(math.tanh(math.atanh(found.r) - reach), abs=1e-6)
    assert found.ci.high == pytest.approx(math.tanh(math.atanh(found.r) + reach), abs=1e-6)
    assert found.p_value == pytest.approx(scipy.stats.pearsonr(X, Y).pvalue)


def test_spearman_is_scipys_with_ties():
    x, y = np.round(X), np.round(Y)
    found, theirs = correlation(x, y, method="spearman"), scipy.stats.spearmanr(x, y)
    assert found.r == pytest.approx(theirs.statistic)
    assert found.p_value == pytest.approx(theirs.pvalue)


def test_the_bootstrap_of_spearman_resamples_pairs():
    found = correlation(X, Y, method="spearman")
    data = np.stack([X, Y])
    theirs = scipy.stats.bootstrap(
        (np.arange(30),),
        lambda i: scipy.stats.spearmanr(*data[:, i.astype(int)]).statistic,
        vectorized=False,
        n_resamples=999,
        method="percentile",
        rng=1,
    ).confidence_interval
    assert (found.ci.low, found.ci.high) == pytest.approx((theirs.low, theirs.high), abs=0.07)


def test_a_perfect_correlation_has_a_p_value_above_zero():
    assert 0 < correlation([1, 2, 3, 4], [2, 4, 6, 8]).p_value < 1e-300
    # four ranks in the same order, or in the opposite one: 2 of 4! orders
    assert correlation([1, 2, 3, 4], [2, 4, 6, 9], method="spearman").p_value == pytest.approx(2 / 24)
    assert 0 < correlation(np.arange(500), np.arange(500), method="spearman").p_value < 1e-300


def test_the_seed_decides():
    first, again, other = (correlation(X, Y, method="spearman", seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first.ci != other.ci


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: correlation([1, 2, 3], [1, 2, 3]), "at least 4"),
        (lambda: correlation([1, 2, 3, 4], [1, 2, 3]), "same length"),
        (lambda: correlation([1, 1, 1, 1], [1, 2, 3, 4]), "does not vary"),
        (lambda: correlation([1, 1, 1, 1 + 1e-14], [1, 2, 3, 4]), "does not vary"),
        (lambda: correlation([1, 2, 3, float("nan")], [1, 2, 3, 4]), "NaN"),
        (lambda: correlation([1, 2, 3, 4], [1, 2, 3, 4], method="spearmann"), "did you mean 'spearman'"),
    ],
)
def test_a_correlation_that_is_not_defined_is_an_error(call, message):
    with pytest.raises(BadInput, match=message):
        call()


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


@pytest.mark.parametrize(("n", "enough"), [(6, 6), (8, 8), (20, 15), (60, 39)])
def test_the_power_of_independent_pairs_is_that_of_the_binomial_test(n, enough):
    found = power_of_share(np.arange(n) % 2)
    assert scipy.stats.binomtest(enough, n).pvalue <= 0.05 < scipy.stats.binomtest(enough - 1, n).pvalue
    assert scipy.stats.binom.sf(enough - 1, n, 0.5 + found.effect) == pytest.approx(0.8)
    assert found.least_p == pytest.approx(2 / 2**n)


@pytest.mark.parametrize("n", [1, 3, 5])
def test_five_pairs_can_never_be_significant(n):
    assert power_of_share(np.ones(n)) == Power(None, min(1.0, 2 / 2**n))
    assert power_of_share(np.ones(2 * n), clusters=np.repeat(np.arange(n), 2)) == Power(None, min(1.0, 2 / 2**n))


def test_ties_decide_nothing():
    assert power_of_share([1.0, 0.0, 1.0, 0.5, 0.5, 0.5]) == Power(None, 0.25)
    half = power_of_share([*np.arange(20) % 2, *np.full(20, 0.5)])
    assert half.effect == pytest.approx(power_of_share(np.arange(20) % 2).effect / 2)


@pytest.mark.parametrize(("k", "size", "icc"), [(8, 20, 0.1), (30, 5, 0.3)])
def test_the_share_that_clusters_can_show_is_found_in_four_of_five(k, size, icc):
    rng, runs, clusters = np.random.default_rng([4, k]), 400, np.repeat(np.arange(k), size)

    def draw(share):
        often = rng.beta(share * (1 / icc - 1), (1 - share) * (1 / icc - 1), size=k)
        return (rng.random(clusters.size) < often[clusters]).astype(float)

    effect = np.mean([power_of_share(draw(0.5), clusters=clusters).effect for _ in range(100)])
    tests = (clustered_share(draw(0.5 + effect), clusters, permutations=299, seed=seed) for seed in range(runs))
    assert np.mean([test.p_value <= 0.05 for test in tests]) == pytest.approx(0.8, abs=0.05)


def test_clusters_that_do_not_differ_count_as_trials():
    found = power_of_share(np.tile([1.0, 0.0], 10), clusters=np.repeat(np.arange(10), 2))
    # so many standard errors of ten trials of one half, their SD taken from nine degrees of freedom
    errors = found.effect / (0.5 / math.sqrt(10)) / (1 + 1 / 36)
    limit = scipy.stats.t.ppf(0.975, 9)
    assert scipy.stats.nct.sf(limit, 9, errors) == pytest.approx(0.8, abs=0.02)  # and a little more for coarse p-values
    assert errors > limit


def test_the_power_of_a_mean_and_of_a_correlation():
    values = np.random.default_rng(1).normal(size=30)
    found = power_of_mean(values)
    assert found.least_p == 1 / 10_001
    error = values.std(ddof=1) / math.sqrt(30)
    assert scipy.stats.nct.sf(scipy.stats.t.ppf(0.975, 29), 29, found.effect / error) == pytest.approx(0.8, abs=3e-3)
    assert power_of_mean([1.0, 2.0, 3.0]) == Power(None, 0.25)
    # 84 pairs for r = .3 in Cohen's table (power .8, two-sided)
    assert power_of_correlation(84).effect == pytest.approx(0.3, abs=0.01)
