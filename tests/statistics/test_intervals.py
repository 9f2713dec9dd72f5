"""Bootstrap intervals: against scipy, for whole clusters, and at the borders of what can be estimated."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tiltmeter.errors import BadInput
from tiltmeter.statistics import (
    UnitScores,
    bootstrap_interval,
    by_unit,
    concatenated_d,
    effect_interval,
    resampled_interval,
)
from tiltmeter.statistics.intervals import _correlation

SAMPLE = np.random.default_rng(4).normal(3.0, 2.0, size=20)
SCORES = st.lists(st.floats(-1, 1).map(lambda value: round(value, 3)), min_size=3, max_size=8)


def interval_of_d(x, y, **options):
    x, y = by_unit(x), by_unit(y)
    return effect_interval(x, y, d=concatenated_d(x, y), **options)


@pytest.mark.parametrize(("method", "scipys"), [("percentile", "percentile"), ("bca", "BCa")])
def test_the_interval_of_a_mean_is_scipys(method, scipys):
    found = bootstrap_interval(SAMPLE, method=method, resamples=9_999)
    ends = scipy.stats.bootstrap((SAMPLE,), np.mean, n_resamples=9_999, method=scipys, rng=5).confidence_interval
    # the ends of two runs with other random numbers differ by a few hundredths of the standard error (.4)
    assert found.low == pytest.approx(ends.low, abs=0.06)
    assert found.high == pytest.approx(ends.high, abs=0.06)


def test_whole_clusters_are_resampled():
    # three numbers a cluster: resampling clusters of one size is resampling their means
    clusters = np.repeat(np.arange(8), 3)
    values = np.random.default_rng(0).normal(size=24)
    means = values.reshape(8, 3).mean(axis=1)
    by_cluster = bootstrap_interval(values, clusters=clusters)
    by_mean = bootstrap_interval(means)
    assert (by_cluster.low, by_cluster.high) == pytest.approx((by_mean.low, by_mean.high))


def test_copies_of_a_word_do_not_make_the_interval_narrower():
    copied = bootstrap_interval(np.repeat(SAMPLE, 9), clusters=np.repeat(np.arange(20), 9))
    naive = bootstrap_interval(np.repeat(SAMPLE, 9))
    once = bootstrap_interval(SAMPLE)
    assert (copied.low, copied.high) == pytest.approx((once.low, once.high))
    assert naive.high - naive.low < 0.5 * (once.high - once.low)


def test_a_wider_level_gives_a_wider_interval():
    narrow, wide = (bootstrap_interval(SAMPLE, level=level) for level in (0.8, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high
    narrow, wide = (interval_of_d(SAMPLE[:10], SAMPLE[10:], level=level) for level in (0.8, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_the_seed_decides():
    assert bootstrap_interval(SAMPLE, seed=1) == bootstrap_interval(SAMPLE, seed=1)
    assert bootstrap_interval(SAMPLE, seed=1) != bootstrap_interval(SAMPLE, seed=2)
    x, y = SAMPLE[:10], SAMPLE[10:]
    assert interval_of_d(x, y, seed=1) == interval_of_d(x, y, seed=1)
    assert interval_of_d(x, y, seed=1) != interval_of_d(x, y, seed=2)


def test_a_sample_that_does_not_vary_has_an_interval_of_no_width():
    found = bootstrap_interval([0.1, 0.1, 0.1])
    assert (found.low, found.high) == pytest.approx((0.1, 0.1))


def test_small_numbers_are_not_mistaken_for_no_variation():
    found = bootstrap_interval(SAMPLE * 1e-15)
    usual = bootstrap_interval(SAMPLE)
    assert (found.low, found.high) == pytest.approx((usual.low * 1e-15, usual.high * 1e-15))


def test_where_leaving_a_word_out_changes_nothing_the_percentiles_are_used():
    # the median of 0 0 0 0 1 stays 0 whichever is left out, so BCa has no acceleration
    found = bootstrap_interval([0.0, 0.0, 0.0, 0.0, 1.0], np.median)
    assert found.method == "percentile"
    assert found.low == 0.0 <= found.high


@given(st.lists(st.integers(-3, 3), min_size=2, max_size=8))
@settings(max_examples=25)
def test_an_interval_is_finite_and_within_the_sample(values):
    found = bootstrap_interval(values, resamples=200)
    assert min(values) - 1e-9 <= found.low <= found.high <= max(values) + 1e-9


@given(SCORES, SCORES)
@settings(max_examples=50)
def test_the_interval_of_d_is_finite_holds_d_and_keeps_its_bounds(x, y):
    assume(np.ptp([*x, *y]) > 1e-3)
    found = interval_of_d(x, y, resamples=200)
    bound = (len(x) + len(y)) / math.sqrt(len(x) * len(y))
    assert -bound - 1e-9 <= found.low <= found.high <= bound + 1e-9
    assert effect_in(found, x, y)


def effect_in(interval, x, y):
    return concatenated_d(by_unit(x), by_unit(y)) in interval


@given(SCORES, SCORES, st.sampled_from([1e-6, 0.37, 1e6]), st.sampled_from([0.0, -5.0, 100.0]))
@settings(max_examples=30)
def test_scaling_and_shifting_scores_does_not_move_the_interval_of_d(x, y, scale, shift):
    assume(np.ptp(x) > 1e-2)
    assume(np.ptp(y) > 1e-2)
    usual = interval_of_d(x, y, resamples=200)
    moved = interval_of_d([scale * (v + shift) for v in x], [scale * (v + shift) for v in y], resamples=200)
    assert (moved.low, moved.high) == pytest.approx((usual.low, usual.high), abs=1e-6)


def test_swapping_the_groups_turns_the_interval_of_d_round():
    # not to the digit, because the groups draw their own random numbers
    x, y = SAMPLE[:10] + 2, SAMPLE[10:]
    one, other = interval_of_d(x, y, resamples=20_000), interval_of_d(y, x, resamples=20_000)
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low), abs=0.06)


def test_the_interval_of_d_agrees_with_theory_for_many_words():
    # Cohen's d of N = 2n normal scores has variance 4 / N + d^2 / (2 N). With the gap 1 and N = 4,000 that is
    # SE sqrt(.001 + .000125) = .033541; WEAT's d = d / sqrt(1 + d^2 / 4) multiplies it by 1.25^-1.5 = .715542.
    rng = np.random.default_rng(6)
    found = interval_of_d(rng.normal(1.0, size=2_000), rng.normal(size=2_000))
    # 2,000 resamples know an SE to 1 / sqrt(4,000) = 1.6%
    assert (found.high - found.low) / (2 * 1.96) == pytest.approx(0.033541 * 0.715542, rel=0.05)


@pytest.mark.parametrize(("n_x", "n_y"), [(3, 3), (4, 9), (12, 5)])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_reach_is_students_t_and_makes_up_for_the_small_variance_of_resamples(n_x, n_y, level):
    # z +- t(n_x + n_y - 2) * SD of the resampled z * sqrt(n / (n - 1)), n being the smaller group.
    rng = np.random.default_rng(n_x)
    x, y = by_unit(rng.normal(size=n_x)), by_unit(rng.normal(size=n_y))
    drawn = [by_unit(rng.normal(size=300)) for _ in range(2)]
    columns = [
        UnitScores(rng.choice(group.means, (size, 300)), rng.uniform(5, 6, (size, 300)), size)
        for group, size in zip(drawn, (n_x, n_y), strict=True)
    ]
    d = concatenated_d(x, y)
    found = resampled_interval(x, y, *columns, d=d, level=level, method="by hand")
    bound = (n_x + n_y) / math.sqrt(n_x * n_y)
    centre = float(np.concatenate([x.means, y.means]).mean())
    moments = [value for group in columns for value in (group.around(centre).means, group.around(centre).squares)]
    spread = float(np.arctanh(_correlation(*moments, 0.0)).std(ddof=1))
    reach = (math.atanh(found.high / bound) - math.atanh(found.low / bound)) / 2
    smaller = min(n_x, n_y)
    student = scipy.stats.t.ppf((1 + level) / 2, n_x + n_y - 2)
    assert reach == pytest.approx(student * spread * math.sqrt(smaller / (smaller - 1)))


def test_fewer_degrees_of_freedom_and_a_larger_variance_widen_the_interval_of_d():
    x, y = by_unit(SAMPLE[:10]), by_unit(SAMPLE[10:])
    bound, d = 2.0, concatenated_d(x, y)
    reaches = [
        np.ptp(np.arctanh(np.array([found.low, found.high]) / bound)) / 2
        for found in (
            effect_interval(x, y, d=d, inflation=inflation, df=df) for inflation, df in ((1, 18), (4, 18), (1, 3))
        )
    ]
    assert reaches[1] == pytest.approx(2 * reaches[0])
    assert reaches[2] / reaches[0] == pytest.approx(scipy.stats.t.ppf(0.975, 3) / scipy.stats.t.ppf(0.975, 18))


def test_an_interval_of_matched_words_knows_that_the_sd_is_unsure():
    # 8 pairs that are nearly the same: the difference is known, and d is off by the SD of 8 words, 1 / sqrt(14) of it
    x, y = by_unit(SAMPLE[:8] + 1.0), by_unit(SAMPLE[:8])
    d = concatenated_d(x, y)
    found = effect_interval(x, y, d=d, inflation=1e-9, df=7)
    z = np.arctanh(np.array([found.low, found.high]) / 2)
    reach = scipy.stats.t.ppf(0.975, 7) * abs(z.mean()) / math.sqrt(14)
    assert np.ptp(z) / 2 == pytest.approx(reach, rel=1e-3)


@pytest.mark.parametrize(
    ("x", "y", "why"),
    [
        ([0.1], [0.3, 0.4, 0.5], "one word in a group"),
        ([1.0, 1.0, 1.0], [0.0, 0.0, 0.0], "too little variation between words"),
        ([1.0, 1.0 + 1e-12, 1.0], [0.0, 0.0, 0.0], "too little variation between words"),
    ],
)
def test_what_cannot_be_estimated_says_so_and_spans_everything(x, y, why):
    found = interval_of_d(x, y)
    bound = (len(x) + len(y)) / math.sqrt(len(x) * len(y))
    assert why in found.method
    assert (found.low, found.high) == pytest.approx((-bound, bound))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: bootstrap_interval([]), "at least one number"),
        (lambda: bootstrap_interval([1.0]), "at least two units"),
        (lambda: bootstrap_interval([1.0, 2.0], clusters=["a", "a"]), "at least two units"),
        (lambda: bootstrap_interval([1.0, 2.0], clusters=["a"]), "2 values but 1 cluster"),
        (lambda: bootstrap_interval([1.0, float("nan")]), "NaN"),
        (lambda: bootstrap_interval([[1.0, 2.0], [3.0, 4.0]]), "list of at least one number"),
        (lambda: bootstrap_interval([1.0, 2.0], method="bcaa"), "did you mean 'bca'"),
        (lambda: bootstrap_interval([1.0, 2.0], level=95), "between 0 and 1"),
        (lambda: bootstrap_interval([1.0, 2.0], resamples=0), "at least 2 resamples"),
        (lambda: bootstrap_interval([1.0, 2.0], seed=-1), "a seed must be"),
        (lambda: interval_of_d([1.0, 2.0, 3.0], [1.0, 2.0, 4.0], level=0), "between 0 and 1"),
        (lambda: interval_of_d([1.0, 2.0, 3.0], [1.0, 2.0, 4.0], resamples=1), "at least 2 resamples"),
    ],
)
def test_input_that_cannot_be_used_is_named(call, message):
    with pytest.raises(BadInput, match=message):
        call()
