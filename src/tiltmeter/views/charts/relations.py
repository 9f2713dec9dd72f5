"""What goes with what: each word's lean against a number known of it, such as the share of women in an occupation."""

from __future__ import annotations

from statistics import LinearRegression, fmean, linear_regression
from typing import Any

import altair as alt

from tiltmeter.readings import Poles, Reading, p_text
from tiltmeter.views.charts.point_names import Frame, names
from tiltmeter.views.charts.style import GROUP_COLOURS, SOFT, Figure, look_of, says, table, titled

_WIDTH, _HEIGHT = 430, 430


def relation(reading: Reading) -> Figure | None:
    """A point for each unit with its name, and the line of least squares; None unless the effect is a correlation."""
    statistic, meaning = reading.statistic, reading.item_meaning
    if statistic is None or statistic.name not in ("pearson", "spearman") or len(statistic.of) != 2:
        return None
    of_y, of_x = statistic.of
    axes = _named(of_x), meaning.name if meaning and of_y == "value" else _named(of_y)
    rows: list[dict[str, Any]] = [
        {"word": word, "group": group, "x": x, "y": y, "says": f"{word}: {axes[0]} {x:.2f}, {axes[1]} {y:+.2f}"}
        for word, group, x, y in _units(reading, of_x, of_y)
    ]
    if len({row["x"] for row in rows}) < 2:
        return None
    line = linear_regression([row["x"] for row in rows], [row["y"] for row in rows])
    chart, unnamed = _scatter(rows, line, axes, meaning.poles if meaning else None)
    verdict, effect = reading.verdict, reading.effect
    p = f", {p_text(verdict.p_corrected)} corrected" if verdict.p_corrected is not None else ""
    number = f"{effect.name} {effect}{p}: {verdict.state}"
    words = [
        f"{reading.model}; {number}",
        "line: least squares" + (f"; {unnamed} words without room for their names" if unnamed else ""),
    ]
    off = sorted(rows, key=lambda row: row["y"] - line.intercept - line.slope * row["x"])
    alt_text = (
        f"{len(rows)} words on {reading.model}, their {axes[1]} against their {axes[0]}: the line "
        f"{'rises' if line.slope > 0 else 'falls'} ({number}); farthest above it is {off[-1]['word']}, farthest below "
        f"{off[0]['word']}."
    )
    chart = titled(chart, reading.title, words, letters=66, right=10)
    return Figure("relation", reading.title, alt_text, chart)


def _named(column: str) -> str:
    """A column in words.

    >>> _named("share_men"), _named("female_share")
    ('share of men', 'female share')
    """
    return column.replace("share_", "share of ").replace("_", " ")


def _scatter(
    rows: list[dict[str, Any]], line: LinearRegression, axes: tuple[str, str], poles: Poles | None
) -> tuple[Any, int]:
    """The chart, and how many names find no room in it."""
    points = [(row["x"], row["y"]) for row in rows]
    frame = Frame.around(points, _WIDTH, _HEIGHT)
    x = alt.X("x:Q", title=axes[0], scale=alt.Scale(domain=frame[2:4], nice=False), axis=_AXIS)
    ends = f"◄ {poles.negative} · {axes[1]} · {poles.positive} ►" if poles else axes[1]
    y = alt.Y("y:Q", title=ends, scale=alt.Scale(domain=frame[4:6], nice=False), axis=_AXIS)
    groups = list(dict.fromkeys(row["group"] for row in rows))
    look = look_of("group", groups, orient="bottom", labelLimit=260) if len(groups) > 1 else _ONE
    texts, named = names([row["word"] for row in rows], points, frame, x, y)
    fitted = [{"x": at, "y": line.intercept + line.slope * at} for at in (min(points)[0], max(points)[0])]
    level = table([{"y": 0.0}]).mark_rule(color=SOFT, strokeDash=[2, 3], aria=False)
    chart = alt.layer(
        *([level.encode(y=y)] if frame.low < 0 < frame.high else []),
        table(fitted).mark_line(color=SOFT, strokeWidth=2, aria=False).encode(x=x, y=y),
        table(rows).mark_point(filled=True, size=30, opacity=1).encode(x=x, y=y, **look, **says()),
        *texts,
        width=_WIDTH,
        height=_HEIGHT,
    )
    return chart, len(rows) - named


_AXIS = alt.Axis(grid=False, tickCount=5)
_ONE = {"color": alt.ColorValue(GROUP_COLOURS[0]), "shape": alt.ShapeValue("square")}


def _units(reading: Reading, x: str, y: str) -> list[tuple[str, str, float, float]]:
    """Each unit with the means of its two numbers; items that lack one do not count."""
    by_unit: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for item in reading.items:
        both = item.get(x), item.get(y)
        if isinstance(both[0], int | float) and isinstance(both[1], int | float):
            by_unit.setdefault((item.unit, item.group), []).append((both[0], both[1]))
    return [(*unit, fmean(a for a, _ in pairs), fmean(b for _, b in pairs)) for unit, pairs in by_unit.items()]
