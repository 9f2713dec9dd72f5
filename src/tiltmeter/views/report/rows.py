"""Readings as rows of the report: the words and numbers that its templates show."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from tiltmeter.readings import ALPHA, Estimate, Reading, p_number
from tiltmeter.views.charts import has_own_charts
from tiltmeter.views.item_values import UnitValue, item_values
from tiltmeter.views.phrases import is_clear, sentence, shown_leans, shown_titles, value_text

#: Items named at each end.
_NAMED = 5
#: Published numbers that differ by less are the same.
_SAME = 0.005


@dataclasses.dataclass(frozen=True, slots=True)
class Bar:
    """Where the interval begins and ends and the point stands, in percent of a track with level in its middle."""

    low: float
    high: float
    at: float


@dataclasses.dataclass(frozen=True, slots=True)
class ReportRow:
    """One reading with its p-value in the light of all tests."""

    reading: Reading
    title: str
    p_adjusted: float | None

    @property
    def clear(self) -> bool:
        return is_clear(self.p_adjusted)

    @property
    def tested(self) -> bool:
        return self.p_adjusted is not None

    @property
    def value(self) -> str:
        return value_text(self.reading.effect)

    @property
    def sentence(self) -> str:
        return sentence(self.reading, self.p_adjusted)

    @property
    def leans(self) -> str:
        return shown_leans(self.reading, self.p_adjusted)

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
    def own_charts(self) -> bool:
        return has_own_charts(self.reading)

    @property
    def bar(self) -> Bar | None:
        return bar(self.reading.effect)

    @property
    def driving(self) -> tuple[str, list[tuple[UnitValue, ...]]] | None:
        """What the values of the items mean, and the items at both ends; None where they have no number."""
        units = item_values(self.reading)
        if units is None or len(units.rows) < 2 * _NAMED:
            return None
        return units.meaning, list(units.ends(_NAMED))


def report_rows(readings: Sequence[Reading], adjusted: Sequence[float | None]) -> list[ReportRow]:
    """One row per reading."""
    return [ReportRow(*row) for row in zip(readings, shown_titles(readings), adjusted, strict=True)]


def differing(rows: Sequence[ReportRow]) -> list[ReportRow]:
    """Readings that say something else as published: another number, or a test with another outcome."""
    return [row for row in rows if _differs(row.reading)]


def _differs(reading: Reading) -> bool:
    published, effect = reading.published, reading.effect
    if published is None:
        return False
    if abs(published.value - effect.value) >= _SAME:
        return True
    if published.p_value is None or effect.p_value is None:
        return False
    return (published.p_value <= ALPHA) != (effect.p_value <= ALPHA)


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

    def place(value: float) -> float:
        return round(min(100.0, max(0.0, 50 + 50 * (value - effect.level) / reach)), 1)

    return Bar(place(effect.ci.low), place(effect.ci.high), place(effect.value))


def _p(value: float | None) -> str | None:
    return None if value is None else p_number(value)
