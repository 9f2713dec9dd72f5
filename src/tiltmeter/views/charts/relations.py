"""What goes with what: each word's lean against a number known of it, such as the share of women in an occupation."""

from __future__ import annotations

from statistics import fmean, linear_regression
from typing import Any

import altair as alt

from tiltmeter.readings import Reading, p_text
from tiltmeter.views.charts.labelling import Frame, names
from tiltmeter.views.charts.style import GROUP_COLOURS, SOFT, Figure, look_of, says, table, titled

_WIDTH, _HEIGHT = 430, 430


def relation(reading: Reading) -> Figure | None:
    """A point for each unit with its name, and the line of least squares; None for an effect that is no correlation."""
    statistic = reading.statistic
    if statistic is None or statistic.name not in ("pearson", "spearman") or len(statistic.of) != 2:
        return None
    units = _units(reading, *statistic.of[::-1])
    if len({x for _, _, x, _ in units}) < 2:
        return None
    column_x, column_y = statistic.of[1], statistic.of[0]
    meaning = reading.item_meaning
    name_y = meaning.name if meaning and column_y == "value" else column_y.replace("_", " ")
    name_x = column_x.replace("_", " ")
    poles = meaning.poles if meaning else None
    slope, intercept = linear_regression([x for _, _, x, _ in units], [y for *_, y in units])
    rows = [
        {"x": x, "y": y, "word": word, "group": group, "says": f"{word}: {name_x} {x:.2f}, {name_y} {y:+.2f}"}
        for word, group, x, y in units
    ]
    frame = Frame.around([(x, y) for _, _, x, y in units], _WIDTH, _HEIGHT)
    x = alt.X("x:Q", title=name_x, scale=alt.Scale(domain=frame[2:4], nice=False), axis=_AXIS)
    title_y = f"◄ {poles.negative} · {name_y} · {poles.positive} ►" if poles else name_y
    y = alt.Y("y:Q", title=title_y, scale=alt.Scale(domain=frame[4:6], nice=False), axis=_AXIS)
    groups = list(dict.fromkeys(row["group"] for row in rows))
    look = look_of("group", groups, orient="bottom", labelLimit=260) if len(groups) > 1 else _ONE
    texts, named = names([row["word"] for row in rows], [(row["x"], row["y"]) for row in rows], frame, x, y)
    ends = [min(row["x"] for row in rows), max(row["x"] for row in rows)]
    line = table([{"x": at, "y": intercept + slope * at} for at in ends]).mark_line(
        color=SOFT, strokeWidth=2, aria=False
    )
    level = table([{"y": 0.0}]).mark_rule(color=SOFT, strokeDash=[2, 3], aria=False)
    points = table(rows).mark_point(filled=True, size=30, opacity=1)
    chart = alt.layer(
        *([level.encode(y=y)] if frame.low < 0 < frame.high else []),
        line.encode(x=x, y=y),
        points.encode(x=x, y=y, **look, **says()),
        *texts,
        width=_WIDTH,
        height=_HEIGHT,
    )
    verdict, effect = reading.verdict, reading.effect
    p = f", {p_text(verdict.p_corrected)} corrected" if verdict.p_corrected is not None else ""
    number = f"{effect.name} {effect}{p}: {verdict.state}"
    left = len(rows) - named
    words = [f"{reading.model}; {number}", "line: least squares" + (f"; {left} names find no room" if left else "")]
    return Figure(
        "relation",
        reading.title,
        _alt(reading, rows, number, (slope, intercept), (name_x, name_y)),
        titled(chart, reading.title, words, letters=66, right=10),
    )


_AXIS = alt.Axis(grid=False, tickCount=5)
_ONE = {"color": alt.ColorValue(GROUP_COLOURS[0]), "shape": alt.ShapeValue("square")}


def _units(reading: Reading, x: str, y: str) -> list[tuple[str, str, float, float]]:
    """Each unit with the means of its two numbers; items that lack one do not count."""
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for item in reading.items:
        both = item.get(x), item.get(y)
        if isinstance(both[0], int | float) and isinstance(both[1], int | float):
            found.setdefault((item.unit, item.group), []).append((both[0], both[1]))
    return [(*unit, fmean(a for a, _ in pairs), fmean(b for _, b in pairs)) for unit, pairs in found.items()]


def _alt(
    reading: Reading, rows: list[dict[str, Any]], number: str, line: tuple[float, float], axes: tuple[str, str]
) -> str:
    """Whether the line rises or falls, and which words stand farthest from it."""
    slope, intercept = line
    off = sorted(rows, key=lambda row: row["y"] - intercept - slope * row["x"])
    way = "rises" if slope > 0 else "falls"
    return (
        f"{len(rows)} words on {reading.model}, their {axes[1]} against their {axes[0]}: the line {way} ({number}); "
        f"farthest above it is {off[-1]['word']}, farthest below {off[0]['word']}."
    )
