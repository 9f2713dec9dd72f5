"""What stands behind a reading: one number for each unit, a word or a sentence, whichever probe it comes from."""

from __future__ import annotations

import dataclasses
from statistics import fmean

from tiltmeter.readings import Reading


@dataclasses.dataclass(frozen=True, slots=True)
class UnitValue:
    """A unit within a group; ``n`` items of the reading are behind its mean value."""

    label: str
    group: str
    value: float
    n: int


@dataclasses.dataclass(frozen=True, slots=True)
class UnitValues:
    """The units of a reading from the highest value to the lowest, what the value is, and what its signs say."""

    name: str
    signs: str
    rows: tuple[UnitValue, ...]

    @property
    def meaning(self) -> str:
        return f"{self.name}; {self.signs}" if self.signs else self.name

    def ends(self, n: int) -> tuple[tuple[UnitValue, ...], tuple[UnitValue, ...]]:
        """The units at both ends, the outermost first, none of them twice."""
        n = min(n, len(self.rows) // 2)
        return self.rows[:n], self.rows[::-1][:n]


def item_values(reading: Reading) -> UnitValues | None:
    """The units with one number each, the mean of their items; None where items have no number."""
    meaning = reading.item_meaning
    by_unit: dict[tuple[str, str], list[float]] = {}
    for item in reading.items:
        if item.value is not None:
            by_unit.setdefault((item.unit, item.group), []).append(item.value)
    if meaning is None or not by_unit:
        return None
    rows = [UnitValue(unit, group, fmean(values), len(values)) for (unit, group), values in by_unit.items()]
    rows.sort(key=lambda row: (-row.value, row.label))
    poles = meaning.poles
    signs = f"positive: towards {poles.positive}, negative: towards {poles.negative}" if poles else ""
    return UnitValues(meaning.name, signs, tuple(rows))
