"""Maps of a CABM reading: scores by weighting, their density, where sentences stand. None where the data is missing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from tiltmeter.readings import Item
from tiltmeter.readings.details.cabm import CabmDetails, Point, in_order
from tiltmeter.views.charts.cabm import colours
from tiltmeter.views.charts.point_names import Frame, names
from tiltmeter.views.charts.shades import AWAY, TOWARDS, shade
from tiltmeter.views.charts.style import FAINT, INK, SHADES, table

_ROW = 15
#: What the two directions are called.
_WORDS = ("green", "brown")
_CELL = 44
_HEIGHT = 320


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
    (one, two), (green, brown) = details.groups, _WORDS
    subtitle = f"each form in its own units; {green}: {one}, {brown}: {two}{colours.not_shown(items)}"
    ways = in_order(details.repaired.scores)
    seen = f"{len(words)} occupations by {len(ways)} weightings; {colours.ends(items, details.groups)}"
    return colours.finished(chart, "Scores by weighting", subtitle, seen)


def _cells(rows: list[dict[str, Any]], words: list[str], form: str, *, labelled: bool) -> Any:
    end = max(abs(row["score"]) for row in rows) or 1.0
    across = alt.Axis(orient="top", labelAngle=0, ticks=False, domain=False)
    down = alt.Axis(labelLimit=200, ticks=False, domain=False) if labelled else None
    # In steps of a quarter of the farthest score.
    shaded = [row | shade(min(3, int(4 * abs(row["score"]) / end)), row["score"])._asdict() for row in rows]
    base = table(shaded).encode(
        x=alt.X("weighting:N", sort=in_order(row["weighting"] for row in rows), title=None, axis=across),
        y=alt.Y("word:N", sort=words, title=None, axis=down),
    )
    paint = {
        "fill": alt.Fill("fill:N", scale=None, legend=None),
        "fillOpacity": alt.FillOpacity("opacity:Q", scale=None, legend=None),
    }
    # No legend: the numbers stand in the cells.
    cells = base.mark_rect(stroke=FAINT, strokeWidth=0.5).encode(**paint)
    texts = base.mark_text(fontSize=10).encode(
        text=alt.Text("score:Q", format="+.2f"), color=alt.Color("ink:N", scale=None, legend=None)
    )
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
        area = table(rows).mark_area(color=SHADES[2], line={"color": INK})
        area = area.encode(
            x=alt.X("score:Q", title=colours.between("score", details.groups)), y=alt.Y("density:Q", title="density")
        )
        layers = alt.layer(area, *_by_weighting(form.scores, kde.grid), *colours.levels("x", details.threshold))
        panels.append(layers.properties(title=colours.panel_title(title), width=colours.WIDTH // 2 - 6, height=150))
    if not panels:
        return None
    subtitle = f"line: 0, level; dashed: ±{details.threshold:g}; grey: scores as they were validated"
    seen = "; ".join(
        f"{title} around {sum(scores) / len(scores):+.2f}"
        for title, form in details.forms.items()
        if (scores := form.scores.get(form.method))
    )
    return colours.finished(alt.hconcat(*panels), "Distribution of the scores", subtitle, seen)


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
    rows: list[dict[str, Any]] = [
        {"word": item.label, "group": item.group, "x": item.value, "y": item.get("published")}
        for item in items
        if item.get("published") is not None
    ]
    if not rows:
        return None
    threshold = details.threshold
    axes = [colours.between(f"{form} score", details.groups) for form in ("repaired", "published")]
    lines = [*colours.levels("x", threshold), *colours.levels("y", threshold)]
    points = _scatter(details, rows, axes, around=[(0.0, 0.0)])
    words = f"lines: 0, level; dashed: ±{threshold:g}; hollow: too close to call as repaired"
    changed = sum((row["x"] > 0) != (row["y"] > 0) for row in rows)
    seen = f"{changed} of {len(rows)} occupations lie on the other side of level in the published form"
    return colours.finished(alt.layer(*lines, *points), "Published against repaired", words, seen, height=_HEIGHT)


def occupations(items: Sequence[Item], details: CabmDetails) -> Any | None:
    """Where the sentences of each occupation stand, half-way between its two versions, on the two main axes."""
    groups = {item.label: item.group for item in items}
    rows: list[dict[str, Any]] = [
        {"word": word, "group": groups[word], "x": (one[0] + two[0]) / 2, "y": (one[1] + two[1]) / 2}
        for word, (one, two) in _projection(items, details).items()
    ]
    if not rows:
        return None
    chart = alt.layer(*_scatter(details, rows, _MAIN_AXES))
    words = "mean of an occupation's sentences, half-way between its groups; near is alike"
    left, right = (end(rows, key=lambda row: row["x"])["word"] for end in (min, max))
    seen = f"{len(rows)} occupations, from {left} at the left to {right} at the right"
    return colours.finished(chart, "Where occupations stand", words, seen, height=_HEIGHT)


def _projection(items: Sequence[Item], details: CabmDetails) -> dict[str, tuple[Point, Point]]:
    """In the order of the items, which a reading on disk keeps."""
    return {item.label: details.projection[item.label] for item in items if item.label in details.projection}


def shift(items: Sequence[Item], details: CabmDetails) -> Any | None:
    """How far an occupation's sentences move when the group in them is exchanged."""
    projection = _projection(items, details)
    if not projection:
        return None
    groups = details.groups
    ends: list[dict[str, Any]] = [
        {"word": word, "version": group, "x": at[0], "y": at[1]}
        for word, places in projection.items()
        for group, at in zip(groups, places, strict=True)
    ]
    both = projection.items()
    moves = [{"word": word, "x": one[0], "y": one[1], "x2": two[0], "y2": two[1]} for word, (one, two) in both]
    frame = Frame.around([(end["x"], end["y"]) for end in ends], colours.WIDTH, _HEIGHT)
    x, y = _axes(frame, _MAIN_AXES)
    scale = alt.Scale(domain=list(groups), range=[TOWARDS, AWAY])
    lines = table(moves).mark_rule(color=FAINT).encode(x=x, y=y, x2="x2:Q", y2="y2:Q")
    points = table(ends).mark_point(filled=True, shape="square", size=26, opacity=0.9)
    colour = alt.Color("version:N", scale=scale, **colours.legend())
    points = points.encode(x=x, y=y, color=colour, tooltip=["word:N", "version:N"])
    firsts = ends[::2]
    texts, _ = names([end["word"] for end in firsts], [(end["x"], end["y"]) for end in firsts], frame, x, y)
    chart = alt.layer(lines, points, *texts)
    words = "a line joins the two versions of an occupation's sentences; named where there is room"
    far, near = (end(projection, key=lambda word: math.dist(*projection[word])) for end in (max, min))
    seen = f"{far} moves most, {near} least"
    return colours.finished(chart, "How exchanging the group moves a sentence", words, seen, height=_HEIGHT)


_MAIN_AXES = ("first main axis", "second main axis")


def _axes(frame: Frame, titles: Sequence[str]) -> tuple[Any, Any]:
    across, up = (alt.Scale(domain=edges, nice=False) for edges in (frame[2:4], frame[4:6]))
    axis = alt.Axis(grid=False, tickCount=5)
    return alt.X("x:Q", title=titles[0], scale=across, axis=axis), alt.Y("y:Q", title=titles[1], scale=up, axis=axis)


def _scatter(
    details: CabmDetails, rows: list[dict[str, Any]], titles: Sequence[str], *, around: Sequence[Point] = ()
) -> list[Any]:
    """Points by category, with their names where these find room."""
    places = [(row["x"], row["y"]) for row in rows]
    frame = Frame.around([*places, *around], colours.WIDTH, _HEIGHT)
    x, y = _axes(frame, titles)
    points = table(rows).mark_point(shape="square", size=40, strokeWidth=1.5, opacity=1)
    points = points.encode(x=x, y=y, tooltip=["word:N", "group:N"], **colours.category_look(details))
    texts, _ = names([row["word"] for row in rows], places, frame, x, y)
    return [points, *texts]
