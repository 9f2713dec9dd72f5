"""A reading as every view shows it: its title among others, its number, its verdict, and what drives it."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from tiltmeter.readings import ALPHA, Audit, Estimate, Poles, Reading, Verdict, p_number

#: Published numbers that differ by less are the same.
_SAME = 0.005


class Bar(NamedTuple):
    """Where the interval begins and ends and the point stands, in percent of a track with level in its middle."""

    low: float
    high: float
    at: float


@dataclasses.dataclass(frozen=True, slots=True)
class ReadingRow:
    """One reading, and its title among the readings shown with it."""

    reading: Reading
    title: str
    #: Judged once: a view looks at it many times.
    verdict: Verdict = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "verdict", self.reading.verdict)

    @property
    def clear(self) -> bool:
        return self.verdict.clear

    @property
    def tested(self) -> bool:
        return self.verdict.state != "untested"

    @property
    def value(self) -> str:
        return str(self.reading.effect)

    @property
    def leans(self) -> str:
        return self.reading.leans

    @property
    def says(self) -> str:
        """The reading in half a line, as a mark of a chart says it."""
        effect = self.reading.effect
        return f"{self.reading.model}, {self.title}: {effect.name} {self.value}; {self.leans or effect.better}"

    @property
    def p(self) -> str | None:
        return _p(self.verdict.p_corrected)

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
    def differs(self) -> bool:
        """Whether it says something else as published: a different number, or a test with a different outcome."""
        published, effect = self.reading.published, self.reading.effect
        if published is None:
            return False
        outcomes = {p <= ALPHA for p in (published.p_value, effect.p_value) if p is not None}
        return abs(published.value - effect.value) >= _SAME or len(outcomes) > 1


def reading_rows(readings: Sequence[Reading]) -> list[ReadingRow]:
    """One row per reading."""
    return list(map(ReadingRow, readings, shown_titles(readings)))


def rows_by_model(audit: Audit) -> dict[str, list[ReadingRow]]:
    """The rows of every model of an audit."""
    rows = reading_rows(audit.readings)
    return {name: [row for row in rows if row.reading.model == name] for name in audit.models}


class Titled(Protocol):
    """A reading, or what became of one in a comparison."""

    @property
    def id(self) -> str: ...
    @property
    def title(self) -> str: ...


def shown_titles(readings: Sequence[Titled]) -> list[str]:
    """Titles under which no two tests are the same: one that several share is followed by the test's id.

    It is so on every model, though a model may lack all of them but one: rows of a table are matched by these titles.
    """
    often = Counter(title for title, _ in {(reading.title, reading.id) for reading in readings})
    return [r.title if often[r.title] == 1 else f"{r.title} ({r.id})" for r in readings]


def first_leans(poles: Poles) -> tuple[str, str]:
    """The two ends of a scale, of two groups the first alone: the other leans the other way.

    >>> first_leans(Poles.crossed(("men", "women"), ("work", "home")))
    ('women → work', 'men → work')
    """
    low, high = (next(iter(poles.leans(side)), "") for side in (-1, 1))
    return str(low), str(high)


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


def _p(value: float | None) -> str | None:
    return None if value is None else p_number(value)
