"""An audit at a glance: for every dimension (gender, race, ...) and model the strongest verdict and its direction.

The terminal, the report, model cards, notebooks and the dashboard all show this grid first, and its words.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from tiltmeter.readings import STATES, Audit, Lean, Reading, State
from tiltmeter.views.rows import ReadingRow, reading_rows

#: Of readings that say of no dimension what they are about.
OTHER = "other"
#: A sign for every verdict, so that none is told by its colour alone: the fuller the circle, the surer the lean.
MARKS: Mapping[State, str] = {
    "clear": "●",
    "suggestive": "◐",
    "undecided": "○",
    "level": "=",
    "untested": "·",
    "works": "✓",
    "does not work": "✗",
}
_ORDER = list(STATES)
#: The verdicts on a control; of several controls on a model the last of these counts.
_CONTROLS: tuple[State, ...] = ("works", "undecided", "does not work")


@dataclasses.dataclass(frozen=True, slots=True)
class Square:
    """The bias readings of one dimension on one model, the one that says most first."""

    dimension: str
    model: str
    rows: tuple[ReadingRow, ...]

    @property
    def state(self) -> State:
        """The strongest verdict."""
        return self.rows[0].verdict.state

    @property
    def n(self) -> int:
        """How many of the readings have it."""
        return sum(row.verdict.state == self.state for row in self.rows)

    @property
    def of(self) -> int:
        """How many there are; those without a test count only where there are no others."""
        return sum(row.tested for row in self.rows) or len(self.rows)

    @property
    def count(self) -> str:
        """How many of the readings have the strongest verdict, in words."""
        return f"{self.n} of {self.of}"

    @property
    def leaning(self) -> tuple[Lean, ...]:
        """Which way the one that says most leans; empty where nothing is known of it."""
        return self.rows[0].reading.leaning if self.rows[0].verdict.directed else ()

    @property
    def direction(self) -> str:
        return ", ".join(map(str, self.leaning))

    @property
    def short_direction(self) -> str:
        """The first half of a direction that has two, since the other says the same from the other side."""
        return str(self.leaning[0]) if self.leaning else ""


@dataclasses.dataclass(frozen=True, slots=True)
class Summary:
    """The grid of an audit; ``controls`` is the verdict on the controls of each model that has any."""

    models: tuple[str, ...]
    dimensions: tuple[str, ...]
    squares: Mapping[tuple[str, str], Square]
    controls: Mapping[str, State]

    def square(self, dimension: str, model: str) -> Square | None:
        """One square; None where nothing of that dimension was measured on the model."""
        return self.squares.get((dimension, model))

    def control(self, model: str) -> State | None:
        """The verdict on the controls of a model; None where it has none."""
        return self.controls.get(model)

    def count(self, state: State, model: str | None = None) -> int:
        """How many bias readings have a verdict, on one model or on all."""
        return sum(row.verdict.state == state for row in self._rows(model))

    def tests(self, model: str | None = None) -> int:
        """How many bias readings were tested, on one model or on all."""
        return sum(row.tested for row in self._rows(model))

    def first(self, most: int, model: str | None = None) -> list[ReadingRow]:
        """What to look at first: clear leans, then suggestive ones, the farthest from level first.

        The strongest of every dimension and model comes before the second of any, so that one model that leans
        everywhere does not hide the others; models whose controls do not work come last.
        """
        broken = set(self.broken)
        ranked = [
            (not row.clear, square.model in broken, place, _rank(row), row)
            for square in self.squares.values()
            if model in (None, square.model)
            for place, row in enumerate(square.rows)
            if row.verdict.directed
        ]
        return [row for *_, row in sorted(ranked, key=lambda entry: entry[:-1])[:most]]

    @property
    def broken(self) -> list[str]:
        """The models on which a control does not work, so that their other verdicts mean little."""
        return self._with_control("does not work")

    @property
    def headline(self) -> str:
        """The audit in one line."""
        tests, clear, suggestive = self.tests(), self.count("clear"), self.count("suggestive")
        if not tests:
            return "Nothing was tested: the numbers below have no p-value."
        of = "The one bias test" if tests == 1 else f"{clear or 'None'} of {tests} bias tests"
        shows = "shows" if tests == 1 or clear <= 1 else "show"
        lean = "no clear lean" if tests == 1 and not clear else "a clear lean"
        leaning = sum(self.count("clear", model) > 0 for model in self.models)
        among = f", on {leaning} of {len(self.models)} models" if clear and len(self.models) > 1 else ""
        also = "" if not suggestive else f"; {suggestive}{' more' if clear else ''} {_are(suggestive)} suggestive"
        return f"{of} {shows} {lean}{among}{also}."

    @property
    def control_sentence(self) -> str:
        """Whether the instrument works on these models; empty where no model has a control."""
        if self.broken:
            their = "its" if len(self.broken) == 1 else "their"
            return f"The control does not work on {_listed(self.broken)}: {their} other verdicts mean little."
        if unsure := self._with_control("undecided"):
            return f"The control is undecided on {_listed(unsure)}: it knows too few of the words."
        without = [model for model in self.models if model not in self.controls]
        if not self.controls:
            return ""
        none = f" {_listed(without)} {'has' if len(without) == 1 else 'have'} none." if without else ""
        return (
            f"The controls, which should lean and are not counted, work{' where there are any.' if none else '.'}{none}"
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        """What else is to be known before the grid is read."""
        undecided, untested = self.count("undecided"), self.count("untested")
        doubt = "Undecided does not show balance; level does." if undecided else ""
        without = f"{untested} {'reading has' if untested == 1 else 'readings have'} no test."
        return tuple(filter(None, (self.control_sentence, doubt, without if untested else "")))

    def to_dict(self) -> dict[str, Any]:
        """The grid as JSON-ready values, one entry per square."""
        return {
            "headline": self.headline,
            "sentences": list(self.sentences),
            "grid": [
                {"dimension": square.dimension, "model": square.model, "verdict": square.state}
                | {"n": square.n, "of": square.of, "direction": square.direction}
                for square in self.squares.values()
            ],
            "controls": dict(self.controls),
        }

    def _with_control(self, state: State) -> list[str]:
        return [model for model, control in self.controls.items() if control == state]

    def _rows(self, model: str | None) -> Iterable[ReadingRow]:
        return (row for square in self.squares.values() if model in (None, square.model) for row in square.rows)


def summarise(audit: Audit) -> Summary:
    """The grid of an audit, dimensions in the order in which its suite has them."""
    return summarise_rows(reading_rows(audit.readings), audit.models)


def summarise_rows(rows: Sequence[ReadingRow], models: Sequence[str]) -> Summary:
    """The grid of some readings, which have been judged."""
    by_square: dict[tuple[str, str], list[ReadingRow]] = {}
    for row in rows:
        if not row.reading.control:
            by_square.setdefault((dimension_of(row.reading), row.reading.model), []).append(row)
    squares = {place: Square(*place, tuple(sorted(mine, key=_rank))) for place, mine in by_square.items()}
    controls: dict[str, State] = {}
    for row in rows:
        if row.reading.control and row.tested:
            others = controls.get(row.reading.model, "works")
            controls[row.reading.model] = max(others, row.verdict.state, key=_CONTROLS.index)
    dimensions = dict.fromkeys(dimension for dimension, _ in squares)
    ordered = sorted(dimensions, key=lambda name: name == OTHER)
    return Summary(tuple(models), tuple(ordered), squares, controls)


def dimension_of(reading: Reading) -> str:
    """What the groups of a reading differ in."""
    return reading.dimension or OTHER


def in_words(row: ReadingRow) -> str:
    """A reading in one sentence that begins with what was measured: which way it leans, how far, and how sure that is.

    >>> in_words(row)  # doctest: +SKIP
    'Gender and career or family: men → career, women → family (effect size d 0.71 [0.33, 1.05]; clear)'
    """
    effect, direction = row.reading.effect, row.reading.direction
    towards = f": {direction}" if direction else ""
    return f"{row.title}{towards} ({effect.name} {row.value}; {row.verdict.state})"


def _rank(row: ReadingRow) -> tuple[int, float]:
    """The strongest verdict first, and of equal ones the farthest from level."""
    return _ORDER.index(row.verdict.state), -abs(row.size or 0.0)


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _listed(names: Sequence[str], most: int = 6) -> str:
    """Names in a sentence, or how many there are where they are many."""
    return f"{len(names)} models" if len(names) > most else ", ".join(names)
