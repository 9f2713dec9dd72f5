"""The chart of the context-length study: effect against length, one colour per model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from tiltmeter.readings.studies import CLOSE, ContextLength, LengthCurve
from tiltmeter.views.charts.style import styled, table

#: Colour-blind safe (Okabe & Ito).
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_FORMS = ("repaired", "as published")
_WIDTH, _HEIGHT = 420, 260


def chart_rows(curves: Sequence[LengthCurve]) -> list[dict[str, Any]]:
    """One row per model, length and form: what the chart draws, and all it draws."""
    rows = []
    for curve in curves:
        for place, point in enumerate(curve.points):
            row = {"model": curve.model, "probe": curve.title, "length": point.length, "place": place}
            interval = {"low": point.ci.low, "high": point.ci.high}
            rows.append({**row, "form": _FORMS[0], "d": point.effect, **interval, "p": point.p_value})
            if point.published is not None:
                value, p = point.published, point.published_p_value
                rows.append({**row, "form": _FORMS[1], "d": value, "low": None, "high": None, "p": p})
    return rows


def context_chart(study: ContextLength) -> Any | None:
    """Effect sizes by length with their intervals, one panel per probe; None where there are none."""
    if not study.curves:
        return None
    models = list(dict.fromkeys(curve.model for curve in study.curves))
    by_probe: dict[str, list[LengthCurve]] = {}
    for curve in study.curves:
        by_probe.setdefault(curve.probe, []).append(curve)
    return styled(alt.vconcat(*(_panel(curves, models) for curves in by_probe.values()), spacing=24))


def _panel(curves: Sequence[LengthCurve], models: list[str]) -> Any:
    rows = chart_rows(curves)
    lengths = list(dict.fromkeys(row["length"] for row in sorted(rows, key=lambda row: row["place"])))
    x = alt.X("length:N", sort=lengths, title=curves[0].axis, axis=alt.Axis(labelAngle=0), scale=alt.Scale(padding=0.5))
    aside = alt.XOffset("model:N", sort=models)
    colours = [_COLOURS[place % len(_COLOURS)] for place in range(len(models))]
    legend = alt.Legend(orient="bottom", direction="vertical", labelLimit=400, title=None)
    colour = alt.Color("model:N", sort=models, scale=alt.Scale(domain=models, range=colours), legend=legend)
    y = alt.Y("d:Q", title="effect size d with 95% interval", axis=alt.Axis(grid=False))
    repaired = table([row for row in rows if row["form"] == _FORMS[0]])
    layers = [
        table([{"at": 0.0}]).mark_rule(color="#555").encode(y="at:Q"),
        repaired.mark_rule(strokeWidth=2).encode(x=x, xOffset=aside, y="low:Q", y2="high:Q", color=colour),
        repaired.mark_point(size=70, filled=True, opacity=1).encode(
            x=x,
            xOffset=aside,
            y=y,
            color=colour,
            tooltip=["model:N", "length:N", "d:Q", "low:Q", "high:Q", "p:Q"],
        ),
    ]
    published = [row for row in rows if row["form"] == _FORMS[1]]
    if published:
        hollow = table(published).mark_point(size=70, shape="diamond", filled=False, opacity=1)
        layers.append(
            hollow.encode(x=x, xOffset=aside, y=y, color=colour, tooltip=["model:N", "length:N", "d:Q", "p:Q"])
        )
    words = f"repaired (filled) and as published (hollow); stable: within {CLOSE} of the longest, and in its interval"
    title = alt.Title(curves[0].title, subtitle=words, subtitleFontSize=12, subtitleColor="#5b6472")
    return alt.layer(*layers).properties(title=title, width=_WIDTH, height=_HEIGHT)
