"""Has a statistic changed between two measurements of the same units?

The same words, sentences or occupations were scored twice. What the units have in common cancels out of the
difference; what is left, how much single units disagree, is the noise that a real change has to stand out from.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Hashable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tiltmeter.errors import BadInput
from tiltmeter.statistics.groups import Floats, Result
from tiltmeter.statistics.intervals import Interval

#: Rows of weights, one weight a unit, to the statistic of each row.
Weighted = Callable[[Floats], Floats]

_STEP = 1e-3
#: A standard error or difference below this is rounding: scores come from vectors of single precision.
_ROUNDING = 1e-6
_BATCH = 4_000_000
#: How often a change that counts as findable is found.
_POWER = 0.8


@dataclasses.dataclass(frozen=True, slots=True)
class Change(Result):
    """A difference, second minus first, with its standard error; ``df`` None stands for a normal distribution."""

    difference: float
    standard_error: float
    df: float | None
    n: int | None

    def p_value(self, value: float, *, sided: Literal["two-sided", "greater"] = "two-sided") -> float:
        """How often noise alone gives a value (of the difference, or one with its standard error) as far from 0.

        >>> round(Change(0.5, 0.2, 10, 12).p_value(0.5), 4)
        0.0314
        """
        if self.standard_error == 0:
            return self._without_noise(value, sided)
        tail = _tail(value / self.standard_error, self.df)
        return tail if sided == "greater" else min(1.0, 2 * min(tail, 1 - tail))

    def _without_noise(self, value: float, sided: str) -> float:
        """All units agree: no rarer than all of them falling on one side by chance."""
        if value == 0 or (sided == "greater" and value < 0):
            return 1.0
        return min(1.0, (1.0 if sided == "greater" else 2.0) * 0.5 ** (self.n or 1))

    def reach(self, tail: float) -> float:
        """How far noise reaches with this chance of going beyond, on one side."""
        return self.standard_error * _quantile(1 - tail, self.df)

    def findable(self, tail: float) -> float | None:
        """The smallest change that a one-sided test at this level finds 8 times in 10; None where it finds none.

        The noise stays as it is, so the test statistic of a change of c has a noncentral t distribution around
        c / standard error.

        >>> round(Change(0.1, 0.2, None, None).findable(0.05), 4)  # .2 (1.6449 + .8416)
        0.4973
        >>> Change(0.0, 0.0, 3.0, 4).findable(0.05)  # of four units the smallest p is 1/16
        """
        from scipy.special import nctdtrinc, ndtri

        if self.standard_error == 0:
            return 0.0 if self._without_noise(1.0, "greater") <= tail else None
        least = _quantile(1 - tail, self.df)
        centre = least + ndtri(_POWER) if self.df is None else nctdtrinc(self.df, 1 - _POWER, least)
        return self.standard_error * float(centre)

    def interval(self, level: float = 0.95) -> Interval:
        """The two-sided interval of the difference."""
        reach = self.reach((1 - level) / 2)
        method = "normal" if self.df is None else f"Student's t, {self.df:.1f} degrees of freedom"
        return Interval(self.difference - reach, self.difference + reach, level, method)


def paired_change(
    first: Weighted,
    second: Weighted,
    *,
    strata: Sequence[Hashable],
    aligned: Weighted | None = None,
    leverage: Floats | None = None,
) -> Change | None:
    """The difference of a statistic between two measurements of the same units, resampled jointly, by linearisation.

    A unit's influence is what a little more weight on it does to the statistic. The variance of the difference is that
    of the differences of influence, units drawn anew within each stratum; the degrees of freedom are Satterthwaite's.
    ``aligned`` is the second measurement moved and scaled so that its statistic equals the first one's: the noise is
    then read under "nothing has changed", as a test should, and a change does not pass for noise; its scale costs one
    degree of freedom. ``leverage`` is how much each unit's score counts, where they do not count alike (a slope hangs
    on the units at its ends): few that count much are few to tell the noise from. None where the statistic does not
    exist for one of the two.

    >>> scores = np.array([[1.0, 2.0, 3.0, 4.0], [1.5, 2.6, 3.4, 4.5]])
    >>> means = [lambda weights, row=row: weights @ row / weights.sum(axis=1) for row in scores]
    >>> change = paired_change(*means, strata=[0, 0, 0, 0])
    >>> round(change.difference, 3), round(change.standard_error, 4), change.df
    (0.5, 0.0408, 3.0)
    """
    n = len(strata)
    whole = np.ones((1, n))
    values = [float(each(whole)[0]) for each in (first, second)]
    moved = influence(second if aligned is None else aligned, n) - influence(first, n)
    if not np.isfinite(moved).all() or not np.isfinite(values).all():
        return None
    variance, spread, units = 0.0, 0.0, 0
    for stratum in dict.fromkeys(strata):
        own = moved[[each == stratum for each in strata]]
        if own.size < 2:
            return None
        part = own.size * float(own.var(ddof=1))
        variance, spread, units = variance + part, spread + part**2 / (own.size - 1), units + own.size - 1
    lost = 0 if aligned is None else 1
    if units <= lost:
        return None
    difference = values[1] - values[0]
    size = _ROUNDING * max(1.0, *map(abs, values))
    error = math.sqrt(variance * units / (units - lost))
    if error <= size:
        return Change(0.0 if abs(difference) <= size else difference, 0.0, float(units - lost), n)
    df = variance**2 / spread
    if leverage is not None:
        df = min(df, float((leverage**2).sum() ** 2 / (leverage**4).sum()))
    return Change(difference, error, max(1.0, df - lost), n)


def independent_change(first: tuple[float, Interval], second: tuple[float, Interval]) -> Change:
    """The difference of two values whose intervals are known and nothing else: as if nothing were shared.

    Two measurements that go together differ by less, so this is on the safe side for them.

    >>> one, two = (0.1, Interval(0.0, 0.2, 0.95, "")), (0.5, Interval(0.4, 0.6, 0.95, ""))
    >>> round(independent_change(one, two).standard_error, 4)
    0.0722
    """
    errors = [(ci.high - ci.low) / (2 * _quantile((1 + ci.level) / 2, None)) for _, ci in (first, second)]
    return Change(second[0] - first[0], math.hypot(*errors), None, None)


def influence(statistic: Weighted, n: int) -> Floats:
    """What a little more weight on each of n units does to a statistic."""
    influences = np.empty(n)
    rows = max(1, _BATCH // max(n, 1))
    for start in range(0, n, rows):
        chosen = np.arange(start, min(start + rows, n))
        up, down = np.ones((2, chosen.size, n))
        up[np.arange(chosen.size), chosen] += _STEP
        down[np.arange(chosen.size), chosen] -= _STEP
        influences[chosen] = (statistic(up) - statistic(down)) / (2 * _STEP)
    return influences


def align(second: Floats, first: Floats, design: Floats, weights: Floats) -> Floats:
    """The second scores with the first ones' fit on a design and the first ones' spread around it.

    Rows are scored items, columns scores; every statistic of fit and spread, such as d or r, is then the first one's.

    >>> groups = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> first, second = np.array([[1.0], [2.0], [0.0], [1.0]]), np.array([[5.0], [7.0], [1.0], [3.0]])
    >>> align(second, first, groups, np.ones(4)).ravel().round(9).tolist()
    [1.0, 2.0, 0.0, 1.0]
    """
    root = np.sqrt(weights)[:, None]

    def fitted(scores: Floats) -> Floats:
        coefficients, *_ = np.linalg.lstsq(design * root, scores * root, rcond=None)
        fit: Floats = design @ coefficients
        return fit

    fits = fitted(first), fitted(second)
    spreads = [float((root**2 * (scores - fit) ** 2).sum()) for scores, fit in zip((first, second), fits, strict=True)]
    if spreads[1] <= 0:
        raise BadInput("the scores do not vary, so two measurements of them cannot be compared")
    aligned: Floats = fits[0] + (second - fits[1]) * math.sqrt(spreads[0] / spreads[1])
    return aligned


def holm_bounds(p_values: NDArray[np.float64], alpha: float) -> Floats:
    """For each test the chance of error that Holm's method allows it: a test is passed where p is at most that.

    >>> holm_bounds(np.array([0.9, 0.001]), 0.05).tolist()
    [0.05, 0.025]
    """
    allowed = np.empty(p_values.size)
    step = alpha / max(p_values.size, 1)
    going = True
    for place, which in enumerate(np.argsort(p_values, kind="stable")):
        if going:
            step = alpha / (p_values.size - place)
            going = bool(p_values[which] <= step)
        allowed[which] = step
    return allowed


def _tail(t: float, df: float | None) -> float:
    from scipy.special import ndtr, stdtr

    return float(ndtr(-t)) if df is None else float(stdtr(df, -t))


def _quantile(share: float, df: float | None) -> float:
    from scipy.special import ndtri, stdtrit

    return float(ndtri(share)) if df is None else float(stdtrit(df, share))
