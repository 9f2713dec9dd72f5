"""Shares and clustered means: against scipy and statsmodels, and by simulation where clusters are alike inside."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from tiltmeter.errors import BadInput
from tiltmeter.statistics import clustered_mean, clustered_share, share
from tiltmeter.statistics import proportions as module
from tiltmeter.statistics.proportions import preferred, wilson

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
