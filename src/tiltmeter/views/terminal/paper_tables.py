"""Tables of a paper in the terminal."""

from __future__ import annotations

import re

from rich.console import Group, RenderableType
from rich.table import Column
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
    title = f"{table.name}. {table.title}"
    notes = [Text(f"Not measured here: {table.missing}")] if table.missing else []
    lines = list(table.lines())
    if not lines:
        return Group(Text(title, style="bold"), *notes)
    made = number_table(title, Column("", no_wrap=True))
    above = ""
    for column in table.columns:
        head = column.above if column.above != above else ""
        above = column.above
        words = any(isinstance(cell.value, str) for line in lines for cell in [line.cells[len(made.columns) - 1]])
        stacked = f"{head}\n{column.name}" if any(each.above for each in table.columns) else column.name
        made.add_column(stacked, justify="left" if words else "right", overflow="fold")
    part = ""
    for line in lines:
        if line.part and line.part != part:
            made.add_row(Text(line.part, style="bold"))
        part = line.part
        texts = [
            Text(
                _short(text),
                style=_SHADES[cell.shade] and f"black {_SHADES[cell.shade]}" if line.source == "ours" else "",
            )
            for text, cell in zip(line.texts, line.cells, strict=True)
        ]
        made.add_row(Text(("  " if line.source != "ours" else "") + line.label), *texts, style=_STYLES[line.source])
    return Group(made, *notes, *(Text(note, style="dim") for note in table.notes))


def _short(text: str) -> str:
    """A number without the nought before its point: sixteen of them stand side by side.

    >>> _short("0.51"), _short("-0.05*"), _short("10.51")
    ('.51', '-.05*', '10.51')
    """
    return re.sub(r"^([+-]?)0(?=\.\d)", r"\1", text)
