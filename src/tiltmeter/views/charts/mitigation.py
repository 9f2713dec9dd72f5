"""Charts of mitigation: the gain of every method against its price, and what became of each reading."""

from __future__ import annotations

from typing import Any

import altair as alt

from tiltmeter.readings.mitigation import KEEPS, Mitigation, Moved
from tiltmeter.views.charts.style import FAINT, SOFT, Figure, look_of, names_axis, says, table, titled, unchecked

_WIDTH, _HEIGHT, _ROW = 460, 300, 24
_LONGEST_NAME = 52


def mitigation_figures(result: Mitigation) -> list[Figure]:
    """Gain against price, then a chart of every method's readings."""
    with unchecked():
        figures = (gain_and_price(result), dumbbells(result))
        return [figure for figure in figures if figure is not None]


def gain_and_price(result: Mitigation) -> Figure | None:
    """The share of the lean that is left and the share of the utility that is kept, a point with intervals per method.

    The best place is on the left and high up. Below the line a method costs too much to pay.
    """
    points = [
        {
            "method": each.method,
            "left": each.bias_left.value,
            "left_low": each.bias_left.ci.low,
            "left_high": each.bias_left.ci.high,
            "kept": each.utility_kept.value,
            "kept_low": each.utility_kept.ci.low,
            "kept_high": each.utility_kept.ci.high,
            "says": each.in_words(),
        }
        for each in result.outcomes
        if each.bias_left and each.utility_kept
    ]
    if not points:
        return None
    names = [str(point["method"]) for point in points]
    others = [
        {"method": each.method, "left": each.left, "kept": each.kept}
        for each in result.others
        if each.left is not None and each.kept is not None and each.method in names
    ]
    percent = alt.Axis(format="%", grid=False, tickCount=6)
    scale = alt.Scale(zero=False, padding=16)
    x = alt.X("left:Q", title="lean left (of that before; 95% interval)", axis=percent, scale=scale)
    y = alt.Y("kept:Q", title="utility kept (95% interval)", axis=percent, scale=scale)
    look = look_of("method", names, orient="bottom")
    lines = table(points).mark_rule(strokeWidth=1.6, aria=False)
    small = [table(others).mark_point(size=36, strokeWidth=1.2, aria=False).encode(x=x, y=y, **look)] if others else []
    chart = alt.layer(
        table([{"at": KEEPS}]).mark_rule(color=FAINT, strokeDash=[4, 4], aria=False).encode(y="at:Q"),
        lines.encode(x="left_low:Q", x2="left_high:Q", y=y, color=look["color"]),
        lines.encode(x=x, y="kept_low:Q", y2="kept_high:Q", color=look["color"]),
        *small,
        table(points).mark_point(size=110, filled=True, opacity=1).encode(x=x, y=y, **look, **says()),
        width=_WIDTH,
        height=_HEIGHT,
    )
    title = f"Gain against price on {result.model}"
    words = [f"left and high is best; below the broken line ({KEEPS:.0%} kept) a method costs too much to pay"]
    if others:
        words.append("small and open: the same with other splits of the words")
    told = "; ".join(f"{p['method']} leaves {p['left']:.0%} of the lean and keeps {p['kept']:.0%}" for p in points)
    return Figure("gain-and-price", title, f"{title}: {told}.", titled(chart, title, words))


def dumbbells(result: Mitigation) -> Figure | None:
    """Every deciding reading before (open) and after (full) each method, one panel per method."""
    measured = [each for each in result.outcomes if each.deciding]
    if not measured:
        return None
    # The same readings are in the same place in every panel, the furthest from level first.
    panels = [
        _panel(each.method, [_row(moved) for moved in sorted(each.deciding, key=_distance_before)]) for each in measured
    ]
    chart = alt.vconcat(*panels, spacing=14).resolve_scale(x="shared")
    title = "Before and after, on held-out words"
    words = [
        "open: before; full: after; the line is level. A grey line: noise could explain that it is nearer or further"
    ]
    told = "; ".join(f"{each.method}: {each.less} of {len(each.deciding)} lean less" for each in measured)
    return Figure("before-and-after", title, f"{title}. {told}.", titled(chart, title, words))


def _distance_before(moved: Moved) -> float:
    return -abs(moved.before - moved.level)


def _row(moved: Any) -> dict[str, Any]:
    name = moved.title.removesuffix(" (held-out words)")
    return {
        "name": name,
        "before": moved.before - moved.level,
        "after": moved.after - moved.level,
        "verdict": moved.verdict,
        "says": f"{name}: {moved.before:.2f} before, {moved.after:.2f} after: {moved.verdict}",
    }


def _panel(method: str, rows: list[dict[str, Any]]) -> Any:
    names = [row["name"] for row in rows]
    y = alt.Y("name:N", title=None, sort=names, axis=names_axis(names, _LONGEST_NAME))
    x = alt.X("after:Q", title="distance from level", axis=alt.Axis(grid=False, tickCount=5))
    verdicts = ["leans less", "leans more", "as far from level"]
    colour = alt.Color(
        "verdict:N", scale=alt.Scale(domain=verdicts, range=["#009E73", "#D55E00", SOFT]), legend=alt.Legend(title=None)
    )
    data = table(rows)
    return alt.layer(
        table([{"at": 0.0}]).mark_rule(color=FAINT, aria=False).encode(x=alt.X("at:Q", title="distance from level")),
        data.mark_rule(strokeWidth=3, aria=False).encode(x="before:Q", x2="after:Q", y=y, color=colour),
        data.mark_point(size=60, filled=False, strokeWidth=1.8, aria=False).encode(x="before:Q", y=y, color=colour),
        data.mark_point(size=70, filled=True, opacity=1).encode(x=x, y=y, color=colour, **says()),
        width=_WIDTH - 120,
        height=_ROW * len(rows),
        title=alt.Title(method, fontSize=12, anchor="start"),
    )
