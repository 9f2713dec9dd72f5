"""Correlation with its interval and p-value."""

from __future__ import annotations

import dataclasses
import math
import sys
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput, unknown
from tiltmeter.statistics.groups import Floats, Result, numbers
from tiltmeter.statistics.intervals import RESAMPLES, Interval
from tiltmeter.statistics.permutation import generator

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
        found = pearsonr(a, b)
        ends = found.confidence_interval(0.95)
        interval = Interval(float(ends.low), float(ends.high), 0.95, "Fisher z")
        # A perfect correlation has p = 0 in theory and one as small as a number can be in practice.
        p_value = max(float(found.pvalue), sys.float_info.min)
        return Correlation(float(found.statistic), p_value, interval, a.size, method)
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
