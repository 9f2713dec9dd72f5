"""Statistics of a table as functions of how much each unit weighs, so that units can be resampled."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

import numpy as np

from tiltmeter.compare.unit_tables import UnitTable
from tiltmeter.readings.reading import StatisticName
from tiltmeter.statistics.differences import Weighted, align
from tiltmeter.statistics.groups import Floats


def mean(table: UnitTable) -> Weighted:
    """The mean of all rows."""
    sums, sizes = table.sums(), table.sizes
    return lambda weights: (weights @ sums) / (weights @ sizes)


def mean_of_units(table: UnitTable) -> Weighted:
    """The mean of the units' means: each counts once."""
    means = table.means()
    return lambda weights: (weights @ means) / weights.sum(axis=1)


def mean_over_sd(table: UnitTable) -> Weighted:
    """The mean of the units' means in SDs of them."""
    means, spread = table.means(), sd(table)
    return lambda weights: (weights @ means) / weights.sum(axis=1) / spread(weights)


def sd(table: UnitTable) -> Weighted:
    """The SD of the units' means (ddof = 1)."""
    values = table.means()
    values = values - values.mean()

    def of(weights: Floats) -> Floats:
        n = weights.sum(axis=1)
        centre = (weights @ values) / n
        spread: Floats = np.sqrt(np.maximum((weights @ values**2) / n - centre**2, 0) * n / (n - 1))
        return spread

    return of


def d_of_rows(table: UnitTable) -> Weighted:
    """WEAT's d between the first and the second stratum, words being the units and sentences the scores."""
    return _d(table, table.sums(power=2) / table.sizes, table.sizes)


def d_of_units(table: UnitTable) -> Weighted:
    """The same with one score a unit, its mean."""
    means = table.means()
    return _d(table, means**2, np.ones(means.size))


def _d(table: UnitTable, squares: Floats, sizes: Floats) -> Weighted:
    means = table.means()
    centre = means.mean()  # squares of large, close scores would lose their digits
    squares = np.maximum(squares - means**2, 0) + (means - centre) ** 2
    means = means - centre
    strata = table.unit_strata
    first = np.array([stratum == strata[0] for stratum in strata])

    def of(weights: Floats) -> Floats:
        one, two = weights * first, weights * ~first
        gap = (one @ means) / one.sum(axis=1) - (two @ means) / two.sum(axis=1)
        n, rows = weights.sum(axis=1), weights @ sizes
        variance = (weights @ squares) / n - ((weights @ means) / n) ** 2
        d: Floats = gap / np.sqrt(variance * rows / (rows - 1))
        return d

    return of


def eta(table: UnitTable) -> Weighted:
    """The SD between strata over the SD of all units, scores of several columns taken together."""
    columns = np.stack([table.means(i) for i in range(table.scores.shape[1])], axis=1)
    columns = columns - columns.mean(axis=0)
    strata = table.unit_strata
    members = [np.array([stratum == one for stratum in strata]) for one in dict.fromkeys(strata)]

    def of(weights: Floats) -> Floats:
        n = weights.sum(axis=1)
        centre = (weights @ columns) / n[:, None]
        total = (weights @ columns**2).sum(axis=1) - n * (centre**2).sum(axis=1)
        between = np.zeros(len(weights))
        for member in members:
            size = (weights * member).sum(axis=1)
            middle = ((weights * member) @ columns) / size[:, None]
            between += size * ((middle - centre) ** 2).sum(axis=1)
        ratio: Floats = np.sqrt(between / total)
        return ratio

    return of


def pearson(table: UnitTable) -> Weighted:
    """Pearson's r of the first and the second score."""
    x, y = (table.means(i) - table.means(i).mean() for i in (0, 1))

    def of(weights: Floats) -> Floats:
        return _r(weights, np.broadcast_to(x, weights.shape), np.broadcast_to(y, weights.shape))

    return of


def spearman(table: UnitTable) -> Weighted:
    """Spearman's rho of the first and the second score."""
    below = [_below(table.means(i)) for i in (0, 1)]
    # A unit's rank is the weight of the units below it: with equal weights the ordinary one.
    return lambda weights: _r(weights, weights @ below[0].T, weights @ below[1].T)


def _below(values: Floats) -> Floats:
    """For each unit (row) which ones lie below it, ties counting half."""
    below: Floats = (values[None, :] < values[:, None]) + 0.5 * (values[None, :] == values[:, None])
    return below


def _r(weights: Floats, x: Floats, y: Floats) -> Floats:
    n = weights.sum(axis=1, keepdims=True)
    x = x - (weights * x).sum(axis=1, keepdims=True) / n
    y = y - (weights * y).sum(axis=1, keepdims=True) / n
    squares = (weights * x**2).sum(axis=1) * (weights * y**2).sum(axis=1)
    r: Floats = (weights * x * y).sum(axis=1) / np.sqrt(squares)
    return r


def divergence(table: UnitTable) -> Weighted:
    """KL of the units' shares from even shares."""
    from scipy.special import xlogy

    shares = table.means()
    entropies = xlogy(shares, shares)

    def of(weights: Floats) -> Floats:
        total = weights @ shares
        kl: Floats = (weights @ entropies) / total - np.log(total) + np.log(weights.sum(axis=1))
        return kl

    return of


@dataclasses.dataclass(frozen=True, slots=True)
class WeightedForm:
    """A statistic of a table. ``design`` says what of the scores it is about (groups, a line, a mean), the rest being
    the spread that it is measured by; None where it is measured by itself.
    """

    weigh: Callable[[UnitTable], Weighted]
    design: Callable[[UnitTable], Floats] | None = None

    def value(self, table: UnitTable) -> float:
        """The statistic itself, every unit weighing the same."""
        with np.errstate(all="ignore"):
            return float(self.weigh(table)(np.ones((1, len(table.unit_strata))))[0])

    def aligned(self, second: UnitTable, first: UnitTable) -> Weighted | None:
        """The statistic of the second table once the first one's effect is imposed on it; None where it has no design.

        A property that the scores are related to must be the same in both: it belongs to the words, not to a model.
        """
        if self.design is None:
            return None
        fixed = 1 if self.design is _line else first.scores.shape[1]
        if not np.array_equal(first.scores[:, fixed:], second.scores[:, fixed:]):
            return None
        moved = align(second.scores[:, :fixed], first.scores[:, :fixed], self.design(first), first.row_weights)
        return self.weigh(second.with_scores(np.concatenate([moved, second.scores[:, fixed:]], axis=1)))

    def leverage(self, table: UnitTable) -> Floats | None:
        """How much each unit's score counts for the effect; None where all count alike."""
        if self.design is not _line:
            return None
        fact = table.means(1)
        from_mean: Floats = fact - fact.mean()
        return from_mean


def _groups(table: UnitTable) -> Floats:
    names = list(dict.fromkeys(table.unit_strata))
    of_units = np.array([[float(stratum == name) for name in names] for stratum in table.unit_strata])
    return of_units[table.index]


def _line(table: UnitTable) -> Floats:
    return np.stack([np.ones(len(table.scores)), table.scores[:, 1]], axis=1)


def _level(table: UnitTable) -> Floats:
    return np.ones((len(table.scores), 1))


#: What a reading calls its statistic.
FORMS: Mapping[StatisticName, WeightedForm] = {
    "mean": WeightedForm(mean),
    "mean of units": WeightedForm(mean_of_units),
    "sd of units": WeightedForm(sd),
    "d of rows": WeightedForm(d_of_rows, _groups),
    "d of units": WeightedForm(d_of_units, _groups),
    "eta": WeightedForm(eta, _groups),
    "pearson": WeightedForm(pearson, _line),
    "spearman": WeightedForm(spearman),
    "kl from even": WeightedForm(divergence),
}
#: What a share counts the signs of, in SDs between units.
MARGINS = WeightedForm(mean_over_sd, _level)
