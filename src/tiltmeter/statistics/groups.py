"""Two groups of scores in which words, not observations, are the unit, and the standardised difference between them.

Everything the two-group statistics need of a word is the mean and the mean square of its scores, and
how many there are. A word seen once (WEAT) and a word seen in ninety sentences (SEAT, association) are
then one case, and every statistic counts words the same way.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiltmeter.errors import BadInput, unknown

Floats = NDArray[np.float64]
#: The name of the unit that each value belongs to.
Units = Sequence[Hashable] | NDArray[Any]

#: Relative to the scores themselves, a spread below this is rounding, not variation.
_ROUNDING = 3e-8


#: What needs no conversion, and is most of what there is.
_AS_IT_IS = frozenset({str, int, float, bool, type(None)})


def plain(value: Any) -> Any:
    """Nested results, arrays and numpy scalars as JSON-ready Python values.

    >>> plain({"a": np.float64(0.5), "b": np.arange(2)})
    {'a': 0.5, 'b': [0, 1]}
    """
    if type(value) in _AS_IT_IS:
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value


@dataclasses.dataclass(frozen=True, slots=True)
class Result:
    """Base of the frozen results of measures and statistics."""

    def to_dict(self) -> dict[str, Any]:
        """The result as JSON-ready Python values."""
        converted: dict[str, Any] = plain(self)
        return converted


@dataclasses.dataclass(frozen=True, slots=True)
class UnitScores:
    """One group of scores, summed up by unit."""

    means: Floats
    squares: Floats
    observations: int

    @property
    def n(self) -> int:
        return len(self.means)

    def around(self, centre: float) -> UnitScores:
        """The same scores counted from a centre: squares of large, close scores would lose their digits."""
        means = self.means - centre
        return UnitScores(means, np.maximum(self.squares - self.means**2, 0.0) + means**2, self.observations)


def as_floats(values: ArrayLike, otherwise: str) -> Floats:
    """Values as an array; what is no such thing is an error that says ``otherwise``."""
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadInput(otherwise) from None


def unit_index(units: Iterable[Hashable]) -> NDArray[np.intp]:
    """The number of each unit, in the order in which they first come.

    >>> unit_index(["he", "man", "he"]).tolist()
    [0, 1, 0]
    """
    order: dict[Hashable, int] = {}
    return np.array([order.setdefault(unit, len(order)) for unit in units], dtype=np.intp)


def numbers(name: str, values: ArrayLike) -> Floats:
    """Values as a checked list of at least one finite number.

    >>> numbers("scores", [1, 2]).tolist()
    [1.0, 2.0]
    """
    found = as_floats(values, f"{name} must be a plain list of numbers")
    if found.ndim != 1 or found.size == 0:
        raise BadInput(f"{name} must be a list of at least one number")
    if not np.isfinite(found).all():
        raise BadInput(f"{name} holds NaN or infinity: every value must be a finite number")
    return found


def by_unit(scores: ArrayLike, units: Units | None = None) -> UnitScores:
    """Sum scores up by unit; without units each score is its own.

    >>> by_unit([1.0, 3.0, 5.0], ["he", "he", "man"]).means.tolist()
    [2.0, 5.0]
    """
    values = numbers("a group of scores", scores)
    if units is None:
        return UnitScores(values, values**2, values.size)
    if len(units) != values.size:
        raise BadInput(f"{values.size} scores but {len(units)} units: name one unit per score")
    index = unit_index(units)
    counts = np.bincount(index)
    return UnitScores(
        np.bincount(index, values) / counts,
        np.bincount(index, values**2) / counts,
        values.size,
    )


def concatenated_d(x: UnitScores, y: UnitScores, *, ddof: int = 1) -> float:
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


def pooled_d(x: UnitScores, y: UnitScores) -> float:
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


def narrowing(x: UnitScores, y: UnitScores) -> float:
    """The SD of the units' means over the SD of single observations, both within groups; 1 where there is no SD.

    >>> narrowing(by_unit([1.0, 3.0, 5.0, 7.0], "aabb"), by_unit([0.0, 2.0, 4.0, 6.0], "aabb")).__round__(3)
    1.265
    """
    degrees = x.n + y.n - 2
    between = sum(float(np.square(group.means - group.means.mean()).sum()) for group in (x, y)) / max(degrees, 1)
    single = sum(group.n * float(group.squares.mean() - group.means.mean() ** 2) for group in (x, y)) / (x.n + y.n)
    return math.sqrt(between / single) if degrees and single > 0 else 1.0


def minimum_detectable_effect(
    n_1: int,
    n_2: int,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    sd: Literal["concatenated", "pooled"] = "concatenated",
    narrower: float = 1.0,
) -> float:
    """The smallest true effect that a two-sided test with so many words finds with the given power.

    An effect below it that was not found is no evidence of absence. From the power of the t test, which
    the permutation test approaches; with ``concatenated`` in the units of WEAT's d. Where words are seen many times
    and d is in SDs of single observations, ``narrower`` is the SD of the words' means, within groups, over that of
    observations: the t test is between means, and concatenating adds the effect to the SD only afterwards.

    >>> round(minimum_detectable_effect(8, 8), 2), round(minimum_detectable_effect(100, 100), 2)
    (1.2, 0.39)
    >>> round(minimum_detectable_effect(8, 8, narrower=0.5), 2)
    0.7
    """
    from statsmodels.stats.power import TTestIndPower

    if min(n_1, n_2) < 2:
        raise BadInput("a detectable effect needs at least two units in each group")
    if sd not in ("concatenated", "pooled"):
        raise unknown("sd", sd, ["concatenated", "pooled"])
    if not 0 < alpha < power < 1:
        raise BadInput(f"alpha and power must satisfy 0 < alpha < power < 1, not {alpha} and {power}")
    cohen = narrower * float(TTestIndPower().solve_power(nobs1=n_1, ratio=n_2 / n_1, alpha=alpha, power=power))
    if sd == "pooled":
        return cohen
    return cohen / math.sqrt(1 + cohen**2 * n_1 * n_2 / (n_1 + n_2) ** 2)
