"""Maps of a CABM reading: scores by weighting, their density, where sentences stand. None where the data is missing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from tiltmeter.readings import Item
from tiltmeter.readings.details.cabm import CabmDetails, Point, in_order
from tiltmeter.views.charts.cabm import colours
from tiltmeter.views.charts.style import INK, table, where

DIVERGING = ("#D55E00", "#ffffff", "#0072B2")
from tiltmeter.views.charts.style import *

_ROW = 15
_CELL = 52
_HEIGHT = 320
_MARGIN = 24
#: The width of a letter in a name beside a point.
_LETTER = 6


def heat_map(items: Sequence[Item], details: CabmDetails) -> Any | None:
    """The score of each occupation by every weighting, one panel per form, each coloured by its own farthest score."""
    place = {item.label: n for n, item in enumerate(items)}
    words = [item.label for item in colours.shown_items(items)]
    panels: list[Any] = []
    for title, form in details.forms.items():
        rows = [
            {"form": title, "word": word, "weighting": weighting, "score": form.scores[weighting][place[word]]}
            for weighting in in_order(form.scores)
            for word in words
        ]
        panels.append(_cells(rows, words, title, labelled=not panels))
    chart = alt.hconcat(*panels, spacing=14).resolve_scale(color="independent")
    subtitle = f"each form in its own units; white is level{colours.not_shown(items)}"
    return colours.finished(chart, "Scores by weighting", subtitle)


def _cells(rows: list[dict[str, Any]], words: list[str], form: str, *, labelled: bool) -> Any:
    end = max(abs(row["score"]) for row in rows) or 1.0
    across = alt.Axis(orient="top", labelAngle=0, ticks=False, domain=False)
    down = alt.Axis(labelLimit=200, ticks=False, domain=False) if labelled else None
    base = table(rows).encode(
        x=alt.X("weighting:N", sort=in_order(row["weighting"] for row in rows), title=None, axis=across),
        y=alt.Y("word:N", sort=words, title=None, axis=down),
    )
    ink = where(f"abs(datum.score) > {0.6 * end}", "white", INK, channel="Color")
    # No legend: the numbers stand in the cells.
    cells = base.mark_rect().encode(color=alt.Color("score:Q", scale=diverging(end), legend=None))
    texts = base.mark_text(fontSize=10).encode(text=alt.Text("score:Q", format="+.2f"), color=ink)
    title = colours.panel_title(form)
    return alt.layer(cells, texts, title=title, width=alt.Step(_CELL), height=alt.Step(_ROW))


def density(_items: Sequence[Item], details: CabmDetails) -> Any | None:
    """How the scores are distributed (kernel density), as validated and by every weighting, one panel per form."""
    panels = []
    for title, form in details.forms.items():
        kde = form.validation.kde
        if kde is None:
            continue
        heights = zip(kde.grid, kde.density, strict=True)
        rows = [{"form": title, "score": at, "density": height} for at, height in heights]
        area = table(rows).mark_area(color="#c9d3df", line={"color": INK})
        area = area.encode(x=alt.X("score:Q", title="score"), y=alt.Y("density:Q", title="density"))
        layers = alt.layer(area, *_by_weighting(form.scores, kde.grid), *colours.levels("x", details.threshold))
        panels.append(layers.properties(title=colours.panel_title(title), width=colours.WIDTH // 2 + 10, height=170))
    if not panels:
        return None
    subtitle = f"line: 0, level; dashed: ±{details.threshold:g}; grey: scores as they were validated"
    return colours.finished(alt.hconcat(*panels), "Distribution of the scores", subtitle)


def _by_weighting(scores: Mapping[str, Sequence[float]], grid: Sequence[float]) -> list[Any]:
    varied = {name: scores[name] for name in in_order(scores) if max(scores[name]) - min(scores[name]) > 0}
    rows = [{"weighting": name, "score": value} for name, values in varied.items() for value in values]
    if not rows:
        return []
    extent = [grid[0], grid[-1]]
    lines = table(rows).transform_density("score", groupby=["weighting"], extent=extent, as_=["score", "density"])
    colour = alt.Color("weighting:N", scale=alt.Scale(scheme="tableau10"), **colours.legend())
    return [lines.mark_line(strokeWidth=1.5).encode(x="score:Q", y="density:Q", color=colour)]


def both_forms(items: Sequence[Item], details: CabmDetails) -> Any | None:
    """The published score against the repaired one."""
    rows = [
        {"word": item.label, "group": item.group, "x": item.value, "y": item.get("published")}
        for item in items
        if item.get("published") is not None
    ]
    if not rows:
        return None
    threshold = details.threshold
    axes = (alt.X("x:Q", title="repaired score"), alt.Y("y:Q", title="published score"))
    lines = [*colours.levels("x", threshold), *colours.levels("y", threshold)]
    points = _scatter(details, rows, *axes, around_0=True)
    words = f"lines: 0, level; dashed: ±{threshold:g}; hollow: too close to call as repaired"
    return colours.finished(alt.layer(*lines, *points), "Published against repaired", words, height=_HEIGHT)


def occupations(items: Sequence[Item], details: CabmDetails) -> Any | None:
    """Where the sentences of each occupation stand, half-way between its two versions, on the two main axes."""
    groups = {item.label: item.group for item in items}
    rows = [
        {"word": word, "group": groups[word], "x": (one[0] + two[0]) / 2, "y": (one[1] + two[1]) / 2}
        for word, (one, two) in _projection(items, details).items()
    ]
    if not rows:
        return None
    chart = alt.layer(*_scatter(details, rows, *_main_axes()))
    words = "mean of an occupation's sentences, half-way between its groups; near is alike"
    return colours.finished(chart, "Where occupations stand", words, height=_HEIGHT)


def _projection(items: Sequence[Item], details: CabmDetails) -> dict[str, tuple[Point, Point]]:
    """In the order of the items, which a reading on disk keeps."""
    return {item.label: details.projection[item.label] for item in items if item.label in details.projection}


def shift(items: Sequence[Item], details: CabmDetails) -> Any | None:
    """How far an occupation's sentences move when the group in them is exchanged."""
    projection = _projection(items, details)
    if not projection:
        return None
    groups = details.groups
    ends = [
        {"word": word, "version": group, "x": at[0], "y": at[1]}
        for word, places in projection.items()
        for group, at in zip(groups, places, strict=True)
    ]
    both = projection.items()
    moves = [{"word": word, "x": one[0], "y": one[1], "x2": two[0], "y2": two[1]} for word, (one, two) in both]
    x, y = _main_axes()
    scale = alt.Scale(domain=list(groups), range=[DIVERGING[2], DIVERGING[0]])
    lines = table(moves).mark_rule(color="#c4cad3").encode(x=x, y=y, x2="x2:Q", y2="y2:Q")
    points = table(ends).mark_point(filled=True, size=34, opacity=0.9)
    colour = alt.Color("version:N", scale=scale, **colours.legend())
    points = points.encode(x=x, y=y, color=colour, tooltip=["word:N", "version:N"])
    chart = alt.layer(lines, points, _outer_names(ends, x, y))
    words = "a line joins the two versions of an occupation's sentences; named: the longest where there is room"
    return colours.finished(chart, "How exchanging the group moves a sentence", words, height=_HEIGHT)


def _outer_names(ends: list[dict[str, Any]], x: Any, y: Any) -> Any:
    """Names at the ends that belong to the first group, on the side where no lines are; the longest moves first."""
    places = [(end["x"], end["y"]) for end in ends]
    # The first of the two ends of each occupation has an even place.
    firsts = range(0, len(ends), 2)
    side = 1 if sum(places[i][0] - places[i + 1][0] for i in firsts) > 0 else -1
    far = sorted(firsts, key=lambda i: -math.dist(places[i], places[i + 1]))
    named = [ends[i] for i in _without_overlap(ends, far, side=side)]
    text = table(named).mark_text(align="left" if side > 0 else "right", dx=7 * side, fontSize=11, color=INK)
    return text.encode(x=x, y=y, text="word:N")


def _main_axes() -> tuple[Any, Any]:
    scale = alt.Scale(zero=False, padding=_MARGIN)
    return alt.X("x:Q", title="first main axis", scale=scale), alt.Y("y:Q", title="second main axis", scale=scale)


def _scatter(details: CabmDetails, rows: list[dict[str, Any]], x: Any, y: Any, *, around_0: bool = False) -> list[Any]:
    """Points by category; those farthest out get their names first."""
    points = table(rows).mark_point(size=50, strokeWidth=1.5, opacity=1)
    points = points.encode(x=x, y=y, tooltip=["word:N", "group:N"], **colours.category_look(details))
    # Where the chart reaches to 0, points have the less room.
    placed = [*rows, {"word": "", "x": 0.0, "y": 0.0}] if around_0 else rows
    places = _places(placed)[: len(rows)]
    centre = [sum(axis) / len(places) for axis in zip(*places, strict=True)]
    far = sorted(range(len(rows)), key=lambda i: -math.dist(places[i], centre))
    named = [rows[i] for i in _without_overlap(placed, far)]
    return [points, table(named).mark_text(align="left", dx=7, fontSize=11, color=INK).encode(x=x, y=y, text="word:N")]


def _places(rows: Sequence[Mapping[str, Any]]) -> list[list[float]]:
    """About where the points come to lie, in pixels."""
    lows = {key: min(row[key] for row in rows) for key in ("x", "y")}
    spans = {key: max(row[key] for row in rows) - lows[key] or 1.0 for key in ("x", "y")}
    sizes = {"x": colours.WIDTH - 2 * _MARGIN, "y": _HEIGHT - 2 * _MARGIN}
    return [[(row[key] - lows[key]) / spans[key] * sizes[key] for key in ("x", "y")] for row in rows]


def _without_overlap(rows: Sequence[Mapping[str, Any]], order: Sequence[int], *, side: int = 1) -> list[int]:
    """Rows whose word, written to the right (or left, -1) of its point, covers no other point and no other word."""
    places = _places(rows)
    kept: list[int] = []

    def covers(i: int, j: int, also: float = 0.0) -> bool:
        ahead = side * (places[j][0] - places[i][0])
        return -also < ahead < _LETTER * len(rows[i]["word"]) + 12 and abs(places[j][1] - places[i][1]) < 11

    for i in order:
        points = any(covers(i, j) for j in range(len(rows)) if j != i)
        words = any(covers(i, j, _LETTER * len(rows[j]["word"]) + 12) for j in kept)
        if not points and not words:
            kept.append(i)
    return kept
