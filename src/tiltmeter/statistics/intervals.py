"""Confidence intervals from the bootstrap, resampling units."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiltmeter.errors import BadInput, unknown
from tiltmeter.statistics.groups import RESAMPLES, Floats, Result, Units, UnitScores, check_level, numbers, unit_index
from tiltmeter.statistics.permutation import generator

#: Numbers resampled at a time, so that long lists do not fill the memory.
_BATCH = 4_000_000


@dataclasses.dataclass(frozen=True, slots=True)
class Interval(Result):
    """A confidence interval, and how it was made."""

    low: float
    high: float
    level: float
    method: str

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


def bootstrap_interval(
    values: ArrayLike,
    statistic: Callable[[Floats], float] = np.mean,
    *,
    clusters: Units | None = None,
    method: Literal["percentile", "bca"] = "bca",
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval:
    """Bootstrap interval of a statistic of one sample; with ``clusters``, whole clusters are resampled.

    >>> interval = bootstrap_interval([4.0, 5.0, 6.0, 7.0, 9.0, 4.5, 5.5])
    >>> 4.5 < interval.low < 5.9 < interval.high < 8
    True
    """
    from scipy.stats import bootstrap

    if method not in ("percentile", "bca"):
        raise unknown("interval method", method, ["percentile", "bca"])
    check_level(level, resamples)
    sample = numbers("a sample", values)
    members = _members(sample.size, clusters)
    if len(members) < 2:
        raise BadInput("a bootstrap interval needs at least two units")

    def of_drawn(drawn: NDArray[np.float64]) -> float:
        chosen = drawn.astype(np.intp)
        return float(statistic(sample[chosen if clusters is None else np.concatenate([members[i] for i in chosen])]))

    if method == "bca" and _is_constant(statistic, sample, members):
        method = "percentile"
    # A plain mean, which most measures ask for, needs no call for each resample: twenty times as fast.
    plain = statistic is np.mean and clusters is None
    interval = bootstrap(
        (sample if plain else np.arange(len(members), dtype=np.float64),),
        np.mean if plain else of_drawn,
        n_resamples=resamples,
        batch=max(1, _BATCH // len(members)),
        confidence_level=level,
        method="BCa" if method == "bca" else "percentile",
        vectorized=plain,
        rng=generator(seed, "resample"),
    )
    ends = interval.confidence_interval
    return Interval(float(ends.low), float(ends.high), level, method)


def _members(n: int, clusters: Units | None) -> list[NDArray[np.intp]]:
    if clusters is None:
        return [np.array([i]) for i in range(n)]
    if len(clusters) != n:
        raise BadInput(f"{n} values but {len(clusters)} cluster names: name one cluster per value")
    index = unit_index(clusters)
    return np.split(np.argsort(index, kind="stable"), np.cumsum(np.bincount(index))[:-1])


def _is_constant(statistic: Callable[[Floats], float], sample: Floats, members: list[NDArray[np.intp]]) -> bool:
    """Does leaving out any one unit change nothing? Then BCa has no acceleration to estimate."""
    left_out = [statistic(np.delete(sample, positions)) for positions in members]
    return bool(np.ptp(left_out) <= 1e-12 * float(np.abs(sample).max()))


def effect_interval(
    x: UnitScores,
    y: UnitScores,
    *,
    d: float,
    inflation: float = 1.0,
    df: float | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = 0,
) -> Interval:
    """Interval for the difference in concatenated SDs (WEAT's d), resampling units in each group.

    d is bounded and skewed, and its SD comes from few words: percentile and BCa intervals are too short for
    strong effects and short lists, and the studentised bootstrap is wild where one word stands out. With
    r = d sqrt(n1 n2)/(n1 + n2), a correlation, this is z +- t * SE for Fisher's z = artanh(r): SE from the
    bootstrap, widened by n/(n-1) as its variances are too small by that, and the variance in r free of its
    small-sample bias. ``benchmarks/calibration.py`` prints how often it covers the truth, beside the others.

    ``inflation`` and ``df`` are those of a ``CrossedTest``: how many times larger the variance of the difference is
    than with independent units, and its degrees of freedom.
    """
    check_level(level, resamples)
    rng = generator(seed, "resample")
    i = rng.integers(x.n, size=(x.n, resamples))
    j = rng.integers(y.n, size=(y.n, resamples))
    # Centred before they are drawn: a few words instead of thousands of resamples of them.
    x, y = _centred(x, y)
    drawn_x = UnitScores(x.means[i], x.squares[i], x.observations)
    drawn_y = UnitScores(y.means[j], y.squares[j], y.observations)
    method = "bootstrap by word, Fisher z"
    return _centred_interval(x, y, drawn_x, drawn_y, d=d, inflation=inflation, df=df, level=level, method=method)


def resampled_interval(
    x: UnitScores,
    y: UnitScores,
    drawn_x: UnitScores,
    drawn_y: UnitScores,
    *,
    d: float,
    method: str,
    inflation: float = 1.0,
    df: float | None = None,
    level: float = 0.95,
) -> Interval:
    """The interval of ``effect_interval`` from resamples made elsewhere: groups with a column for each resample."""
    groups = _centred(x, y, drawn_x, drawn_y)
    return _centred_interval(*groups, d=d, method=method, inflation=inflation, df=df, level=level)


def _centred(x: UnitScores, y: UnitScores, *drawn: UnitScores) -> list[UnitScores]:
    """Two groups, and what was drawn from them, counted from the mean of both."""
    centre = float(np.concatenate([x.means, y.means]).mean())
    return [each.around(centre) for each in (x, y, *drawn)]


def _centred_interval(
    x: UnitScores,
    y: UnitScores,
    drawn_x: UnitScores,
    drawn_y: UnitScores,
    *,
    d: float,
    method: str,
    inflation: float,
    df: float | None,
    level: float,
) -> Interval:
    from scipy.special import stdtrit

    rounding = 1e-12 * float(np.concatenate([x.squares, y.squares]).mean())
    bound = (x.n + y.n) / math.sqrt(x.n * y.n)
    smaller = min(x.n, y.n)
    if smaller < 2:
        return Interval(-bound, bound, level, "not estimable: one word in a group")
    z = np.arctanh(_correlation(x.means, x.squares, y.means, y.squares, rounding))
    drawn = np.arctanh(_correlation(drawn_x.means, drawn_x.squares, drawn_y.means, drawn_y.squares, rounding))
    resamples = drawn.size
    drawn = drawn[np.isfinite(drawn)]
    if not np.isfinite(z) or drawn.size < resamples / 2:
        return Interval(-bound, bound, level, "not estimable: too little variation between words")
    if not math.isfinite(inflation):
        return Interval(-bound, bound, level, "not estimable: one family of words in a group")
    variance = inflation * smaller / (smaller - 1) * float(drawn.var(ddof=1))
    if inflation < 1:
        # Matched words make the difference surer than the SD it is divided by, which is as unsure as so many words.
        variance += (1 - inflation) * float(z) ** 2 / (2 * (smaller - 1))
    degrees = x.n + y.n - 2 if df is None else min(df, x.n + y.n - 2)
    reach = float(stdtrit(degrees, (1 + level) / 2)) * math.sqrt(variance)
    low, high = bound * np.tanh([z - reach, z + reach])
    # The published d keeps its small-sample bias; an interval that leaves its own estimate out helps nobody.
    return Interval(float(min(low, d)), float(max(high, d)), level, method)


def _correlation(means_x: Floats, squares_x: Floats, means_y: Floats, squares_y: Floats, rounding: float) -> Floats:
    """Point-biserial correlation of score and group over the first axis, its variance without bias.

    NaN where nothing but rounding varies within the groups, as in a resample of one repeated word.
    """
    n_x, n_y = len(means_x), len(means_y)
    w_x, w_y = n_x / (n_x + n_y), n_y / (n_x + n_y)
    w = w_x * w_y
    mean_x, mean_y = means_x.mean(0), means_y.mean(0)
    difference = mean_x - mean_y
    variance_x, variance_y = squares_x.mean(0) - mean_x**2, squares_y.mean(0) - mean_y**2
    # A group's mean is off by its standard error, which its own variance lacks and the difference has too much.
    error_x, error_y = _variance(means_x, mean_x) / (n_x - 1), _variance(means_y, mean_y) / (n_y - 1)
    within = w_x * (variance_x + error_x) + w_y * (variance_y + error_y) - w * (error_x + error_y)
    total = np.where(within > rounding, within + w * difference**2, np.nan)
    correlation: Floats = math.sqrt(w) * difference / np.sqrt(total)
    return correlation


def _variance(values: Floats, mean: Floats) -> Floats:
    """Over the first axis, where the mean is known."""
    apart = values - mean
    variance: Floats = np.einsum("i...,i...->...", apart, apart) / len(values)
    return variance
