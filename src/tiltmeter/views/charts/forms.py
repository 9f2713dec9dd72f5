"""As published against repaired: what the published statistic says, and what is left of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import altair as alt

from tiltmeter.readings import ALPHA, Estimate, Reading, p_number
from tiltmeter.views.charts.figure import Figure
from tiltmeter.views.charts.style import (
    COLOURS,
    FAINT,
    INK,
    PAPER,
    SOFT,
    WIDTH,
    pixel,
    says,
    short,
    table,
    titled,
    where,
)
from tiltmeter.views.rows import shown_titles

#: Of more readings than these only those that differ most are drawn.
MOST = 30
_FORMS = ("as published", "repaired")
_ROW = 34
#: A smaller p-value says nothing more.
_LEAST_P = 1e-5


def published_values(readings: Sequence[Reading]) -> Figure | None:
    """Readings whose published number is another; None where there is none."""
    rows = _rows(readings, lambda effect: effect.value, lambda one, two: abs(one - two), least=0.005)
    if not rows:
        return None
    title = "Numbers as published and repaired"
    chart = _chart(rows, title, _far(rows), "value, on the statistic's own scale", kind="linear")
    far = max(rows, key=lambda row: abs(row["published"] - row["repaired"]))
    alt_text = (
        f"{len(rows)} readings whose number changes when the method is repaired; most for {far['measured']} on "
        f"{far['model']}, from {far['published']:.2f} to {far['repaired']:.2f}."
    )
    return Figure("published-values", title, alt_text, chart)


def published_p_values(readings: Sequence[Reading]) -> Figure | None:
    """Readings whose published p-value is another; None where there is none."""
    rows = _rows(readings, _p, lambda one, two: abs(math.log10(one / two)), least=0.05)
    if not rows:
        return None
    title = "p-values as published and repaired"
    lost = [row for row in rows if row["published"] <= ALPHA < row["repaired"]]
    chart = _chart(rows, title, _far(rows), "p-value taken alone (before Holm's correction)", kind="log")
    alt_text = (
        f"{len(rows)} readings whose p-value changes when the test is repaired; {len(lost)} of them are below "
        f"{ALPHA:g} only as published."
    )
    return Figure("published-p-values", title, alt_text, chart)


def _p(effect: Estimate) -> float | None:
    return None if effect.p_value is None else max(_LEAST_P, effect.p_value)


def _rows(readings: Sequence[Reading], value: Any, distance: Any, *, least: float) -> list[dict[str, Any]]:
    rows = []
    for reading, title in zip(readings, shown_titles(readings), strict=True):
        both = (value(reading.published), value(reading.effect)) if reading.published else (None, None)
        if None not in both and distance(*both) >= least:
            rows.append(
                {
                    "model": reading.model,
                    "measured": title,
                    "published": both[0],
                    "repaired": both[1],
                    "apart": distance(*both),
                }
            )
    return rows


def _far(rows: list[dict[str, Any]]) -> str:
    return f"; the {MOST} of {len(rows)} that differ most" if len(rows) > MOST else ""


def _chart(rows: list[dict[str, Any]], title: str, far: str, axis: str, *, kind: str) -> Any:
    kept = sorted(rows, key=lambda row: -row["apart"])[:MOST]
    lines = [
        {**row, "y": (n + 0.72) * _ROW, "label": short(f"{row['measured']} ({row['model']})", 82)}
        for n, row in enumerate(kept)
    ]
    height = len(lines) * _ROW + 4
    y = alt.Y("y:Q", scale=alt.Scale(domain=[height, 0], nice=False), axis=None)
    scale = alt.Scale(type="log", domain=[_LEAST_P, 1]) if kind == "log" else alt.Scale(zero=False, padding=12)
    ticks = {"values": [0.00001, 0.0001, 0.001, 0.01, 0.05, 1], "format": "~g"} if kind == "log" else {"tickCount": 6}
    x = alt.X("at:Q", title=axis, scale=scale, axis=alt.Axis(grid=False, **ticks))
    points = [
        {"y": line["y"], "form": form, "at": line[key], "says": f"{line['label']}, {form}: {_number(line[key], kind)}"}
        for line in lines
        for form, key in zip(_FORMS, ("published", "repaired"), strict=True)
    ]
    ink = alt.Color(
        "form:N",
        scale=alt.Scale(domain=list(_FORMS), range=[COLOURS[1], COLOURS[0]]),
        legend=alt.Legend(orient="top", title=None),
    )
    fill = where(f"datum.form == '{_FORMS[1]}'", ink, PAPER, channel="Fill")
    levels = [{"at": ALPHA}] if kind == "log" else []
    marks = table(points).mark_point(size=62, strokeWidth=1.8, opacity=1)
    names = table(lines).mark_text(align="left", dx=4, dy=-15, fontSize=12, color=INK, aria=False)
    chart = alt.layer(
        *(
            table(levels).mark_rule(color=SOFT, strokeDash=[3, 3], aria=False).encode(x=alt.X("at:Q", scale=scale))
            for _ in levels
        ),
        table(lines)
        .mark_rule(color=FAINT, strokeWidth=3, aria=False)
        .encode(x=alt.X("published:Q", scale=scale), x2=alt.X2("repaired:Q"), y=y),
        marks.encode(x=x, y=y, color=ink, fill=fill, **says()),
        names.encode(x=pixel("X", 0), y=y, text=alt.Text("label:N")),
        width=WIDTH,
        height=height,
    )
    dashed = f"; dashed: {ALPHA:g}" if kind == "log" else ""
    return titled(chart, title, f"open: as published, full: repaired{dashed}{far}")


def _number(value: float, kind: str) -> str:
    return f"p {p_number(value)}" if kind == "log" else f"{value:.3f}"
