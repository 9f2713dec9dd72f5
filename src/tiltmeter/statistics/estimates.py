"""Shares, means, correlations and pooled effects, each with its interval and p-value."""

from __future__ import annotations

import dataclasses
import math
import sys
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput, unknown
from tiltmeter.statistics.families import as_labels, spread_of_mean
from tiltmeter.statistics.groups import (
    ALPHA,
    POWER,
    RESAMPLES,
    Floats,
    Noise,
    Power,
    Result,
    Units,
    check_level,
    numbers,
    power_of_difference,
    unit_index,
)
from tiltmeter.statistics.intervals import Interval
from tiltmeter.statistics.permutation import Alternative, generator, least_p_of_flips, sign_flip_test

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


def share_of(outcomes: Floats) -> Share:
    """``share`` of outcomes as ``preferred`` gives them."""
    return share(int((outcomes == 1).sum()), outcomes.size, ties=int((outcomes == 0.5).sum()))


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
    checked = numbers("values", values)
    sums, sizes = _by_cluster(checked, range(checked.size) if clusters is None else clusters)
    if len(sums) < 2:
        raise BadInput("a mean with an interval needs values of at least two units")
    test = sign_flip_test(sums, alternative=alternative, permutations=permutations, seed=seed)
    ci = _interval(sums, sizes, level, seed)
    value = float(checked.mean())
    return Mean(value, ci, test.p_value, test.exact, test.standard_error, checked.size, len(sums))


def power_of_mean(
    values: ArrayLike,
    *,
    clusters: Units | None = None,
    alternative: Alternative = "two-sided",
    permutations: int = 10_000,
) -> Power | None:
    """The smallest mean that ``clustered_mean`` would have found 8 times in 10.

    >>> power_of_mean([0.2, 0.4, 0.3, -0.1])
    Power(effect=None, least_p=0.125)
    """
    checked = numbers("values", values)
    labels = as_labels(clusters, checked.size)
    spread = spread_of_mean(checked, labels)
    least = least_p_of_flips(spread.families, alternative=alternative, permutations=permutations)
    return power_of_difference([Noise(spread.variance, spread.df, least, 2 if alternative == "two-sided" else 1)])


def power_of_share(outcomes: ArrayLike, *, clusters: Units | None = None, permutations: int = 10_000) -> Power | None:
    """The smallest distance from one half that ``share`` or ``clustered_share`` would have found 8 times in 10.

    Of independent outcomes it is exact, from the binomial distribution. Those of clusters are taken to spread as much
    more than independent ones as they did here. Further from one half they would spread less, but lopsidedly, and the
    test gains nothing from it (``benchmarks/power.py``).

    >>> round(power_of_share([1, 0] * 50).effect, 2), power_of_share([1, 0, 1])
    (0.15, Power(effect=None, least_p=0.25))
    """
    values = numbers("outcomes", outcomes)
    labels = as_labels(clusters, values.size)
    if labels.max() == values.size - 1 and np.isin(values, (0.0, 0.5, 1.0)).all():
        return _binomial_power(int((values != 0.5).sum()), values.size)
    spread, value = spread_of_mean(values, labels), float(values.mean())
    least = least_p_of_flips(spread.families, permutations=permutations)
    power = power_of_difference([Noise(1.0, spread.df, least)])
    if power is None or power.effect is None:
        return power
    # Where clusters do not differ at all they say as much as so many trials, as in the interval.
    single = value * (1 - value)
    unexplained = spread.variance / single if single > 0 and spread.variance > 0 else 1 / spread.families
    # The SD of few clusters is on average too small by so much.
    distance = power.effect * math.sqrt(unexplained) / 2 * (1 + 1 / (4 * spread.df))
    return dataclasses.replace(power, effect=min(distance, 0.5))


def _binomial_power(trials: int, n: int) -> Power:
    """Of the exact binomial test of one half, with so many trials that are no tie among n."""
    from scipy.special import bdtrc, betaincinv

    successes = np.arange(trials + 1)
    p_values = np.minimum(2 * np.where(successes > 0, bdtrc(successes - 1, trials, 0.5), 1.0), 1.0)
    if p_values[-1] > ALPHA:
        return Power(None, float(p_values[-1]))
    enough = int((p_values > ALPHA).sum())
    share = float(betaincinv(enough, trials - enough + 1, POWER))
    return Power((share - 0.5) * trials / n, float(p_values[-1]))


def power_of_correlation(n: int) -> Power | None:
    """The smallest Pearson's r of so many pairs that would have been found 8 times in 10, from Fisher's z.

    >>> round(power_of_correlation(60).effect, 2)
    0.36
    """
    power = power_of_difference([Noise(1 / (n - 3), n - 2)])
    return power.z_to_r() if power else None


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


#: Relative to the values themselves, a range below this is rounding, not variation.
_ROUNDING = 1e-12


@dataclasses.dataclass(frozen=True, slots=True)
class Correlation(Result):
    """How two lists of numbers go together, from -1 to 1."""

    r: float
    p_value: float
    ci: Interval
    n: int
    method: str


def correlation(
    x: ArrayLike, y: ArrayLike, *, method: Literal["pearson", "spearman"] = "pearson", seed: int = 0
) -> Correlation:
    """Pearson's r with Fisher's interval, or Spearman's rho with a percentile bootstrap interval.

    >>> round(correlation([1, 2, 3, 4], [1, 2, 3, 5]).r, 4)
    0.9827
    """
    from scipy.stats import pearsonr, spearmanr

    if method not in ("pearson", "spearman"):
        raise unknown("correlation", method, ["pearson", "spearman"])
    a, b = numbers("a list to correlate", x), numbers("a list to correlate", y)
    if a.shape != b.shape or a.size < 4:
        raise BadInput("a correlation needs two lists of the same length, at least 4")
    if any(np.ptp(values) <= _ROUNDING * np.abs(values).max() for values in (a, b)):
        raise BadInput("one of the two lists does not vary, so a correlation is not defined")
    if method == "pearson":
        pearson = pearsonr(a, b)
        ends = pearson.confidence_interval(0.95)
        interval = Interval(float(ends.low), float(ends.high), 0.95, "Fisher z")
        # A perfect correlation has p = 0 in theory and one as small as a number can be in practice.
        p_value = max(float(pearson.pvalue), sys.float_info.min)
        return Correlation(float(pearson.statistic), p_value, interval, a.size, method)
    rank = spearmanr(a, b)
    interval = _resampled(a, b, float(rank.statistic), seed)
    # No rank order is rarer than one in n!, which the approximation by Student's t does not know.
    smallest = max(2 * math.exp(-math.lgamma(a.size + 1)), sys.float_info.min)
    return Correlation(float(rank.statistic), max(float(rank.pvalue), smallest), interval, a.size, method)


def _resampled(a: Floats, b: Floats, rho: float, seed: int) -> Interval:
    """Percentiles of Spearman's rho over resampled pairs."""
    from scipy.stats import rankdata

    drawn = generator(seed, "resample").integers(a.size, size=(RESAMPLES, a.size))
    x, y = rankdata(a[drawn], axis=1) - (a.size + 1) / 2, rankdata(b[drawn], axis=1) - (a.size + 1) / 2
    squares = (x**2).sum(axis=1) * (y**2).sum(axis=1)
    varies = squares > 0  # a resample of one repeated pair has no order
    values = (x * y).sum(axis=1)[varies] / np.sqrt(squares[varies])
    low, high = np.quantile(values, [0.025, 0.975])
    return Interval(min(float(low), rho), max(float(high), rho), 0.95, "percentile")


@dataclasses.dataclass(frozen=True, slots=True)
class RandomEffects(Result):
    """The pooled effect; ``tau2`` is the variance between effects beyond what chance explains."""

    mean: float
    tau2: float
    standard_error: float
    p_value: float
    ci: Interval
    q: float
    n: int


def random_effects(effects: ArrayLike, variances: ArrayLike) -> RandomEffects:
    """Pool effects with weights 1/(variance + tau2); p is two-sided and normal.

    >>> pooled = random_effects([0.2, 0.5, 0.9], [0.04, 0.04, 0.04])
    >>> round(pooled.mean, 4), round(pooled.tau2, 4), round(pooled.standard_error, 4)
    (0.5333, 0.0833, 0.2028)
    """
    from scipy.stats import norm

    effect = np.atleast_1d(np.asarray(effects, dtype=np.float64))
    variance = np.atleast_1d(np.asarray(variances, dtype=np.float64))
    if effect.ndim != 1 or effect.shape != variance.shape or effect.size == 0:
        raise BadInput("effects and variances must be two lists of the same length, at least 1")
    if not (np.isfinite(effect).all() and np.isfinite(variance).all() and (variance > 1e-300).all()):
        raise BadInput("effects must be finite and variances finite and above 0 (1e-300)")
    weight = 1 / variance
    centre = float((weight * effect).sum() / weight.sum())
    q = float((weight * (effect - centre) ** 2).sum())
    # c = sum w - (sum w^2) / (sum w), which loses all its digits to one huge weight; the same is twice the sum
    # of w_i w_j over all pairs, divided by sum w.
    before = np.concatenate([[0.0], np.cumsum(weight)[:-1]])
    c = float(2 * (weight / weight.sum() * before).sum())
    tau2 = max(0.0, (q - (effect.size - 1)) / c) if effect.size > 1 else 0.0
    v = 1 / (variance + tau2)
    mean, error = float((v * effect).sum() / v.sum()), math.sqrt(1 / float(v.sum()))
    # Far in the tail the normal underflows; a p-value is small there, never zero.
    p_value = max(2 * float(norm.sf(abs(mean) / error)), sys.float_info.min)
    reach = float(norm.ppf(0.975)) * error
    return RandomEffects(
        mean, tau2, error, p_value, Interval(mean - reach, mean + reach, 0.95, "normal"), q, effect.size
    )
