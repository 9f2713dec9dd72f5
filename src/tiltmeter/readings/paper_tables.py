"""Tables as a paper prints them: our numbers, what the paper has in their place, and what could not be measured."""

from __future__ import annotations

import dataclasses
import importlib
import math
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from tiltmeter.readings.frames import frame
from tiltmeter.readings.reading import Cell
from tiltmeter.statistics import Result

if TYPE_CHECKING:
    import pandas as pd

#: How the numbers of a table are drawn where the paper has a figure: a bar per number, a row of dots per category, a
#: line per row over the columns.
Drawn: TypeAlias = Literal["", "bars", "strips", "lines"]
#: Whose numbers a line has.
Source: TypeAlias = Literal["ours", "printed", "difference"]
#: Cohen's steps: a cell is shaded by how many of them its effect size reaches.
STEPS = (0.2, 0.5, 0.8)
_EPS = 1e-9


@dataclasses.dataclass(frozen=True, slots=True)
class PaperColumn(Result):
    """A column: ``above`` is what several of them stand under, ``cut`` says that digits are cut off, not rounded."""

    name: str
    above: str = ""
    digits: int = 2
    cut: bool = False

    def text(self, value: Cell) -> str:
        """A value as the column shows it.

        >>> PaperColumn("KL", digits=4, cut=True).text(0.01338), PaperColumn("d").text(-0.5)
        ('0.0133', '-0.50')
        >>> PaperColumn("KL", digits=4, cut=True).text(4e-5)  # a paper that cuts writes out what would be nothing
        '4e-05'
        """
        if value is None or isinstance(value, str | bool):
            return "" if value is None else str(value)
        if isinstance(value, int):
            return f"{value:,}"
        if not math.isfinite(value):
            return ""
        shown = (
            math.trunc(value * 10**self.digits + math.copysign(_EPS, value)) / 10**self.digits if self.cut else value
        )
        if self.cut and value and not shown:
            return f"{value:.0e}"
        return f"{shown:.{self.digits}f}"


@dataclasses.dataclass(frozen=True, slots=True)
class PaperCell(Result):
    """A number or word; ``mark`` stands behind it (an asterisk), ``shade`` is how many of Cohen's steps it reaches."""

    value: Cell
    mark: str = ""
    shade: int = 0


@dataclasses.dataclass(frozen=True, slots=True)
class PaperRow(Result):
    """A row. ``part`` is the block it stands in; ``printed`` rows are the paper's, and ``like`` names the one that our
    row takes the place of."""

    label: str
    cells: tuple[PaperCell, ...]
    part: str = ""
    printed: bool = False
    like: str = ""


class PaperLine(NamedTuple):
    """A row as it is shown, one text per column."""

    part: str
    label: str
    source: Source
    texts: tuple[str, ...]
    cells: tuple[PaperCell, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class PaperTable(Result):
    """One table or figure of a paper. ``missing`` says in one line why there are no numbers of ours, where there are
    none."""

    name: str
    title: str
    columns: tuple[PaperColumn, ...]
    rows: tuple[PaperRow, ...] = ()
    notes: tuple[str, ...] = ()
    missing: str = ""
    drawn: Drawn = ""

    def lines(self) -> Iterator[PaperLine]:
        """Every row of ours with the printed one below it and the difference, then the printed rows of no row of ours.

        >>> columns, printed = (PaperColumn("M"),), PaperRow("GPT-2", (PaperCell(0.51),), printed=True)
        >>> table = PaperTable("Table 2", "", columns, (PaperRow("mine", (PaperCell(0.4),), like="GPT-2"), printed))
        >>> [(line.label, line.source, *line.texts) for line in table.lines()]
        [('mine', 'ours', '0.40'), ('printed: GPT-2', 'printed', '0.51'), ('difference', 'difference', '-0.11')]
        """
        others = {id(row): self.printed_like(row) for row in self.rows if row.like}
        used = {id(other) for other in others.values()}
        # Blocks in the order of the paper, then ours; what stands in no block comes last.
        named = [row.part for row in sorted(self.rows, key=lambda row: not row.printed) if row.part]
        parts = list(dict.fromkeys([*named, ""]))
        for row in sorted(self.rows, key=lambda row: parts.index(row.part)):
            if id(row) in used:
                continue
            yield self._line(row, f"printed: {row.label}" if row.printed else row.label)
            if (other := others.get(id(row))) is not None:
                yield self._line(other, f"printed: {other.label}")._replace(part=row.part)
                cells = tuple(_difference(*both) for both in zip(row.cells, other.cells, strict=True))
                if any(cell.value is not None for cell in cells):
                    yield PaperLine(row.part, "difference", "difference", self._texts(cells, signed=True), cells)

    def printed_like(self, row: PaperRow) -> PaperRow | None:
        """The printed row that a row of ours stands in the place of: of its block, or of a table without blocks."""
        named = [each for each in self.rows if each.printed and each.label == row.like and each.part in (row.part, "")]
        return max(named, key=lambda each: each.part == row.part, default=None)

    def _line(self, row: PaperRow, label: str) -> PaperLine:
        return PaperLine(row.part, label, "printed" if row.printed else "ours", self._texts(row.cells), row.cells)

    def _texts(self, cells: tuple[PaperCell, ...], *, signed: bool = False) -> tuple[str, ...]:
        texts = []
        for column, cell in zip(self.columns, cells, strict=True):
            text = column.text(cell.value)
            plus = "+" if signed and isinstance(cell.value, int | float) and not text.startswith("-") and text else ""
            texts.append(f"{plus}{text}{cell.mark if text else ''}")
        return tuple(texts)

    def to_frame(self) -> pd.DataFrame:
        """One row per line, with every digit; printed values and differences are rows of their own."""
        return frame(self.records())

    def records(self) -> list[dict[str, Any]]:
        """The lines as flat rows."""
        heads = [f"{column.above} {column.name}".strip() for column in self.columns]
        rows: list[dict[str, Any]] = []
        for line in self.lines():
            row: dict[str, Any] = {"table": self.name, "part": line.part, "row": line.label, "source": line.source}
            for head, cell in zip(heads, line.cells, strict=True):
                row[head] = cell.value
                if any(each.cells[heads.index(head)].mark for each in self.rows):
                    row[f"{head} mark"] = cell.mark
            rows.append(row)
        return rows


def _difference(one: PaperCell, other: PaperCell) -> PaperCell:
    values = one.value, other.value
    if any(value is None or isinstance(value, str | bool) for value in values):
        return PaperCell(None)
    return PaperCell(values[0] - values[1])  # type: ignore[operator]


def shade_of(effect: float | None) -> int:
    """How many of Cohen's steps an effect size reaches: 0 negligible, 1 small, 2 medium, 3 large.

    >>> [shade_of(d) for d in (0.1, -0.3, 0.5, 1.2, None)]
    [0, 1, 2, 3, 0]
    """
    return 0 if effect is None else sum(abs(effect) >= step for step in STEPS)


@dataclasses.dataclass(frozen=True, slots=True)
class Replication(Result):
    """The tables and figures of one text, measured on some models; ``command`` prints them again."""

    name: str
    title: str
    citation: str
    models: tuple[str, ...]
    tables: tuple[PaperTable, ...]
    command: str = ""

    def table(self, name: str) -> PaperTable:
        """A table by its name, such as ``Table 2``, or by its number."""
        return next(table for table in self.tables if name in (table.name, table.name.rpartition(" ")[2]))

    def export(self, path: str | Path, *, format: str = "html") -> list[Path]:
        """Write it as html, latex, csv, json, or text; charts of figures go beside it."""
        # As an audit finds its report: views read tables, so a table asks for its view by name.
        exports = importlib.import_module("tiltmeter.views.exports.paper_tables")
        written: list[Path] = exports.export_tables(self, Path(path), format=format)
        return written

    def __repr__(self) -> str:
        here = [table.name for table in self.tables if not table.missing]
        return f"<Replication {self.name} on {', '.join(self.models)}: {', '.join(here) or 'nothing'}>"

    def _repr_html_(self) -> str:
        html: str = importlib.import_module("tiltmeter.views.exports.paper_tables").to_html(self)
        return html
