"""Standardised differences between two groups, and how large one must be to be found."""

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
    largest = max(x.squares.max(), y.squares.max())
    centre = np.concatenate([x.means, y.means]).mean()
    x, y = x.around(centre), y.around(centre)
    variance = np.concatenate([x.squares, y.squares]).mean()
    n = x.observations + y.observations
    if n <= ddof or variance <= _ROUNDING**2 * largest:
        raise BadInput("all scores are the same, so an effect size is not defined: check words and vectors")
    return float((x.means.mean() - y.means.mean()) / math.sqrt(variance * n / (n - ddof)))


def pooled_d(x: Group, y: Group) -> float:
    """(mean x - mean y) / SD within the groups (Cohen's d), each unit counting once."""
    largest = max(x.squares.max(), y.squares.max())
    mean_x, mean_y = x.means.mean(), y.means.mean()
    squares = np.concatenate([x.around(mean_x).squares, y.around(mean_y).squares]).mean()
    n = x.observations + y.observations
    if n < 3 or squares <= _ROUNDING**2 * largest:
        raise BadInput("the scores do not vary within the groups, so Cohen's d is not defined")
    return float((mean_x - mean_y) / math.sqrt(squares * n / (n - 2)))


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
    return pooled_d(group_x, group_y)


def hedges_g(x: ArrayLike, y: ArrayLike) -> float:
    """Cohen's d with Hedges' exact correction for small groups.

    >>> round(hedges_g([1.0, 2.0, 3.0], [2.0, 3.0, 4.0]), 4)
    -0.7979
    """
    from scipy.special import gammaln

    df = np.size(x) + np.size(y) - 2
    if df < 2:
        raise BadInput("Hedges' correction needs at least four scores in the two groups together")
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


def minimum_detectable_effect(
    n_1: int,
    n_2: int,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    sd: Literal["concatenated", "pooled"] = "concatenated",
) -> float:
    """The smallest true effect that a two-sided test with so many words finds with the given power.

    An effect below it that was not found is no evidence of absence. From the power of the t test, which
    the permutation test approaches; with ``concatenated`` in the units of WEAT's d.

    >>> round(minimum_detectable_effect(8, 8), 2), round(minimum_detectable_effect(100, 100), 2)
    (1.2, 0.39)
    """
    from statsmodels.stats.power import TTestIndPower

    if min(n_1, n_2) < 2:
        raise BadInput("a detectable effect needs at least two units in each group")
    if sd not in ("concatenated", "pooled"):
        raise unknown("sd", sd, ["concatenated", "pooled"])
    if not 0 < alpha < power < 1:
        raise BadInput(f"alpha and power must satisfy 0 < alpha < power < 1, not {alpha} and {power}")
    cohen = float(TTestIndPower().solve_power(nobs1=n_1, ratio=n_2 / n_1, alpha=alpha, power=power))
    if sd == "pooled":
        return cohen
    return cohen / math.sqrt(1 + cohen**2 * n_1 * n_2 / (n_1 + n_2) ** 2)
