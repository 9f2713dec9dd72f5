"""Correlations against scipy, by hand, and where they are not defined."""

from __future__ import annotations

import math

import numpy as np
import pytest
import scipy.stats

from tiltmeter.errors import BadInput
from tiltmeter.statistics import correlation

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
