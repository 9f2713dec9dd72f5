"""A mean over words and pairs at once."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats
import statsmodels.api as sm

from tiltmeter.statistics.families import spread_of_mean
from tiltmeter.statistics.two_way import (
    correlation_over_both,
    difference_of_poles,
    mean_of_table,
    slope_spread,
)


def test_a_table_of_three_words_and_two_pairs_by_hand():
    # Rows 2 3 | 4 7 | 6 8: row means 2.5 5.5 7, column means 4 6, mean 5.
    table = np.array([[2.0, 3.0], [4.0, 7.0], [6.0, 8.0]])
    found = mean_of_table(table, np.arange(3), np.arange(2), bound=100.0)
    # Words: variance 5.25 / 3 = 1.75 with 2 degrees of freedom; pairs: 2 / 2 = 1 with 1.
    assert found.by_words == pytest.approx(2 * scipy.stats.t.sf(5 / math.sqrt(1.75), 2))
    assert found.by_others == pytest.approx(2 * scipy.stats.t.sf(5.0, 1))
    # What is left of single cells is +-.5, -.5, 0: squares 1, on 2 degrees of freedom, for 6 cells: 1/12.
    # Both: 1.75 + 1 - 1/12 = 2.6667, with 2.75^2 / (1.75^2 / 2 + 1) = 2.9873 degrees of freedom.
    df = 2.75**2 / (1.75**2 / 2 + 1)
    both = 2 * scipy.stats.t.sf(5 / math.sqrt(1.75 + 1 - 1 / 12), df)
    # By pairs alone there is one degree of freedom, and less can be said.
    assert both < found.by_others
    assert found.p_value == pytest.approx(found.by_others)
    assert found.ci.high - found.value == pytest.approx(scipy.stats.t.ppf(0.975, 1))
    assert (found.value, found.families) == (5.0, (3, 2))


def test_where_words_and_pairs_both_vary_neither_alone_is_enough():
    rng = np.random.default_rng(0)
    table = rng.normal(size=(30, 1)) + rng.normal(size=(1, 30)) + 0.5
    found = mean_of_table(table, np.arange(30), np.arange(30), bound=100.0)
    rows, columns = (spread_of_mean(table.mean(axis=axis), np.arange(30)).variance for axis in (1, 0))
    # Sums of effects without interaction: the variance is that of both.
    reach = scipy.stats.t.ppf(0.975, (rows + columns) ** 2 / ((rows**2 + columns**2) / 29)) * math.sqrt(rows + columns)
    assert found.ci.high - found.value == pytest.approx(reach)
    assert found.p_value > max(found.by_words, found.by_others)
    assert (found.p_value <= 0.05) == (0.0 not in found.ci)


def test_cells_of_their_own_are_counted_once():
    table = np.random.default_rng(1).normal(size=(40, 40))
    found = mean_of_table(table, np.arange(40), np.arange(40), bound=100.0)
    # Nothing but single cells varies, and the standard error is that of 1,600 of them, or a little more by chance.
    expected = scipy.stats.t.ppf(0.975, 40) / 40
    assert expected * 0.9 < found.ci.high - found.value < expected * 1.4


def test_copies_of_words_and_of_pairs_change_nothing():
    table = np.random.default_rng(2).normal(size=(6, 5)) + 1
    once = mean_of_table(table, np.arange(6), np.arange(5), bound=100.0)
    copied = mean_of_table(
        np.repeat(np.repeat(table, 3, axis=0), 2, axis=1),
        np.repeat(np.arange(6), 3),
        np.repeat(np.arange(5), 2),
        bound=100.0,
    )
    assert (copied.value, copied.p_value) == pytest.approx((once.value, once.p_value))
    assert (copied.ci.low, copied.ci.high) == pytest.approx((once.ci.low, once.ci.high))
    naive = mean_of_table(np.repeat(np.repeat(table, 3, axis=0), 2, axis=1), np.arange(18), np.arange(10), bound=100.0)
    assert naive.p_value < once.p_value


def test_poles_change_sides_and_p_stays():
    table = np.random.default_rng(3).normal(size=(7, 9)) + np.repeat([0.5, 0.0], [4, 5])
    there = difference_of_poles(table, np.arange(7), np.arange(4), np.arange(5), bound=9.0)
    back = difference_of_poles(
        np.concatenate([table[:, 4:], table[:, :4]], axis=1), np.arange(7), np.arange(5), np.arange(4), bound=9.0
    )
    assert (back.value, back.p_value) == pytest.approx((-there.value, there.p_value))
    assert (back.ci.low, back.ci.high) == pytest.approx((-there.ci.high, -there.ci.low))


def test_of_one_pair_nothing_is_said_of_others_and_of_one_family_nothing_at_all():
    table = np.random.default_rng(4).normal(size=(6, 4)) + 1
    alone = mean_of_table(table[:, :1], np.arange(6), np.zeros(1, dtype=int), bound=9.0)
    assert (alone.by_others, alone.p_value) == (None, alone.by_words)
    kin = mean_of_table(table, np.arange(6), np.zeros(4, dtype=int), bound=9.0)
    assert (kin.p_value, kin.ci.low, kin.ci.high) == (1.0, -9.0, 9.0)
    assert "not estimable" in kin.ci.method


def test_the_slope_of_independent_words_has_the_variance_of_statsmodels_hc2():
    rng = np.random.default_rng(5)
    x, y = rng.normal(size=20), rng.normal(size=20)
    found = slope_spread(x, y, np.arange(20))
    theirs = sm.OLS(y, sm.add_constant(x)).fit(cov_type="HC2")
    assert (found.mean, found.variance) == pytest.approx((theirs.params[1], theirs.bse[1] ** 2))
    assert 3 < found.df < 19


def test_the_slope_of_words_in_families_is_right_on_average():
    # Errors in families: the true variance of the slope is known, and the estimate is meant to hit it on average.
    rng = np.random.default_rng(6)
    families = np.repeat(np.arange(12), 4)
    x = rng.normal(size=12)[families] + 0.5 * rng.normal(size=48)
    weights = (x - x.mean()) / ((x - x.mean()) ** 2).sum()
    covariance = 0.5 * (families[:, None] == families[None]) + 0.5 * np.eye(48)
    truth = weights @ covariance @ weights
    root = np.linalg.cholesky(covariance)
    found = [slope_spread(x, root @ rng.normal(size=48), families).variance for _ in range(400)]
    # The estimate has about 6 degrees of freedom: a relative SD of .6, so .03 of the mean of 400; families of errors
    # that are not equal within leave it a few per cent short.
    assert np.mean(found) / truth == pytest.approx(1.0, abs=0.15)
    single = [slope_spread(x, root @ rng.normal(size=48), np.arange(48)).variance for _ in range(100)]
    assert np.mean(single) / truth < 0.6


def test_a_correlation_has_fishers_interval_where_words_are_independent():
    rng = np.random.default_rng(7)
    x = rng.normal(size=400)
    y = 0.5 * x + rng.normal(size=400)
    found, usual = correlation_over_both(x, y, np.arange(400)), scipy.stats.pearsonr(x, y)
    assert found.value == pytest.approx(usual.statistic)
    ends = usual.confidence_interval(0.95)
    assert (found.ci.low, found.ci.high) == pytest.approx((ends.low, ends.high), abs=0.02)
    flipped = correlation_over_both(x, -y, np.arange(400))
    assert (flipped.value, flipped.p_value) == pytest.approx((-found.value, found.p_value))
    assert flipped.ci.low == pytest.approx(-found.ci.high)


def test_a_perfect_correlation_is_finite():
    x = np.arange(8.0)
    found = correlation_over_both(x, 2 * x, np.arange(8))
    assert found.value == pytest.approx(1.0)
    assert 0 < found.p_value < 1e-6
    assert found.ci.high <= 1
