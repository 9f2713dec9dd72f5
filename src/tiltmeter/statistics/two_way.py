"""A mean over two lists at once: words, and the pairs or the words of two poles along which they are measured.

Words laid along any direction have some mean there, and an interval over words says only how well it is known.
Whether it is a lean is a question to other pairs too: he and she are a sample of what could have been asked. So the
variance of the mean is that between words plus that between pairs, less what single cells have of their own, which both
hold (Cameron, Gelbach & Miller 2011). The larger of a test by words and one by pairs would not quite do: where both
lists vary it finds a lean half again too often (``benchmarks/nulls_directions.py``).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np

from tiltmeter.statistics.families import Labels, Spread, interaction, spread_of_mean, student_test
from tiltmeter.statistics.groups import Floats, Noise, Power, Result, power_of_difference
from tiltmeter.statistics.intervals import Interval

_LEVEL = 0.95
#: A correlation is never so perfect that it leaves less than this share of the variance.
_LEAST_REST = 1e-12


@dataclasses.dataclass(frozen=True, slots=True)
class TwoWay(Result):
    """A mean that is to hold for other words and for other pairs (or words of the poles).

    ``p_value`` and ``ci`` count both and agree: p is at most .05 where the interval leaves 0 out. ``by_words`` and
    ``by_others`` are the p-values with the other list taken for fixed; ``by_others`` is None where there is one pair,
    or one word at a pole, and nothing can be said of others. ``families`` is how many independent words the list is
    worth, and how many independent pairs, or words of either pole. ``power`` is the smallest value that would have been
    found 8 times in 10.
    """

    value: float
    p_value: float
    ci: Interval
    by_words: float
    by_others: float | None
    families: tuple[int, ...]
    power: Power | None


def mean_of_table(table: Floats, words: Labels, pairs: Labels, *, bound: float) -> TwoWay:
    """The mean of a table with a row for each word and a column for each pair: is it 0?

    Args:
        table: what every word has along every pair.
        words, pairs: the family of every row and of every column.
        bound: what the mean cannot exceed; the interval where all words or all pairs are of one family.

    >>> table = np.array([[3.0, 2.0, 4.0], [1.0, 1.0, 2.0], [2.0, 3.0, 2.0], [2.0, 2.0, 4.0]])
    >>> found = mean_of_table(table, np.arange(4), np.arange(3), bound=9.0)
    >>> round(found.value, 3), round(found.p_value, 4), round(found.by_words, 4)
    (2.333, 0.0198, 0.0075)
    """
    return over_both(spread_of_mean(table.mean(axis=1), words), *pair_spreads(table, words, pairs), bound=bound)


def difference_of_poles(table: Floats, words: Labels, first: Labels, second: Labels, *, bound: float) -> TwoWay:
    """The mean of a table's first columns, one for each word of the first pole, less that of the others: is it 0?

    >>> table = np.array([[0.9, 0.8, 0.1, 0.2], [0.7, 0.9, 0.2, 0.1], [0.6, 0.9, 0.1, 0.3]])
    >>> found = difference_of_poles(table, np.arange(3), np.arange(2), np.arange(2), bound=2.0)
    >>> round(found.value, 3), round(found.p_value, 4)
    (0.633, 0.0317)
    """
    leans = table[:, : first.size].mean(axis=1) - table[:, first.size :].mean(axis=1)
    return over_both(spread_of_mean(leans, words), *pole_spreads(table, words, first, second), bound=bound)


def pair_spreads(table: Floats, words: Labels, pairs: Labels) -> tuple[list[Spread], float]:
    """The spread of a table's mean over its columns, one for each pair, and the variance that it shares with the rows'.

    None where there is a single pair.
    """
    if table.shape[1] < 2:
        return [], 0.0
    return [spread_of_mean(table.mean(axis=0), pairs)], interaction(table, words, pairs)


def pole_spreads(table: Floats, words: Labels, first: Labels, second: Labels) -> tuple[list[Spread], float]:
    """The spread of each pole's mean over its words, and the variance that both hold with the spread over rows.

    None where a pole has a single word.
    """
    if min(first.size, second.size) < 2:
        return [], 0.0
    poles = ((table[:, : first.size], first), (table[:, first.size :], second))
    spreads = [spread_of_mean(part.mean(axis=0), labels) for part, labels in poles]
    return spreads, sum(interaction(part, words, labels) for part, labels in poles)


def over_both(words: Spread, others: Sequence[Spread] = (), shared: float = 0.0, *, bound: float) -> TwoWay:
    """Student's t test and interval of a mean with these spreads; ``shared`` is the variance that both sides hold.

    With few pairs the variance over both can come out too small by chance: p is never below that of one side alone, nor
    the interval narrower.
    """
    sides = [words]
    if others:
        alone, both = _sum(words.mean, others), _sum(words.mean, [words, *others])
        variance = max(both.variance - shared, words.variance, alone.variance)
        sides = [words, alone, both._replace(variance=variance)]
    p_values = [student_test(side.mean, side.variance, side.df, "two-sided").p_value for side in sides]
    intervals = [student_interval(side, lowest=-bound, highest=bound) for side in sides]
    return TwoWay(
        words.mean,
        max(p_values),
        max(intervals, key=lambda interval: interval.high - interval.low),
        p_values[0],
        p_values[1] if others else None,
        (words.families, *(spread.families for spread in others)),
        _power(sides[-1]),
    )


def _power(side: Spread) -> Power | None:
    """Of a variance that cannot be known nothing is significant; an SD of few is on average too small by 1 / 4 df."""
    if not math.isfinite(side.variance):
        return Power(None, 1.0)
    return power_of_difference([Noise(side.variance * (1 + 1 / (4 * side.df)) ** 2, side.df)])


def student_interval(mean: Spread, *, lowest: float, highest: float) -> Interval:
    """mean +- t SE, within what is possible; all of that where the variance cannot be known.

    >>> interval = student_interval(Spread(0.5, 0.01, 10, 11), lowest=0.0, highest=0.7)
    >>> round(interval.low, 4), interval.high
    (0.2772, 0.7)
    """
    from scipy.special import stdtrit

    if not math.isfinite(mean.variance):
        return Interval(lowest, highest, _LEVEL, "not estimable: one family of words")
    reach = float(stdtrit(mean.df, (1 + _LEVEL) / 2)) * math.sqrt(mean.variance)
    return Interval(max(lowest, mean.mean - reach), min(highest, mean.mean + reach), _LEVEL, "Student's t by family")


def slope_spread(x: Floats, y: Floats, families: Labels) -> Spread:
    """The slope of y on x, and its variance with residuals that are alike within families.

    Residuals are summed by family before they are squared, corrected for what the fit took from them, and the degrees
    of freedom are Satterthwaite's (Bell & McCaffrey 2002): with few families the plain form is far too sure.

    >>> found = slope_spread(np.array([0.0, 1.0, 2.0, 3.0]), np.array([0.0, 1.0, 1.0, 3.0]), np.arange(4))
    >>> round(found.mean, 3), found.families
    (0.9, 4)
    """
    n, k = x.size, int(families.max()) + 1
    design = np.stack([np.ones(n), x - x.mean()], axis=1)
    # The two columns are orthogonal, so the inverse of their cross product is a division.
    weights = design / (design**2).sum(axis=0)
    residual_maker = np.eye(n) - weights @ design.T
    slope, residuals = float(weights[:, 1] @ y), residual_maker @ y
    if k < 3:
        return Spread(slope, math.inf, 1.0, k)
    parts = np.empty((n, k))
    for family in range(k):
        inside = np.flatnonzero(families == family)
        sizes, axes = np.linalg.eigh(residual_maker[np.ix_(inside, inside)])
        root = np.where(sizes > 1e-9, 1 / np.sqrt(np.maximum(sizes, 1e-9)), 0.0)
        parts[:, family] = residual_maker[:, inside] @ (axes @ (root * (axes.T @ weights[inside, 1])))
    eigenvalues = np.linalg.eigvalsh(parts.T @ parts)
    df = float(eigenvalues.sum() ** 2 / (eigenvalues**2).sum())
    return Spread(slope, float(((parts.T @ residuals) ** 2).sum()), max(df, 0.5), k)


def correlation_over_both(
    x: Floats, y: Floats, families: Labels, others: Sequence[Spread] = (), shared: float = 0.0
) -> TwoWay:
    """Pearson's r of x and y, whose values come in families; ``others`` and ``shared`` are those of the slope.

    p is that of the slope of y on x. The interval is Fisher's, z = artanh(r) +- t SE, its variance 1 / (n - 3) as many
    times larger as that of the slope is than it would be with independent words and fixed attributes; so is the power.

    >>> found = correlation_over_both(np.arange(6.0), np.array([0.0, 2.0, 1.0, 3.0, 5.0, 4.0]), np.arange(6))
    >>> round(found.value, 3), round(found.p_value, 3), found.ci.low < found.value < found.ci.high
    (0.886, 0.041, True)
    """
    n, r = x.size, float(np.corrcoef(x, y)[0, 1])
    rest = max(1 - r**2, _LEAST_REST)
    usual = rest * float(y.var() / x.var()) / (n - 2)
    scale = 1 / (usual * max(n - 3, 1))
    slope = slope_spread(x, y, families)
    test = over_both(slope, others, shared, bound=math.inf)
    at_z = slope._replace(mean=math.atanh(math.copysign(math.sqrt(1 - rest), r)), variance=slope.variance * scale)
    widened = [spread._replace(variance=spread.variance * scale) for spread in others]
    of_z = over_both(at_z, widened, shared * scale, bound=math.inf)
    ci = Interval(math.tanh(of_z.ci.low), math.tanh(of_z.ci.high), _LEVEL, "Fisher z by family")
    return dataclasses.replace(test, value=r, ci=ci, power=of_z.power.z_to_r() if of_z.power else None)


def _sum(mean: float, spreads: Sequence[Spread]) -> Spread:
    """Independent parts of the spread of one mean, with Satterthwaite's degrees of freedom."""
    variance = sum(spread.variance for spread in spreads)
    if not math.isfinite(variance) or variance == 0:
        return Spread(mean, variance, 1.0, 0)
    df = variance**2 / sum(spread.variance**2 / spread.df for spread in spreads)
    return Spread(mean, variance, df, 0)
