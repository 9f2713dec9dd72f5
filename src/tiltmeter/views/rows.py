"""A reading as every view shows it: title, number and lean in the light of all tests of an audit, and its units."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import NamedTuple

from tiltmeter.readings import ALPHA, Audit, Estimate, Reading, p_number
from tiltmeter.readings.reading import NO_CLEAR_LEAN

#: Units named at each end.
_NAMED = 5
#: Published numbers that differ by less are the same.
_SAME = 0.005


class Bar(NamedTuple):
    """Where the interval begins and ends and the point stands, in percent of a track with level in its middle."""

    low: float
    high: float
    at: float


class UnitValue(NamedTuple):
    """A unit within a group; ``n`` items of the reading are behind its mean value."""

    label: str
    group: str
    value: float
    n: int


class UnitValues(NamedTuple):
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


@dataclasses.dataclass(frozen=True, slots=True)
class ReadingRow:
    """One reading, its title among the readings shown with it, and its p-value corrected for the tests of its model."""

    reading: Reading
    title: str
    p_adjusted: float | None

    @property
    def clear(self) -> bool:
        """Whether its lean may be named; a reading without a test has said itself whether it is clear."""
        return self.p_adjusted is None or self.p_adjusted <= ALPHA

    @property
    def tested(self) -> bool:
        return self.p_adjusted is not None

    @property
    def value(self) -> str:
        return value_text(self.reading.effect)

    @property
    def leans(self) -> str:
        return self.reading.leans if self.clear else NO_CLEAR_LEAN

    @property
    def sentence(self) -> str:
        """The reading in plain words, in the light of all the tests it was one of."""
        p = self.reading.effect.p_value
        if p is None or p > ALPHA or self.clear:
            return self.reading.plain_words
        after = f"It is not statistically significant after Holm's correction: {NO_CLEAR_LEAN}."
        return f"{self.reading.plain_words} {after}"

    @property
    def says(self) -> str:
        """The reading in half a line, as a mark of a chart says it."""
        effect = self.reading.effect
        return f"{self.reading.model}, {self.title}: {effect.name} {self.value}; {self.leans or effect.better}"

    @property
    def p(self) -> str | None:
        return _p(self.p_adjusted)

    @property
    def raw_p(self) -> str | None:
        return _p(self.reading.effect.p_value)

    @property
    def published_p(self) -> str | None:
        return _p(self.reading.published.p_value) if self.reading.published else None

    @property
    def size(self) -> float | None:
        return self.reading.effect.scale.as_d(self.reading.effect.value)

    @property
    def bar(self) -> Bar | None:
        return bar(self.reading.effect)

    @property
    def driving(self) -> tuple[str, tuple[tuple[UnitValue, ...], tuple[UnitValue, ...]]] | None:
        """What the values of the units mean, and the units at both ends; None where they have no number, or are few."""
        units = unit_values(self.reading)
        return None if units is None or len(units.rows) < 2 * _NAMED else (units.meaning, units.ends(_NAMED))

    @property
    def differs(self) -> bool:
        """Whether it says something else as published: another number, or a test with another outcome."""
        published, effect = self.reading.published, self.reading.effect
        if published is None:
            return False
        outcomes = {p <= ALPHA for p in (published.p_value, effect.p_value) if p is not None}
        return abs(published.value - effect.value) >= _SAME or len(outcomes) > 1


def reading_rows(readings: Sequence[Reading], adjusted: Sequence[float | None] | None = None) -> list[ReadingRow]:
    """One row per reading, under its own p-value where no adjusted ones are given."""
    p_values = [reading.effect.p_value for reading in readings] if adjusted is None else adjusted
    return [ReadingRow(*row) for row in zip(readings, shown_titles(readings), p_values, strict=True)]


def rows_by_model(audit: Audit) -> dict[str, list[ReadingRow]]:
    """The rows of every model of an audit, their p-values corrected for the tests of each."""
    rows = reading_rows(audit.readings, audit.adjusted())
    return {name: [row for row in rows if row.reading.model == name] for name in audit.models}


def shown_titles(readings: Sequence[Reading]) -> list[str]:
    """Titles under which no two readings of one model are the same."""
    often = Counter((reading.model, reading.title) for reading in readings)
    return [r.title if often[r.model, r.title] == 1 else f"{r.title} ({r.id})" for r in readings]


def value_text(effect: Estimate) -> str:
    """The number and its interval.

    >>> from tiltmeter.readings import D
    >>> value_text(Estimate("effect size d", 1.234, D))
    '1.23'
    """
    digits = 2 if abs(effect.value) >= 0.1 or effect.value == 0 else 3
    interval = f" [{effect.ci.low:.{digits}f}, {effect.ci.high:.{digits}f}]" if effect.ci else ""
    return f"{effect.value:.{digits}f}{interval}"


def bar(effect: Estimate) -> Bar | None:
    """The place of an effect on a track from the most it can lean one way to the most the other way.

    >>> from tiltmeter.readings import SHARE
    >>> from tiltmeter.statistics import Interval
    >>> bar(Estimate("share to men", 0.75, SHARE, Interval(0.5, 1.0, 0.95, "Wilson")))
    Bar(low=50.0, high=100.0, at=75.0)
    """
    reach = effect.scale.reach
    if reach is None or effect.ci is None:
        return None
    places = (50 + 50 * (value - effect.level) / reach for value in (effect.ci.low, effect.ci.high, effect.value))
    return Bar(*(round(min(100.0, max(0.0, place)), 1) for place in places))


def unit_values(reading: Reading) -> UnitValues | None:
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


def _p(value: float | None) -> str | None:
    return None if value is None else p_number(value)
