"""An audit at a glance: for every dimension (gender, race, ...) and model the strongest verdict and its direction.

The terminal, the report, model cards, notebooks and the dashboard all show this grid first.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence

from tiltmeter.readings import STATES, Audit, Reading, State
from tiltmeter.views.rows import ReadingRow, reading_rows

#: Of readings that say of no dimension what they are about.
OTHER = "other"
_ORDER = list(STATES)


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
    def count(self) -> str:
        """How many of the readings have it.

        A dimension of which everything is undecided has as many undecided readings as it has readings.
        """
        return f"{sum(row.verdict.state == self.state for row in self.rows)} of {len(self.rows)}"

    @property
    def direction(self) -> str:
        """Which way the one that says most leans; empty where nothing is known of it."""
        return self.rows[0].reading.direction if self.state in ("clear", "suggestive") else ""


@dataclasses.dataclass(frozen=True, slots=True)
class Summary:
    """The grid of an audit; ``controls`` says of each model that has one whether its controls work."""

    models: tuple[str, ...]
    dimensions: tuple[str, ...]
    squares: Mapping[tuple[str, str], Square]
    controls: Mapping[str, bool]

    def square(self, dimension: str, model: str) -> Square | None:
        """One square; None where nothing of that dimension was measured on the model."""
        return self.squares.get((dimension, model))

    def count(self, state: State, model: str | None = None) -> int:
        """How many bias readings have a verdict, on one model or on all."""
        return sum(row.verdict.state == state for row in self._rows(model))

    def tests(self, model: str | None = None) -> int:
        """How many bias readings were tested, on one model or on all."""
        return sum(row.tested for row in self._rows(model))

    def first(self, most: int, model: str | None = None) -> list[ReadingRow]:
        """What to look at first: clear leans, the farthest from level first."""
        clear = [row for row in self._rows(model) if row.clear]
        return sorted(clear, key=_rank)[:most]

    @property
    def broken(self) -> list[str]:
        """The models on which a control does not work, so that their other verdicts mean little."""
        return [model for model, works in self.controls.items() if not works]

    def _rows(self, model: str | None) -> Iterable[ReadingRow]:
        return (row for square in self.squares.values() if model in (None, square.model) for row in square.rows)


def summarise(audit: Audit) -> Summary:
    """The grid of an audit, dimensions in the order in which its suite has them."""
    return summarise_rows(reading_rows(audit.readings), audit.models)


def summarise_rows(rows: Sequence[ReadingRow], models: Sequence[str]) -> Summary:
    """The grid of some readings, which have been judged."""
    found: dict[tuple[str, str], list[ReadingRow]] = {}
    for row in rows:
        if not row.reading.control:
            found.setdefault((dimension_of(row.reading), row.reading.model), []).append(row)
    squares = {place: Square(*place, tuple(sorted(mine, key=_rank))) for place, mine in found.items()}
    controls: dict[str, bool] = {}
    for row in rows:
        if row.reading.control and row.tested:
            controls[row.reading.model] = controls.get(row.reading.model, True) and row.clear
    dimensions = dict.fromkeys(dimension for dimension, _ in squares)
    ordered = sorted(dimensions, key=lambda name: name == OTHER)
    return Summary(tuple(models), tuple(ordered), squares, controls)


def dimension_of(reading: Reading) -> str:
    """What the groups of a reading differ in."""
    return reading.dimension or OTHER


def _rank(row: ReadingRow) -> tuple[int, float]:
    """The strongest verdict first, and of equal ones the farthest from level."""
    return _ORDER.index(row.verdict.state), -abs(row.size or 0.0)
