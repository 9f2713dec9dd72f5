"""The items of a reading as numbers: what was scored, which unit it belongs to, and its scores."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiltmeter.statistics.groups import Floats

Item = Mapping[str, Any]
#: Columns that say which item it is; others depend on the model.
_NAMES = ("word", "occupation", "target", "text", "sentence", "other", "structure", "stereotype", "anti_stereotype")


@dataclasses.dataclass(frozen=True, slots=True)
class Table:
    """One row a scored item. Units are what is resampled, within their stratum; several rows may share one.

    ``index`` is the number of each row's unit, ``unit_strata`` the stratum of each unit.
    """

    keys: tuple[Hashable, ...]
    units: tuple[tuple[Hashable, Hashable], ...]
    scores: Floats
    index: NDArray[np.intp]
    unit_strata: tuple[Hashable, ...]

    @classmethod
    def of(cls, keys: Sequence[Hashable], units: Sequence[tuple[Hashable, Hashable]], scores: Floats) -> Table:
        """A table of rows; ``units`` are (stratum, name)."""
        order: dict[tuple[Hashable, Hashable], int] = {}
        index = np.array([order.setdefault(unit, len(order)) for unit in units], dtype=np.intp)
        return cls(tuple(keys), tuple(units), scores, index, tuple(stratum for stratum, _ in order))

    def at(self, keys: Sequence[Hashable]) -> Table:
        """The rows of these keys, in their order."""
        if tuple(keys) == self.keys:
            return self
        place = {key: i for i, key in enumerate(self.keys)}
        chosen = [place[key] for key in keys]
        return Table.of(keys, [self.units[i] for i in chosen], self.scores[chosen])

    def with_scores(self, scores: Floats) -> Table:
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
    items: Iterable[Item],
    scores: Callable[[Item], tuple[float, ...] | None],
    *,
    unit: str | None = "word",
    stratum: str | None = None,
) -> Table | None:
    """The items that have scores; without ``unit`` each is its own. None where there are none.

    >>> table = make_table([{"word": "he", "lean": 0.5}, {"word": "she", "lean": None}], lambda item: (item["lean"],)
    ...     if item["lean"] is not None else None)
    >>> table.units, table.scores.tolist()
    ((('', 'he'),), [[0.5]])
    """
    seen: Counter[Hashable] = Counter()
    keys, units, rows = [], [], []
    names: list[str] | None = None
    for item in items:
        found = scores(item)
        if found is None:
            continue
        if names is None:
            names = [column for column in _NAMES if column in item]
        group = item[stratum] if stratum else ""
        name = (group, *[item[column] for column in names])
        key = (*name, seen[name])  # the same sentence may stand in a list twice
        seen[name] += 1
        keys.append(key)
        units.append((group, item[unit] if unit else key))
        rows.append(found)
    return Table.of(keys, units, np.array(rows, dtype=np.float64)) if rows else None
