"""Standardised differences between two groups."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput, unknown
from tiltmeter.statistics.groups import Group, by_unit

#: Relative to the scores themselves, a spread below this is rounding, not variation.
_ROUNDING = 3e-8


def concatenated_d(x: Group, y: Group, *, ddof: int = 1) -> float:
    """(mean x - mean y) / SD of the two groups put together, each unit counting once."""
    if ddof not in (0, 1):
        raise BadInput(f"ddof must be 0 or 1, not {ddof}")
    weight_x = x.n / (x.n + y.n)
    mean_x, mean_y = x.means.mean(), y.means.mean()
    centre = weight_x * mean_x + (1 - weight_x) * mean_y
    square = weight_x * x.squares.mean() + (1 - weight_x) * y.squares.mean()
    variance = square - centre**2
    n = x.observations + y.observations
    if n <= ddof or variance <= _ROUNDING**2 * square:
        raise BadInput("all scores are the same, so an effect size is not defined: check words and vectors")
    return float((mean_x - mean_y) / math.sqrt(variance * n / (n - ddof)))


def pooled_sd(x: ArrayLike, y: ArrayLike) -> float:
    """The SD within the groups, as in Student's t test."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if x.size + y.size < 3:
        raise BadInput("a pooled SD needs at least three scores")
    squares = ((x - x.mean()) ** 2).sum() + ((y - y.mean()) ** 2).sum()
    return float(math.sqrt(squares / (x.size + y.size - 2)))


def effect_size(
    x: ArrayLike,
    y: ArrayLike,
    *,
    sd: Literal["concatenated", "pooled"] = "concatenated",
    ddof: int = 1,
) -> float:
    """Standardised difference of two groups of scores.

    ``concatenated`` divides by the SD of all scores put together (WEAT's d, at most 2 for groups of one
    size); ``pooled`` by the SD within the groups (Cohen's d, unbounded; ``ddof`` does not apply).

    >>> round(effect_size([0.10, 0.12], [-0.08, -0.07]), 10)
    1.7257592837
    >>> round(effect_size([0.10, 0.12], [-0.08, -0.07], sd="pooled"), 4)
    16.5469
    """
    group_x, group_y = by_unit(x), by_unit(y)
    if sd == "concatenated":
        return concatenated_d(group_x, group_y, ddof=ddof)
    if sd != "pooled":
        raise unknown("sd", sd, ["concatenated", "pooled"])
    within = pooled_sd(x, y)
    if within <= _ROUNDING * math.sqrt(max(group_x.squares.max(), group_y.squares.max())):
        raise BadInput("the scores do not vary within the groups, so Cohen's d is not defined")
    return float((group_x.means.mean() - group_y.means.mean()) / within)


def hedges_g(x: ArrayLike, y: ArrayLike) -> float:
    """Cohen's d with Hedges' exact correction for small groups.

    >>> round(hedges_g([1.0, 2.0, 3.0], [2.0, 3.0, 4.0]), 4)
    -0.7979
    """
    from scipy.special import gammaln

    df = np.size(x) + np.size(y) - 2
    d = effect_size(x, y, sd="pooled")
    correction = math.exp(gammaln(df / 2) - gammaln((df - 1) / 2)) / math.sqrt(df / 2)
    return float(d * correction)


def band(d: float) -> str:
    """Cohen's words for the size of d: .2 small, .5 medium, .8 large.

    >>> band(-0.6)
    'medium'
    """
    size = abs(d)
    return "negligible" if size < 0.2 else "small" if size < 0.5 else "medium" if size < 0.8 else "large"
