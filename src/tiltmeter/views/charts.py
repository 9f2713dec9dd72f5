"""Charts: one Altair definition gives the SVG of the report and the PNG or PDF of a paper."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

from tiltmeter.readings import Reading
from tiltmeter.views.table import is_clear, shown_leans, shown_titles

#: Colour-blind safe (Okabe & Ito).
_COLOURS = {"large": "#D55E00", "medium": "#E69F00", "small": "#009E73", "negligible": "#0072B2"}
#: Of shares, which are graded by no common scale.
_PLAIN = "#0072B2"
_WIDTH = 420
EFFECT = "effect size d"


@dataclasses.dataclass(frozen=True, slots=True)
class _Axis:
    """What a chart is drawn along: where level is, where the dashed lines stand, and how far it reaches."""

    title: str
    level: float
    marks: tuple[float, ...]
    end: float
    step: float
    colours: bool


def forest(readings: Sequence[Reading], *, adjusted: Sequence[float | None] | None = None) -> Any | None:
    """Effect sizes with their intervals, a panel a model; None where no reading has an effect size d.

    Level is 0; the dashed lines are Cohen's .2, .5 and .8. A hollow point is no clear lean, by its p-value or,
    where they are given, by the p-values ``adjusted`` for all tests made.
    """
    rows = _rows(readings, adjusted, lambda reading: reading.effect.name == EFFECT)
    if not rows:
        return None
    # With groups of one size d ends at 2; with others it can go further.
    end = max(2.0, *(math.ceil(2 * abs(row[key])) / 2 for row in rows for key in ("low", "high")))
    title = "effect size d with 95% interval; 0 is level, dashed: small .2, medium .5, large .8"
    return _chart(rows, _Axis(title, 0.0, (-0.8, -0.5, -0.2, 0.2, 0.5, 0.8), end, 0.5, colours=True))


def shares(readings: Sequence[Reading], *, adjusted: Sequence[float | None] | None = None) -> Any | None:
    """Shares around one half with their intervals, a panel a model; None where no reading has one."""
    rows = _rows(readings, adjusted, lambda reading: reading.effect.level == 0.5)
    if not rows:
        return None
    return _chart(rows, _Axis("share with 95% interval; .5 is level", 0.5, (0.25, 0.75), 0.5, 0.1, colours=False))


def _chart(rows: list[dict[str, Any]], along: _Axis) -> Any:
    import altair as alt

    models = dict.fromkeys(row["model"] for row in rows)
    panels = (_panel([row for row in rows if row["model"] == m], m, along) for m in models)
    return styled(alt.vconcat(*panels, spacing=24))


def styled(chart: Any) -> Any:
    """The chart in letters that can be read at 600 pixels."""
    return (
        chart.configure(font="sans-serif")
        .configure_axis(labelFontSize=12, titleFontSize=12, titleFontWeight="normal")
        .configure_legend(labelFontSize=12, titleFontSize=12, titleFontWeight="normal")
        .configure_title(fontSize=14, anchor="start", frame="group")
        .configure_view(stroke=None)
    )


def to_svg(chart: Any) -> str:
    """The chart as an SVG that needs no script and no network."""
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(chart.to_json())
    return svg


def to_png(chart: Any, *, scale: float = 2.0) -> bytes:
    """The chart as a picture."""
    import vl_convert

    png: bytes = vl_convert.vegalite_to_png(chart.to_json(), scale=scale)
    return png


def _rows(
    readings: Sequence[Reading], adjusted: Sequence[float | None] | None, drawn: Callable[[Reading], bool]
) -> list[dict[str, Any]]:
    p_values = [r.effect.p_value for r in readings] if adjusted is None else adjusted
    return [
        {
            "model": r.model,
            "measured": title,
            "d": r.effect.value,
            "low": r.effect.ci.low,
            "high": r.effect.ci.high,
            "strength": r.strength or "not graded",
            "clear": is_clear(p),
            "leans": shown_leans(r, p).replace(", ", "\n"),
        }
        for r, title, p in zip(readings, shown_titles(readings), p_values, strict=True)
        if drawn(r) and r.effect.ci
    ]


def _panel(rows: list[dict[str, Any]], model: str, along: _Axis) -> Any:
    import altair as alt
    import pandas as pd

    base = alt.Chart(pd.DataFrame(rows))
    # A title made from its sets is long; who is compared and on what get a line each.
    labels = alt.Axis(labelLimit=400, labelExpr="split(datum.label, ' × ')")
    y = alt.Y("measured:N", sort=[row["measured"] for row in rows], title=None, axis=labels)
    colour = alt.Color(
        "strength:N",
        title="size of d",
        scale=alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values())),
        legend=alt.Legend(orient="bottom", direction="horizontal"),
    )
    ink: Any = colour if along.colours else alt.value(_PLAIN)
    low, high = along.level - along.end, along.level + along.end
    ticks = [round(low + step * along.step, 10) for step in range(round(2 * along.end / along.step) + 1)]
    x = alt.X(
        "low:Q",
        title=along.title,
        scale=alt.Scale(domain=[low, high]),
        axis=alt.Axis(grid=False, values=ticks),
    )
    levels = [{"at": at} for at in along.marks]
    return alt.layer(
        alt.Chart(pd.DataFrame(levels)).mark_rule(strokeDash=[2, 3], color="#bbb").encode(x="at:Q"),
        alt.Chart(pd.DataFrame([{"at": along.level}])).mark_rule(color="#555").encode(x="at:Q"),
        base.mark_rule(strokeWidth=2.5).encode(x=x, x2="high:Q", y=y, color=ink),
        base.mark_point(size=80, strokeWidth=2, opacity=1).encode(
            x="d:Q",
            y=y,
            color=ink,
            fill=alt.condition("datum.clear", ink, alt.value("white")),
            tooltip=["measured:N", alt.Tooltip("d:Q", title="value"), "low:Q", "high:Q", "leans:N"],
        ),
        *(
            # The first of two lines goes above the middle of the row.
            base.transform_filter(f"indexof(datum.leans, '\\n') {sign} 0")
            .mark_text(align="left", dx=8, dy=dy, fontSize=12, lineBreak="\n")
            .encode(
                x=alt.value(_WIDTH),
                y=y,
                text="leans:N",
                color=alt.condition("datum.clear", alt.value("#1c2330"), alt.value("#8a929e")),
            )
            for sign, dy in (("<", 0), (">", -7))
        ),
    ).properties(title=model, width=_WIDTH, height=alt.Step(34))
