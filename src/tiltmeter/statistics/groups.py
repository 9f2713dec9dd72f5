"""Two groups of scores in which words, not observations, are the unit, and the standardised difference between them:
how large it is, and how large it would have to be for a test to find it.

Everything the two-group statistics need of a word is the mean and the mean square of its scores, and
how many there are. A word seen once (WEAT) and a word seen in ninety sentences (SEAT, association) are
then one case, and every statistic counts words the same way.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiltmeter.errors import BadInput, unknown

Floats = NDArray[np.float64]
#: The name of the unit that each value belongs to.
Units = Sequence[Hashable] | NDArray[Any]

#: Relative to the scores themselves, a spread below this is rounding, not variation.
_ROUNDING = 3e-8
#: What counts as significant, and how often what is called detectable is found.
ALPHA, POWER = 0.05, 0.8
#: How much further out a test of few possible p-values sets its limit than Student's t does at the same level.
_COARSE = 3.0
RESAMPLES = 2_000
#: A normal distribution in so many equally likely points.
_POINTS = 128


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
    array = as_floats(values, f"{name} must be a plain list of numbers")
    if array.ndim != 1 or array.size == 0:
        raise BadInput(f"{name} must be a list of at least one number")
    if not np.isfinite(array).all():
        raise BadInput(f"{name} holds NaN or infinity: every value must be a finite number")
    return array


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


def within_groups(x: UnitScores, y: UnitScores) -> float:
    """The variance of single scores within two groups, each unit counting once; without bias.

    >>> within_groups(by_unit([1.0, 2.0, 3.0]), by_unit([0.0, 2.0, 4.0]))     # the mean of 1 and 4
    2.5
    """
    # A group's mean lies nearer to its own units than the true one does, by the square of its standard error.
    parts = (
        group.n * float(group.squares.mean() - group.means.mean() ** 2 + group.means.var() / max(group.n - 1, 1))
        for group in (x, y)
    )
    return max(sum(parts) / (x.n + y.n), 0.0)


@dataclasses.dataclass(frozen=True, slots=True)
class Power(Result):
    """What a test could have found.

    ``effect`` is the smallest distance from level that it finds 8 times in 10; None where no result can be
    significant, because even the most extreme one has ``least_p``.
    """

    effect: float | None
    least_p: float

    def z_to_r(self) -> Power:
        """The same as a correlation, where ``effect`` is Fisher's z of it."""
        return self if self.effect is None else dataclasses.replace(self, effect=math.tanh(self.effect))


class Noise(NamedTuple):
    """What a test weighs a difference against: its variance, known with so many degrees of freedom.

    ``least_p`` is the smallest p-value that the test can give, 0 where it is not a count; ``tails`` are 2 or 1.
    """

    variance: float
    df: float
    least_p: float = 0.0
    tails: int = 2


def power_of_difference(tests: Sequence[Noise], *, variance: float | None = None) -> Power | None:
    """The smallest true difference that is significant in all of the tests 8 times in 10; None where it is not known.

    The difference is normal with ``variance`` (that of the only test unless given), and each test finds it where it
    exceeds c s: s from the test's own variance, which has the distribution of chi² with its degrees of freedom, and c
    the quantile of Student's t at the largest p up to .05 that the test can give. Permutation tests of differences in
    standard errors are so close to it that they find the result in 75 to 85% of cases (``benchmarks/power.py``), with
    the quantile a little larger where p takes few values.

    >>> found = power_of_difference([Noise(variance=2 / 64, df=126)])
    >>> round(found.effect, 2)                                             # Cohen's tables: .5 with 64 a group
    0.5
    >>> power_of_difference([Noise(2 / 3, 4, least_p=0.1)])
    Power(effect=None, least_p=0.1)
    """
    from scipy.special import chdtr, ndtri, stdtrit

    least = max(test.least_p for test in tests)
    if least > ALPHA:
        return Power(None, least)
    variance = tests[0].variance if variance is None else variance
    if not math.isfinite(variance + sum(test.variance for test in tests)):
        return None
    limits = []  # where s is as large as its variance says
    for test in tests:
        level = test.least_p * math.floor(ALPHA / test.least_p + 1e-9) if test.least_p > 0 else ALPHA
        quantile = float(stdtrit(test.df, 1 - level / test.tails)) * (1 + _COARSE * test.least_p)
        limits.append(quantile * math.sqrt(test.variance))
    if max(limits) == 0:
        return Power(0.0, least)
    # The answer lies between the largest limit and three times it, whatever the degrees of freedom.
    differences = max(limits) * np.linspace(0.9, 3.1, 30)
    spread = math.sqrt(variance) * ndtri((np.arange(_POINTS) + 0.5) / _POINTS)

    @functools.cache
    def power(difference: float) -> float:
        drawn, chances = np.maximum(difference + spread, 0.0), np.ones(_POINTS)
        for test, limit in zip(tests, limits, strict=True):
            if limit > 0:
                chances *= chdtr(test.df, test.df * (drawn / limit) ** 2)
        return float(chances.mean())

    # Power grows with the difference. It crosses .8 a step or two from where it would if the limit erred normally too.
    errors = max(variance + limit**2 / (2 * test.df) for test, limit in zip(tests, limits, strict=True))
    step = int(np.searchsorted(differences[1:-1], max(limits) + float(ndtri(POWER)) * math.sqrt(errors))) + 1
    while step > 1 and power(differences[step - 1]) >= POWER:
        step -= 1
    while step < differences.size - 1 and power(differences[step]) < POWER:
        step += 1
    around = slice(step - 1, step + 1)
    return Power(float(np.interp(POWER, [*map(power, differences[around])], differences[around])), least)


def power_of_d(
    tests: Sequence[Noise], *, within: float, sizes: tuple[int, int], variance: float | None = None
) -> Power | None:
    """The same as WEAT's d: in SDs of all scores together, which the difference itself makes larger.

    ``within`` is the variance of single scores within the groups, of which there are ``sizes``.

    >>> round(power_of_d([Noise(2 / 8, 14)], within=1.0, sizes=(8, 8)).effect, 2)
    1.2
    """
    power = power_of_difference(tests, variance=variance)
    if power is None or not power.effect:
        return power
    n_1, n_2 = sizes
    total = within + power.effect**2 * n_1 * n_2 / (n_1 + n_2) ** 2
    return dataclasses.replace(power, effect=power.effect / math.sqrt(total))


def check_level(level: float, resamples: int = RESAMPLES) -> None:
    """Refuse what no interval can be made at or from."""
    if not 0 < level < 1:
        raise BadInput(f"the level of an interval lies between 0 and 1, such as .95, not {level}")
    if resamples < 2:
        raise BadInput(f"a bootstrap needs at least 2 resamples, not {resamples}")
