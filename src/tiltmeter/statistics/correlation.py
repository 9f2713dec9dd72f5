"""Correlation with its interval and p-value."""

from __future__ import annotations

import dataclasses
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput, unknown
from tiltmeter.statistics.intervals import Interval, bootstrap_interval
from tiltmeter.statistics.result import Result


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
    """Pearson's r with Fisher's interval, or Spearman's rho with a BCa bootstrap interval.

    >>> round(correlation([1, 2, 3, 4], [1, 2, 3, 5]).r, 4)
    0.9827
    """
    from scipy.stats import pearsonr, spearmanr

    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if a.shape != b.shape or a.ndim != 1 or a.size < 4:
        raise BadInput("a correlation needs two lists of the same length, at least 4")
    if np.ptp(a) == 0 or np.ptp(b) == 0:
        raise BadInput("one of the two lists does not vary, so a correlation is not defined")
    if method == "pearson":
        found = pearsonr(a, b)
        ends = found.confidence_interval(0.95)
        interval = Interval(float(ends.low), float(ends.high), 0.95, "Fisher z")
        return Correlation(float(found.statistic), float(found.pvalue), interval, a.size, method)
    if method != "spearman":
        raise unknown("correlation", method, ["pearson", "spearman"])
    rank = spearmanr(a, b)

    def rho(positions: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
        chosen = positions.astype(int)
        if np.ptp(a[chosen]) == 0 or np.ptp(b[chosen]) == 0:
            return float(rank.statistic)
        return float(spearmanr(a[chosen], b[chosen]).statistic)

    interval = bootstrap_interval(np.arange(a.size), rho, method="percentile", seed=seed)
    return Correlation(float(rank.statistic), float(rank.pvalue), interval, a.size, method)
