"""Log-probability bias: what a sentence expects before it says the attribute, against what the attribute adds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import altair as alt

from tiltmeter.readings import Poles, Reading
from tiltmeter.views.charts.style import GROUP_COLOURS, INK, SOFT, Figure, look_of, pixel, says, table, titled

Row = Mapping[str, Any]
#: Of more points than these in a panel, their number in each hexagon is drawn.
MOST_POINTS = 120
_ACROSS, _SIZE, _MARGINAL = 2, 168, 28
#: Hexagons across a panel, and bars of a marginal.
_HEXAGONS, _BARS = 16, 24
#: A hexagon on its point, in a square from -1 to 1.
_HEXAGON = "M0,-1L.866,-.5L.866,.5L0,1L-.866,.5L-.866,-.5Z"


def prior(reading: Reading) -> Figure | None:
    """Prior against association with the distribution of each beside them, a panel for each sentence structure (S1 to
    S5): points, or hexagons where there are many; None for a reading without priors.
    """
    by_structure: dict[str, list[Row]] = {}
    for item in reading.items:
        if item.get("prior_bias") is not None and item.value is not None:
            row = {"prior": item.get("prior_bias"), "added": item.value, "group": item.group, "word": item.unit}
            by_structure.setdefault(str(item.get("structure") or ""), []).append(row)
    if not by_structure:
        return None
    title = "Prior against association: " + reading.title
    rows = [row for mine in by_structure.values() for row in mine]
    # One frame for all panels, so that they can be held against each other.
    far, high = (math.ceil(10 * max(abs(row[key]) for row in rows)) / 10 or 0.1 for key in ("prior", "added"))
    groups = list(dict.fromkeys(row["group"] for row in rows))
    crowded = len(rows) > MOST_POINTS * len(by_structure)
    poles = reading.item_meaning.poles if reading.item_meaning else None
    size = _SIZE if len(by_structure) > 1 else 2 * _SIZE
    panels = [
        _panel(name, mine, (far, high), size, poles, () if crowded else groups) for name, mine in by_structure.items()
    ]
    chart = panels[0] if len(panels) == 1 else alt.concat(*panels, columns=_ACROSS, spacing=14)
    drawn = "hexagons: the darker, the more items" if crowded else "one point per item"
    words = [f"{reading.model}; {drawn}; bars: how each is distributed; lines: level"]
    means = "; ".join(
        f"{structure or 'all sentences'} prior {fmean(row['prior'] for row in mine):+.2f}, "
        f"association {fmean(row['added'] for row in mine):+.2f}"
        for structure, mine in by_structure.items()
    )
    above = f", above 0 towards {poles.positive}, below towards {poles.negative}" if poles else ""
    alt_text = f"Prior bias against association of {len(rows)} items on {reading.model}{above}; means: {means}."
    return Figure("prior", title, alt_text, titled(chart, title, words, letters=60))


def _panel(
    name: str, rows: Sequence[Row], ends: tuple[float, float], size: float, poles: Poles | None, groups: Sequence[str]
) -> Any:
    """Points of these groups, or hexagons without any, below and beside the bars of both numbers."""
    low, top = (f"◄ {poles.negative} · ", f" · {poles.positive} ►") if poles else ("", "")
    x = _axis(alt.X, "prior", f"{low}prior bias{top}", ends[0])
    y = _axis(alt.Y, "added", f"{low}association{top}", ends[1])
    middle = _points(rows, groups) if groups else _hexagons(rows, ends, size)
    middle = middle.encode(x=x, y=y, **says()).properties(width=size, height=size)
    across = _marginal([row["prior"] for row in rows], ends[0], size, upright=True)
    margin = _marginal([row["added"] for row in rows], ends[1], size, upright=False)
    if name:
        across.title = alt.Title(name, fontSize=12, color=INK, anchor="start")
    return alt.vconcat(across, alt.hconcat(middle, margin, spacing=2), spacing=2)


def _axis(channel: Any, field: str, title: str, end: float) -> Any:
    level = {"condition": {"test": "datum.value === 0", "value": SOFT}, "value": "transparent"}
    axis = alt.Axis(grid=True, gridColor=level, values=[-end, 0, end], format=".1~f", titleFontSize=11)
    return channel(f"{field}:Q", title=title, scale=alt.Scale(domain=[-end, end], nice=False), axis=axis)


def _points(rows: Sequence[Row], groups: Sequence[str]) -> Any:
    drawn = [
        {**row, "says": f"{row['word']} ({row['group']}): prior {row['prior']:+.2f}, association {row['added']:+.2f}"}
        for row in rows
    ]
    points = table(drawn).mark_point(filled=True, size=30, opacity=0.8)
    return points.encode(**look_of("group", groups, orient="bottom", labelLimit=260))


def _hexagons(rows: Sequence[Row], ends: tuple[float, float], size: float) -> Any:
    """Counts in hexagons, which are made here because thousands of points do not belong in a file."""
    radius = size / _HEXAGONS / math.sqrt(3)
    counts = Counter(
        hexagon((row["prior"] / ends[0] + 1) * size / 2, (row["added"] / ends[1] + 1) * size / 2, radius)
        for row in rows
    )
    most = max(counts.values())
    cells = [
        {"prior": (2 * at / size - 1) * ends[0], "added": (2 * up / size - 1) * ends[1], "items": n}
        | {"opacity": 0.15 + 0.85 * n / most, "says": f"{n} items"}
        for (at, up), n in counts.items()
    ]
    marks = table(cells).mark_point(
        shape=_HEXAGON, size=(2 * radius) ** 2, fill=GROUP_COLOURS[0], strokeWidth=0, clip=True
    )
    return marks.encode(fillOpacity=alt.FillOpacity("opacity:Q", scale=None), opacity=alt.value(1))


def hexagon(x: float, y: float, radius: float) -> tuple[float, float]:
    """The centre of the hexagon of a honeycomb in which a point lies; the honeycomb stands on its points.

    >>> hexagon(0.1, -0.2, 1.0), hexagon(0.9, 1.4, 1.0)
    ((0.0, 0.0), (0.8660254037844386, 1.5))
    """
    across, up = math.sqrt(3) * radius, 1.5 * radius
    row = round(y / up)
    # The nearest centre is in the nearest row or in one of its neighbours.
    centres = [
        ((round(x / across - shift) + shift) * across, near * up)
        for near in (row - 1, row, row + 1)
        for shift in (0.5 * (near % 2),)
    ]
    return min(centres, key=lambda centre: math.dist(centre, (x, y)))


def _marginal(values: Sequence[float], end: float, size: float, *, upright: bool) -> Any:
    """A histogram along one side of a panel."""
    width = 2 * end / _BARS
    counts = Counter(min(_BARS - 1, int((value + end) / width)) for value in values)
    bars = [
        {"from": n * width - end, "to": (n + 1) * width - end, "items": count} for n, count in sorted(counts.items())
    ]
    scale = alt.Scale(domain=[-end, end], nice=False)
    marks = table(bars).mark_rect(fill=SOFT, opacity=0.6, aria=False)
    tall = alt.Scale(domain=[0, max(counts.values())], nice=False)
    if upright:
        marks = marks.encode(
            x=alt.X("from:Q", scale=scale, axis=None),
            x2="to:Q",
            y=alt.Y("items:Q", scale=tall, axis=None),
            y2=pixel("Y2", _MARGINAL),
        )
        return marks.properties(width=size, height=_MARGINAL)
    marks = marks.encode(
        y=alt.Y("from:Q", scale=scale, axis=None),
        y2="to:Q",
        x=alt.X("items:Q", scale=tall, axis=None),
        x2=pixel("X2", 0),
    )
    return marks.properties(width=_MARGINAL, height=size)
