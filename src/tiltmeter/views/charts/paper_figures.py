"""The figures of a paper, drawn from the numbers of its table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import altair as alt

from tiltmeter.readings.paper_tables import PaperTable
from tiltmeter.views.charts.style import COLOURS, GROUP_COLOURS, INK, SOFT, Figure, names_axis, table, titled, unchecked

_ROW, _WIDTH, _LETTERS = 14, 440, 40


def paper_figure(drawn: PaperTable) -> Figure | None:
    """The chart of a table that the paper draws; None for others, and where nothing was measured."""
    if not drawn.drawn or not any(not row.printed for row in drawn.rows):
        return None
    rows = _rows(drawn)
    with unchecked():
        chart = _DRAW[drawn.drawn](drawn, rows)
        titled(chart, drawn.name, [drawn.title])
    numbers = [row["value"] for row in rows]
    says = f"{drawn.name}, {drawn.title}: {len(numbers)} numbers from {min(numbers):.2f} to {max(numbers):.2f}."
    return Figure(f"paper-{drawn.name}", drawn.name, says, chart)


def _rows(drawn: PaperTable) -> list[dict[str, Any]]:
    """One row per number of ours, with its row, column and block, and the words of its row."""
    rows: list[dict[str, Any]] = []
    for row in drawn.rows:
        if row.printed:
            continue
        words = next((cell.value for cell in row.cells if isinstance(cell.value, str)), "")
        for column, cell in zip(drawn.columns, row.cells, strict=True):
            if isinstance(cell.value, int | float):
                rows.append(
                    {"row": row.label, "column": column.name, "part": row.part, "words": words, "value": cell.value}
                )
    return rows


def _names(rows: list[dict[str, Any]], column: str) -> Any:
    axis = names_axis([row[column] for row in rows], _LETTERS)
    axis.labelPadding = 6  # a dot may stand on the edge
    return axis


def _bars(drawn: PaperTable, rows: list[dict[str, Any]]) -> Any:
    """A bar per number, two beside each other; the difference of the two is not drawn."""
    names = [column.name for column in drawn.columns][:2]
    shown = [row for row in rows if row["column"] in names]
    base = table(shown).mark_bar(height=_ROW / 2 - 1)
    colour = alt.Color("column:N", scale=alt.Scale(domain=names, range=list(GROUP_COLOURS[:2])),
                       legend=alt.Legend(title=None, orient="top"))  # fmt: skip
    bars = base.encode(
        y=alt.Y("row:N", title=None, sort=None, scale=alt.Scale(paddingInner=0.15), axis=_names(shown, "row")),
        yOffset=alt.YOffset("column:N", sort=names),
        x=alt.X("value:Q", title="PMI (bits); 0 is as often as chance"),
        color=colour,
        tooltip=["row:N", "column:N", alt.Tooltip("value:Q", format=".3f")],
    )
    zero = table([{"at": 0}]).mark_rule(color=SOFT).encode(x="at:Q")
    return alt.layer(bars, zero).properties(width=_WIDTH, height=alt.Step(_ROW))


def _strips(_drawn: PaperTable, rows: list[dict[str, Any]]) -> Any:
    """A row of dots per category with a box behind it, one panel per model."""
    base = table(rows)
    y = alt.Y("words:N", title=None, sort=None, axis=_names(rows, "words"))
    x = alt.X("value:Q", title="score; 0 is level")
    box = base.mark_boxplot(size=22, color="#c4cad3", outliers=False).encode(x=x, y=y)
    dots = base.mark_circle(color=INK, opacity=0.7, size=30).encode(
        x=x, y=y, tooltip=["row:N", "words:N", alt.Tooltip("value:Q", format=".3f")]
    )
    return _panels(alt.layer(box, dots).properties(width=_WIDTH, height=alt.Step(34)), rows)


def _lines(drawn: PaperTable, rows: list[dict[str, Any]]) -> Any:
    """A line per row over the columns, one panel per model."""
    names = [column.name for column in drawn.columns]
    labels = list(dict.fromkeys(row["row"] for row in rows))
    palette = [(*COLOURS, *GROUP_COLOURS)[number % 10] for number in range(len(labels))]
    base = table(rows).encode(
        x=alt.X("column:N", sort=names, title=drawn.columns[0].above or None, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("value:Q", title="effect size d; 0 is level"),
        color=alt.Color("row:N", scale=alt.Scale(domain=labels, range=palette), legend=alt.Legend(title=None)),
        tooltip=["row:N", "column:N", alt.Tooltip("value:Q", format=".2f")],
    )
    drawn_lines = alt.layer(base.mark_line(), base.mark_circle(size=50)).properties(width=_WIDTH, height=240)
    return _panels(drawn_lines, rows)


def _panels(chart: Any, rows: list[dict[str, Any]]) -> Any:
    """One panel per block of rows, where there are several."""
    parts = list(dict.fromkeys(row["part"] for row in rows))
    if len(parts) < 2:
        return chart
    kept = chart.copy(deep=True)
    charts = [
        kept.transform_filter(f"datum.part == {part!r}").properties(title=alt.Title(part, fontSize=12))
        for part in parts
    ]
    return alt.vconcat(*charts)


_DRAW: Mapping[str, Callable[[PaperTable, list[dict[str, Any]]], Any]] = {
    "bars": _bars,
    "strips": _strips,
    "lines": _lines,
}
