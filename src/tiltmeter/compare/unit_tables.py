"""The items of a reading as numbers: what was scored, which unit it belongs to, and its scores."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from tiltmeter.readings import Cell, Item
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

    def with_scores(self, scores: Floats) -> UnitTable:
        return dataclasses.replace(self, scores=scores)

    @property
    def sizes(self) -> Floats:
        """How many rows each unit has."""
        return np.bincount(self.index).astype(np.float64)

    def sums(self, column: int = 0, *, power: int = 1) -> Floats:
        """Each unit's sum of a score, or of its square."""
        return np.bincount(self.index, self.scores[:, column] ** power).astype(np.float64)

    def means(self, column: int = 0) -> Floats:
        """Each unit's mean of a score."""
        means: Floats = self.sums(column) / self.sizes
        return means

    @property
    def row_weights(self) -> Floats:
        """Weights of rows with which every unit counts once."""
        weights: Floats = 1 / self.sizes[self.index]
        return weights


def make_table(
    items: Sequence[Item], columns: Sequence[str], *, strata: Sequence[str] = (), n_units: int | None = None
) -> UnitTable | None:
    """The items that have a number in all of the columns; None where there are none.

    Args:
        items: The rows of a reading.
        columns: What they are scored by.
        strata: Groups within which units are resampled, in this order; items of other groups do not count. Without
            any, all items count and form one stratum.
        n_units: How many units the reading counts. If it is the number of rows, every row is one, even where the same
            pair of sentences stands in a list twice.

    >>> table = make_table([Item("he", "he", "", 0.5), Item("she", "she", "", None)], ["value"])
    >>> table.units, table.scores.tolist()
    (((0, 'he'),), [[0.5]])
    """
    place = {group: n for n, group in enumerate(strata)}
    # The first stratum of the table is the first group, whatever the order of the items.
    chosen = [(place.get(item.group, 0), item) for item in items if not strata or item.group in place]
    chosen.sort(key=lambda row: row[0])
    seen: Counter[Hashable] = Counter()
    keys: list[tuple[Hashable, ...]] = []
    units: list[tuple[Hashable, Hashable]] = []
    rows: list[list[Cell]] = []
    for stratum, item in chosen:
        scores = [item.get(column) for column in columns]
        if None in scores:
            continue
        name = (stratum, item.label, item.unit)
        keys.append((*name, seen[name]))  # the same sentence may stand in a list twice
        seen[name] += 1
        units.append((stratum, item.unit))
        rows.append(scores)
    if len(rows) == n_units:
        units = [(key[0], key) for key in keys]
    return UnitTable.of(keys, units, np.array(rows, dtype=np.float64)) if rows else None
