"""Confidence intervals from the bootstrap, resampling units."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiltmeter.errors import BadInput, unknown
from tiltmeter.statistics.groups import Floats, Group
from tiltmeter.statistics.result import Result

RESAMPLES = 2_000


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
    clusters: Sequence[Hashable] | NDArray[Any] | None = None,
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
    sample = np.asarray(values, dtype=np.float64)
    if not np.isfinite(sample).all():
        raise BadInput("a value is NaN or infinite: every value must be a finite number")
    members = _members(sample.size, clusters)
    if len(members) < 2:
        raise BadInput("a bootstrap interval needs at least two units")

    def of_clusters(drawn: NDArray[np.float64]) -> float:
        return float(statistic(sample[np.concatenate([members[int(i)] for i in drawn])]))

    if _is_constant(statistic, sample, members):
        value = float(statistic(sample))
        return Interval(value, value, level, method)
    found = bootstrap(
        (np.arange(len(members), dtype=np.float64),),
        of_clusters,
        n_resamples=resamples,
        confidence_level=level,
        method="BCa" if method == "bca" else "percentile",
        vectorized=False,
        rng=np.random.default_rng([seed, 1]),
    )
    ends = found.confidence_interval
    return Interval(float(ends.low), float(ends.high), level, method)


def _members(n: int, clusters: Sequence[Hashable] | NDArray[Any] | None) -> list[NDArray[np.intp]]:
    if clusters is None:
        return [np.array([i]) for i in range(n)]
    if len(clusters) != n:
        raise BadInput(f"{n} values but {len(clusters)} cluster names: name one cluster per value")
    found: dict[Hashable, list[int]] = {}
    for position, cluster in enumerate(clusters):
        found.setdefault(cluster, []).append(position)
    return [np.array(positions) for positions in found.values()]


def _is_constant(
    statistic: Callable[[Floats], float], sample: Floats, members: list[NDArray[np.intp]]
) -> bool:
    """Does leaving out any one unit change nothing? Then BCa has no acceleration to estimate."""
    left_out = [statistic(np.delete(sample, positions)) for positions in members]
    return bool(np.ptp(left_out) <= 1e-12 * max(1.0, float(np.abs(left_out).max())))


def effect_interval(
    x: Group, y: Group, *, d: float, level: float = 0.95, resamples: int = RESAMPLES, seed: int = 0
) -> Interval:
    """Interval for the difference in concatenated SDs (WEAT's d), resampling units in each group.

    d is bounded and skewed, and its SD comes from few words, so percentile intervals are too short
    (84-91% coverage at 8 words a group) and BCa fails for strong effects. With r = d * sqrt(n1 n2)/n a
    correlation, this is the studentised bootstrap of Fisher's z = artanh(r), in which the variance is free
    of its small-sample bias. Coverage: ``python benchmarks/calibration.py``.
    """
    estimate, error = _correlation(x.means, x.squares, y.means, y.squares)
    bound = (x.n + y.n) / math.sqrt(x.n * y.n)
    method = "studentised bootstrap by word"
    if min(x.n, y.n) < 2 or not error > 0:
        return Interval(-bound, bound, level, "not estimable: no variation between words")
    plug_in, _ = _correlation(x.means, x.squares, y.means, y.squares, unbiased=False)
    rng = np.random.default_rng([seed, 1])
    i = rng.integers(x.n, size=(x.n, resamples))
    j = rng.integers(y.n, size=(y.n, resamples))
    with np.errstate(divide="ignore", invalid="ignore"):  # resamples of one repeated word are dropped below
        drawn, drawn_error = _correlation(x.means[i], x.squares[i], y.means[j], y.squares[j])
        t = (np.arctanh(drawn) - np.arctanh(plug_in)) / (drawn_error / (1 - drawn**2))
    t = t[np.isfinite(t)]
    if t.size < resamples / 2:
        return Interval(-bound, bound, level, "not estimable: too few different words")
    tail = (1 - level) / 2
    upper, lower = np.quantile(t, [1 - tail, tail])
    z, z_error = np.arctanh(estimate), error / (1 - estimate**2)
    low, high = bound * np.tanh([z - upper * z_error, z - lower * z_error])
    # The published d keeps its small-sample bias; an interval that leaves its own estimate out helps nobody.
    return Interval(float(min(low, d)), float(max(high, d)), level, method)


def _correlation(
    means_x: Floats, squares_x: Floats, means_y: Floats, squares_y: Floats, *, unbiased: bool = True
) -> tuple[Floats, Floats]:
    """Point-biserial correlation of score and group, and its standard error, over the first axis.

    The error comes from the influence of each unit on the correlation (delta method).
    """
    n_x, n_y = len(means_x), len(means_y)
    w_x, w_y = n_x / (n_x + n_y), n_y / (n_x + n_y)
    w = w_x * w_y
    mean_x, mean_y = means_x.mean(0), means_y.mean(0)
    square_x, square_y = squares_x.mean(0), squares_y.mean(0)
    off_x, off_y = means_x - mean_x, means_y - mean_y
    difference = mean_x - mean_y
    variance = w_x * (square_x - mean_x**2) + w_y * (square_y - mean_y**2) + w * difference**2
    if unbiased and n_x > 1 and n_y > 1:
        error_x = (off_x**2).sum(0) / (n_x * (n_x - 1))
        error_y = (off_y**2).sum(0) / (n_y * (n_y - 1))
        variance = variance + w_x * error_x + w_y * error_y - w * (error_x + error_y)
    pull_x = w_x * (squares_x - square_x) + (2 * w * difference - 2 * w_x * mean_x) * off_x
    pull_y = w_y * (squares_y - square_y) - (2 * w * difference + 2 * w_y * mean_y) * off_y
    sd, slope = np.sqrt(variance), difference / (2 * variance)
    influence_x, influence_y = off_x - slope * pull_x, off_y + slope * pull_y
    error = np.sqrt(
        (influence_x**2).sum(0) / (n_x * max(n_x - 1, 1)) + (influence_y**2).sum(0) / (n_y * max(n_y - 1, 1))
    )
    scale = math.sqrt(w) / sd
    return scale * difference, scale * error
