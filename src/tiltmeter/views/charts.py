"""Charts: one Altair definition gives the SVG of the report and the PNG or PDF of a paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tiltmeter.readings import Reading

#: Colour-blind safe (Okabe & Ito).
_COLOURS = {"large": "#D55E00", "medium": "#E69F00", "small": "#009E73", "negligible": "#0072B2"}
EFFECT = "effect size d"


def forest(readings: Sequence[Reading]) -> Any | None:
    """Effect sizes with their intervals, a panel a model; None where no reading has an effect size d.

    Level is 0; the thin lines are Cohen's .2, .5 and .8. A hollow point has an interval that holds 0.
    """
    import altair as alt
    import pandas as pd

    rows = [
        {
            "model": r.model,
            "measured": r.title,
            "d": r.effect.value,
            "low": r.effect.ci.low,
            "high": r.effect.ci.high,
            "strength": r.strength,
            "clear": 0.0 not in r.effect.ci,
            "leans": r.leans,
        }
        for r in readings
        if r.effect.name == EFFECT and r.effect.ci
    ]
    if not rows:
        return None
    order = list(dict.fromkeys(str(row["measured"]) for row in rows))
    y = alt.Y("measured:N", sort=order, title=None, axis=alt.Axis(labelLimit=420))
    colour = alt.Color(
        "strength:N",
        title="strength",
        scale=alt.Scale(domain=list(_COLOURS), range=list(_COLOURS.values())),
        legend=alt.Legend(orient="bottom"),
    )
    base = alt.Chart(pd.DataFrame(rows))
    levels = (
        alt.Chart(pd.DataFrame({"at": [-0.8, -0.5, -0.2, 0.2, 0.5, 0.8]}))
        .mark_rule(strokeDash=[2, 3], color="#ccc")
        .encode(x="at:Q")
    )
    zero = alt.Chart(pd.DataFrame({"at": [0]})).mark_rule(color="#555").encode(x="at:Q")
    x = alt.X("low:Q", title="effect size d with 95% interval (0 is level)", scale=alt.Scale(domain=[-2, 2]))
    bars = base.mark_rule(strokeWidth=2).encode(x=x, x2="high:Q", y=y, color=colour)
    points = base.mark_point(size=70, strokeWidth=2).encode(
        x="d:Q",
        y=y,
        color=colour,
        fill=alt.condition("datum.clear", colour, alt.value("white")),
        tooltip=["measured", "d", "low", "high", "leans"],
    )
    return alt.vconcat(
        *[
            alt.layer(
                levels, zero, bars.transform_filter(alt.datum.model == m), points.transform_filter(alt.datum.model == m)
            ).properties(title=m, width=460)
            for m in dict.fromkeys(row["model"] for row in rows)
        ]
    ).configure(font="sans-serif")


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
