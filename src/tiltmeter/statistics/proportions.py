"""Shares and means of clustered outcomes, with interval and p-value."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.statistics.groups import Floats, Result, Units, numbers, unit_index
from tiltmeter.statistics.intervals import RESAMPLES, Interval, check_level
from tiltmeter.statistics.permutation import Alternative, generator, sign_flip_test

#: Numbers resampled at a time, so that long lists do not fill the memory.
_BATCH = 4_000_000
#: Two scores closer than this, relative to them, are a tie.
_TIE = 1e-9


@dataclasses.dataclass(frozen=True, slots=True)
class Mean(Result):
    """A mean of ``n`` values in ``n_clusters`` clusters; ``p_value`` is that of the mean being 0."""

    value: float
    ci: Interval
    p_value: float
    exact: bool
    standard_error: float
    n: int
    n_clusters: int


@dataclasses.dataclass(frozen=True, slots=True)
class Share(Mean):
    """A share from 0 to 1; ``p_value`` is that of the share being one half."""


def preferred(first: Floats, second: Floats) -> Floats:
    """1 where the first of two scores is larger, 0 where the second is, .5 where they differ only by rounding.

    >>> preferred(np.array([0.3, 1.0, 2.0]), np.array([0.1 + 0.2, 2.0, 1.0])).tolist()
    [0.5, 0.0, 1.0]
    """
    tied = np.abs(first - second) <= _TIE * np.maximum(np.abs(first), np.abs(second))
    return np.where(tied, 0.5, np.where(first > second, 1.0, 0.0))


def share(successes: int, trials: int, *, ties: int = 0, level: float = 0.95) -> Share:
    """Share of successes among independent trials: Wilson's interval and the exact binomial test of one half.

    ``ties`` are trials without a decision: each counts half in the share and its interval, and none in the
    test (as in the sign test).

    >>> found = share(8, 10)
    >>> found.value, round(found.ci.low, 3), round(found.ci.high, 3), round(found.p_value, 4)
    (0.8, 0.49, 0.943, 0.1094)
    """
    from scipy.stats import binomtest

    if trials < 1 or successes < 0 or ties < 0 or successes + ties > trials:
        raise BadInput(f"{successes} successes and {ties} ties in {trials} trials cannot be: give counts of one list")
    value = (successes + ties / 2) / trials
    p_value = float(binomtest(successes, trials - ties).pvalue) if trials > ties else 1.0
    return Share(value, wilson(value, trials, level=level), p_value, True, 0.0, trials, trials)


def wilson(value: float, trials: int, *, level: float = 0.95) -> Interval:
    """Wilson's score interval of a share, which may count halves for ties.

    >>> interval = wilson(0.5, 10)
    >>> round(interval.low, 4), round(interval.high, 4)
    (0.2366, 0.7634)
    """
    from scipy.special import ndtri

    check_level(level)
    z2 = float(ndtri((1 + level) / 2)) ** 2
    centre = (value + z2 / (2 * trials)) / (1 + z2 / trials)
    reach = math.sqrt(z2 * (value * (1 - value) / trials + z2 / (4 * trials**2))) / (1 + z2 / trials)
    # Of a share of 0 or 1 rounding would leave the end a hair inside.
    low = 0.0 if value == 0 else centre - reach
    high = 1.0 if value == 1 else centre + reach
    return Interval(low, high, level, "Wilson")


def clustered_share(
    outcomes: ArrayLike,
    clusters: Units,
    *,
    level: float = 0.95,
    permutations: int = 10_000,
    seed: int = 0,
) -> Share:
    """Mean of outcomes (1, 0, or .5 for a tie) that come in clusters of alike ones, such as one word's sentences.

    The interval resamples whole clusters; p changes the sign of whole clusters' sums of (outcome - .5). Where
    every cluster has the same share resampling says nothing, and the interval is Wilson's with a cluster for a trial.

    >>> found = clustered_share([1, 1, 1, 0, 1, 1], ["cook", "cook", "nurse", "nurse", "pilot", "pilot"])
    >>> round(found.value, 3), found.p_value, found.n_clusters
    (0.833, 0.5, 3)
    """
    values = numbers("outcomes", outcomes)
    if not np.isin(values, (0.0, 0.5, 1.0)).all():
        raise BadInput("an outcome is 1, 0, or .5 for a tie")
    sums, sizes = _by_cluster(values, clusters)
    test = sign_flip_test(sums - sizes / 2, permutations=permutations, seed=seed)
    value = float(values.mean())
    if len(sums) == 1:
        ci = Interval(0.0, 1.0, level, "not estimable: one cluster")
    elif np.ptp(sums / sizes) == 0:
        ci = wilson(value, len(sums), level=level)
    else:
        ci = _interval(sums, sizes, level, seed)
    return Share(value, ci, test.p_value, test.exact, test.standard_error, values.size, len(sums))


def clustered_mean(
    values: ArrayLike,
    *,
    clusters: Units | None = None,
    alternative: Alternative = "two-sided",
    level: float = 0.95,
    permutations: int = 10_000,
    seed: int = 0,
) -> Mean:
    """Mean of values that come in clusters; without ``clusters`` each value is its own.

    The interval resamples whole clusters; p changes the sign of whole clusters' sums (is the mean 0?).

    >>> found = clustered_mean([0.2, 0.4, 0.3, -0.1], clusters=["cook", "cook", "nurse", "pilot"])
    >>> round(found.value, 3), found.p_value, found.exact
    (0.2, 0.5, True)
    """
    found = numbers("values", values)
    sums, sizes = _by_cluster(found, range(found.size) if clusters is None else clusters)
    if len(sums) < 2:
        raise BadInput("a mean with an interval needs values of at least two units")
    test = sign_flip_test(sums, alternative=alternative, permutations=permutations, seed=seed)
    ci = _interval(sums, sizes, level, seed)
    value = float(found.mean())
    return Mean(value, ci, test.p_value, test.exact, test.standard_error, found.size, len(sums))


def _by_cluster(values: Floats, clusters: Units | range) -> tuple[Floats, Floats]:
    if len(clusters) != values.size:
        raise BadInput(f"{values.size} values but {len(clusters)} cluster names: name one cluster per value")
    index = unit_index(clusters)
    return np.bincount(index, values).astype(np.float64), np.bincount(index).astype(np.float64)


def _interval(sums: Floats, sizes: Floats, level: float, seed: int) -> Interval:
    """Percentiles of the resampled ratio of sums, at levels widened for few clusters.

    Plain percentiles are too short by the factor sqrt((k - 1) / k) and by taking z for Student's t; Hesterberg
    (2015) moves the levels out by both.
    """
    from scipy.special import ndtr, stdtrit

    check_level(level)
    k = len(sums)
    tail = float(ndtr(-math.sqrt(k / (k - 1)) * stdtrit(k - 1, (1 + level) / 2)))
    rng = generator(seed, "resample")
    ratios = np.empty(RESAMPLES)
    rows = max(1, _BATCH // k)
    for start in range(0, RESAMPLES, rows):
        drawn = rng.integers(k, size=(min(rows, RESAMPLES - start), k))
        ratios[start : start + rows] = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    low, high = np.quantile(ratios, [tail, 1 - tail])
    value = float(sums.sum() / sizes.sum())
    return Interval(min(float(low), value), max(float(high), value), level, "bootstrap by cluster")
