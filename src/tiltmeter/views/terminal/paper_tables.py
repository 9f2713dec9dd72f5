"""Tables of a paper in the terminal."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Column, Table
from rich.text import Text

from tiltmeter.readings.paper_tables import PaperTable, Replication
from tiltmeter.views.terminal.table import number_table

_STYLES = {"ours": "", "printed": "dim", "difference": "italic dim"}
#: Behind numbers that reach one, two or three of Cohen's steps.
_SHADES = ("", "on grey93", "on grey82", "on grey70")


def replication_view(replication: Replication) -> RenderableType:
    """Every table with its notes; one that could not be measured says why in one line."""
    return Group(*(part for table in replication.tables for part in (paper_table(table), Text(""))))


def paper_table(table: PaperTable) -> RenderableType:
    """One table: ours, what is printed below it, and the difference."""
    notes = [Text(f"Not measured here: {table.missing}")] if table.missing else []
    if not list(table.lines()):
        return Group(Text(f"{table.name}. {table.title}", style="bold"), *notes)
    return Group(_Columns(table), *notes, *(Text(note, style="dim") for note in table.notes))


@dataclasses.dataclass(frozen=True, slots=True)
class _Columns:
    """The columns of a table; where they do not stand side by side, some below the others, so that no number is cut."""

    table: PaperTable

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        blocks: list[list[int]] = []
        for _, some in itertools.groupby(enumerate(self.table.columns), key=lambda each: each[1].above):
            places = [place for place, _ in some]
            wider = [*blocks[-1], *places] if blocks else places
            needed = console.measure(_grid(self.table, wider), options=options.update(width=10_000)).maximum
            if blocks and needed <= options.max_width:
                blocks[-1] = wider
            else:
                blocks.append(places)
        for number, places in enumerate(blocks):
            yield _grid(self.table, places, again=number > 0)


def _grid(table: PaperTable, places: Sequence[int], *, again: bool = False) -> Table:
    """Some of a table's columns."""
    lines = list(table.lines())
    grid = number_table(
        f"{table.name}, continued" if again else f"{table.name}. {table.title}", Column("", no_wrap=True)
    )
    above = ""
    for place in places:
        column = table.columns[place]
        head = column.above if column.above != above else ""
        above = column.above
        words = any(isinstance(line.cells[place].value, str) for line in lines)
        stacked = f"{head}\n{column.name}" if any(each.above for each in table.columns) else column.name
        grid.add_column(stacked, justify="left" if words else "right", overflow="fold")
    part = ""
    for line in lines:
        if line.part and line.part != part:
            grid.add_row(Text(line.part, style="bold"))
        part = line.part
        texts = []
        for place in places:
            shade = _SHADES[line.cells[place].shade] if line.source == "ours" else ""
            texts.append(Text(_short(line.texts[place]), style=shade and f"black {shade}"))
        grid.add_row(Text(("  " if line.source != "ours" else "") + line.label), *texts, style=_STYLES[line.source])
    return grid


def _short(text: str) -> str:
    """A number without the nought before its point: sixteen of them stand side by side.

    >>> _short("0.51"), _short("-0.05*"), _short("10.51")
    ('.51', '-.05*', '10.51')
    """
    return re.sub(r"^([+-]?)0(?=\.\d)", r"\1", text)
