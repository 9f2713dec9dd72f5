"""A heat map of models and probes: where the leans are, at one look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from tiltmeter.readings import Reading
from tiltmeter.views.charts.figure import Figure
from tiltmeter.views.charts.style import DIVERGING, FAINT, INK, PAPER, cut, names_axis, says, table, titled, where
from tiltmeter.views.rows import ReadingRow, reading_rows

#: Of more models than these the cells have no room for numbers.
_MOST_NUMBERS = 8
#: Colours end here: stronger leans are as dark as this one.
_END = 1.2
#: From here on a cell is so dark that its number is white.
_DARK = 0.8


def grid(readings: Sequence[Reading], *, adjusted: Sequence[float | None] | None = None) -> Figure | None:
    """Probes down, models across; None where there is only one model."""
    models = list(dict.fromkeys(reading.model for reading in readings))
    if len(models) < 2:
        return None
    rows = [_cell(row) for row in reading_rows(readings, adjusted)]
    numbers = len(models) <= _MOST_NUMBERS
    title = "All models and probes"
    subtitle = [
        "blue: above level, orange: below; which way that is differs from probe to probe",
        "darker: farther from level; framed: a clear lean; grey: no common scale; empty: not measured",
    ]
    chart = _layers(rows, models, numbers=numbers)
    return Figure("grid", title, _alt(rows, models), titled(chart, title, subtitle, letters=96), keeps_colours=True)


def _cell(row: ReadingRow) -> dict[str, Any]:
    return {
        "model": row.reading.model,
        "measured": row.title,
        "d": row.size,
        "clear": row.clear,
        "text": f"{row.reading.effect.value:.2f}",
        "says": row.says,
    }


def _layers(rows: list[dict[str, Any]], models: list[str], *, numbers: bool) -> Any:
    titles = list(dict.fromkeys(row["measured"] for row in rows))
    angle = -30 if numbers else -90
    x = alt.X(
        "model:N",
        sort=models,
        title=None,
        axis=alt.Axis(orient="top", labelAngle=angle, ticks=False, domain=False, labelLimit=0, labelExpr=cut(28)),
    )
    y = alt.Y("measured:N", sort=titles, title=None, axis=names_axis(titles, 48))
    scale = alt.Scale(domain=[-_END, 0, _END], range=list(DIVERGING), interpolate="rgb", clamp=True)
    legend = alt.Legend(
        title="on the scale of d", orient="bottom", direction="horizontal", gradientLength=200, values=[-0.8, 0, 0.8]
    )
    placed = [row for row in rows if row["d"] is not None]
    others = [row for row in rows if row["d"] is None]
    marks = []
    if placed:
        cells = (
            table(placed)
            .mark_rect(strokeWidth=1.4)
            .encode(x=x, y=y, color=alt.Color("d:Q", scale=scale, legend=legend))
        )
        frame = {
            "stroke": where("datum.clear", INK, FAINT, channel="Stroke"),
            "strokeWidth": where("datum.clear", 1.4, 0.4, channel="StrokeWidth"),
        }
        marks.append(cells.encode(**frame, **says()))
    if others:
        marks.append(table(others).mark_rect(color="#e3e6ea", stroke=FAINT, strokeWidth=0.4).encode(x=x, y=y, **says()))
    if numbers:
        dark = f"abs(datum.d) > {_DARK} && isValid(datum.d)"
        texts = table(rows).mark_text(fontSize=11, aria=False)
        ink = where(dark, PAPER, INK, channel="Color")
        marks.append(texts.encode(x=x, y=y, text=alt.Text("text:N"), color=ink))
    return alt.layer(*marks, width=alt.Step(64 if numbers else 13), height=alt.Step(22 if numbers else 15))


def _alt(rows: list[dict[str, Any]], models: list[str]) -> str:
    clear = {model: [row for row in rows if row["model"] == model and row["clear"]] for model in models}
    most = max(models, key=lambda model: len(clear[model]))
    titles = {row["measured"] for row in rows}
    return (
        f"Heat map of {len(models)} models and {len(titles)} probes, {len(rows)} readings: "
        f"{sum(map(len, clear.values()))} are clear leans, most of them ({len(clear[most])}) on {most}."
    )
