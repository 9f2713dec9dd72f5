"""Items of a reading as numbers, and statistics of them as functions of how much each unit weighs, to be resampled."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tiltmeter.readings import Cell, Item
from tiltmeter.readings.reading import StatisticName
from tiltmeter.statistics.differences import Weighted, align
from tiltmeter.statistics.groups import Floats


@dataclasses.dataclass(frozen=True, slots=True)
class UnitTable:
    """One row per scored item. Units are what is resampled, within their stratum; several rows may share one.

    ``index`` is the number of each row's unit, ``unit_strata`` the stratum of each unit.
    """

    keys: tuple[Hashable, ...]
    units: tuple[tuple[Hashable, Hashable], ...]
    scores: Floats
    index: NDArray[np.intp]
    unit_strata: tuple[Hashable, ...]

    @classmethod
    def of(cls, keys: Sequence[Hashable], units: Sequence[tuple[Hashable, Hashable]], scores: Floats) -> UnitTable:
        """A table of rows; ``units`` are (stratum, name)."""
        order: dict[tuple[Hashable, Hashable], int] = {}
        index = np.array([order.setdefault(unit, len(order)) for unit in units], dtype=np.intp)
        return cls(tuple(keys), tuple(units), scores, index, tuple(stratum for stratum, _ in order))

    def at(self, keys: Sequence[Hashable]) -> UnitTable:
        """The rows of these keys, in their order."""
        if tuple(keys) == self.keys:
            return self
        place = {key: i for i, key in enumerate(self.keys)}
        chosen = [place[key] for key in keys]
        return UnitTable.of(keys, [self.units[i] for i in chosen], self.scores[chosen])

    @property
    def sizes(self) -> Floats:
        """How many rows each unit has."""
        return np.bincount(self.index).astype(np.float64)

    def sums(self, column: int = 0, *, power: int = 1) -> Floats:
        """Each unit's sum of a score, or of its square."""
        return np.bincount(self.index, self.scores[:, column] ** power).astype(np.float64)

    def means(self, column: int = 0) -> Floats:
        """Each unit's mean of a score."""
        return self.sums(column) / self.sizes

    @property
    def row_weights(self) -> Floats:
        """Weights of rows with which every unit counts once."""
        return 1 / self.sizes[self.index]


def make_table(
    items: Sequence[Item], columns: Sequence[str], *, strata: Sequence[str] = (), n_units: int | None = None
) -> UnitTable | None:
    """The items that have a number in all of the columns; None where there are none.

    ``strata`` are the groups within which units are resampled, in this order; items of other groups do not count.
    Without any, all items count and form one stratum. Where the reading counts as many units (``n_units``) as rows,
    every row is one, even where the same pair of sentences stands in a list twice.

    >>> table = make_table([Item("he", "he", "", 0.5), Item("she", "she", "", None)], ["value"])
    >>> table.units, table.scores.tolist()
    (((0, 'he'),), [[0.5]])
    """
    place = {group: n for n, group in enumerate(strata)}
    # The first stratum of the table is the first group, whatever the order of the items.
    chosen = [(place.get(item.group, 0), item) for item in items if not strata or item.group in place]
    chosen.sort(key=lambda row: row[0])
    seen: Counter[Hashable] = Counter()
    rows: dict[tuple[Hashable, ...], list[Cell]] = {}
    for stratum, item in chosen:
        scores = [item.get(column) for column in columns]
        if None not in scores:
            name = (stratum, item.label, item.unit)
            rows[*name, seen[name]] = scores  # the same sentence may stand in a list twice
            seen[name] += 1
    units = [(key[0], key if len(rows) == n_units else key[2]) for key in rows]
    return UnitTable.of(list(rows), units, np.array(list(rows.values()), dtype=np.float64)) if rows else None


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
    values = table.means() - table.means().mean()

    def of(weights: Floats) -> Floats:
        n = weights.sum(axis=1)
        variance: Floats = np.maximum((weights @ values**2) / n - ((weights @ values) / n) ** 2, 0) * n / (n - 1)
        return np.sqrt(variance)

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
    first = np.array([stratum == table.unit_strata[0] for stratum in table.unit_strata])

    def of(weights: Floats) -> Floats:
        one, two = weights * first, weights * ~first
        gap: Floats = (one @ means) / one.sum(axis=1) - (two @ means) / two.sum(axis=1)
        n, rows = weights.sum(axis=1), weights @ sizes
        variance: Floats = (weights @ squares) / n - ((weights @ means) / n) ** 2
        return gap / np.sqrt(variance * rows / (rows - 1))

    return of


def eta(table: UnitTable) -> Weighted:
    """The SD between strata over the SD of all units, scores of several columns taken together."""
    columns = np.stack([table.means(i) for i in range(table.scores.shape[1])], axis=1)
    columns = columns - columns.mean(axis=0)
    members = _members(table).T

    def of(weights: Floats) -> Floats:
        n = weights.sum(axis=1)
        centre = (weights @ columns) / n[:, None]
        total: Floats = (weights @ columns**2).sum(axis=1) - n * (centre**2).sum(axis=1)
        between = np.zeros(len(weights))
        for member in members:
            size = (weights * member).sum(axis=1)
            middle = ((weights * member) @ columns) / size[:, None]
            between += size * ((middle - centre) ** 2).sum(axis=1)
        return np.sqrt(between / total)

    return of


def pearson(table: UnitTable) -> Weighted:
    """Pearson's r of the first and the second score."""
    x, y = (table.means(i) - table.means(i).mean() for i in (0, 1))
    return lambda weights: _r(weights, x, y)


def spearman(table: UnitTable) -> Weighted:
    """Spearman's rho of the first and the second score."""
    scores = [table.means(i)[:, None] for i in (0, 1)]
    # For each unit (row) which ones lie below it, ties counting half.
    x, y = ((score > score.T) + 0.5 * (score == score.T) for score in scores)
    # A unit's rank is the weight of the units below it: with equal weights the ordinary one.
    return lambda weights: _r(weights, weights @ x.T, weights @ y.T)


def _r(weights: Floats, x: Floats, y: Floats) -> Floats:
    n = weights.sum(axis=1, keepdims=True)
    x, y = (each - (weights * each).sum(axis=1, keepdims=True) / n for each in (x, y))
    r: Floats = (weights * x * y).sum(axis=1) / np.sqrt((weights * x**2).sum(axis=1) * (weights * y**2).sum(axis=1))
    return r


def divergence(table: UnitTable) -> Weighted:
    """KL of the units' shares from even shares."""
    from scipy.special import xlogy

    shares = table.means()
    entropies = xlogy(shares, shares)
    return lambda weights: (
        (weights @ entropies) / (weights @ shares) - np.log(weights @ shares) + np.log(weights.sum(axis=1))
    )


@dataclasses.dataclass(frozen=True, slots=True)
class WeightedForm:
    """A statistic of a table. ``design`` says what of the scores it is about (groups, a line, a mean), the rest being
    the spread that it is measured by; None where it is measured by itself. ``most`` is the largest value that it can
    have, where its spread holds it down (d, r, eta).
    """

    weigh: Callable[[UnitTable], Weighted]
    design: Callable[[UnitTable], Floats] | None = None
    most: Callable[[UnitTable], float] | None = None

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
        scores = np.concatenate([moved, second.scores[:, fixed:]], axis=1)
        return self.weigh(dataclasses.replace(second, scores=scores))

    def leverage(self, table: UnitTable) -> Floats | None:
        """How much each unit's score counts for the effect; None where all count alike."""
        return table.means(1) - table.means(1).mean() if self.design is _line else None


def _members(table: UnitTable) -> Floats:
    """For each unit (row) 1 in the column of its stratum."""
    strata = list(dict.fromkeys(table.unit_strata))
    return np.array([[float(stratum == one) for one in strata] for stratum in table.unit_strata])


def _groups(table: UnitTable) -> Floats:
    return _members(table)[table.index]


def _line(table: UnitTable) -> Floats:
    return np.stack([np.ones(len(table.scores)), table.scores[:, 1]], axis=1)


def _level(table: UnitTable) -> Floats:
    return np.ones((len(table.scores), 1))


def _most_d(rows: Callable[[UnitTable], int]) -> Callable[[UnitTable], float]:
    """The largest d: that of two groups whose scores do not vary within them."""

    def most(table: UnitTable) -> float:
        n = len(table.unit_strata)
        first, scored = table.unit_strata.count(table.unit_strata[0]), rows(table)
        return math.sqrt((scored - 1) / scored * n**2 / (first * (n - first)))

    return most


def _one(_: UnitTable) -> float:
    return 1.0


#: What a reading calls its statistic.
FORMS: Mapping[StatisticName, WeightedForm] = {
    "mean": WeightedForm(mean),
    "mean of units": WeightedForm(mean_of_units),
    "sd of units": WeightedForm(sd),
    "d of rows": WeightedForm(d_of_rows, _groups, _most_d(lambda table: len(table.scores))),
    "d of units": WeightedForm(d_of_units, _groups, _most_d(lambda table: len(table.unit_strata))),
    "eta": WeightedForm(eta, _groups, _one),
    "pearson": WeightedForm(pearson, _line, _one),
    "spearman": WeightedForm(spearman, most=_one),
    "kl from even": WeightedForm(divergence),
}
#: The log-odds behind a share or a mean of chances, in SDs between units.
MARGINS = WeightedForm(mean_over_sd, _level)
