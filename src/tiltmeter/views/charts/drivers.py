"""What drives a reading: a point for each unit behind its number, and for LPBS the prior against the association."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import altair as alt

from tiltmeter.readings import Reading
from tiltmeter.views.charts.style import COLOURS, FAINT, INK, SOFT, Figure, look_of, pixel, says, short, table, titled
from tiltmeter.views.rows import UnitValue, UnitValues, unit_values

#: Of more items than these the two ends are drawn.
MOST = 40
_ROW = 15
_WIDTH = 330
#: Letters of a label that are shown.
_LETTERS = 32


def items(reading: Reading) -> Figure | None:
    """A dot plot of the units from the highest value to the lowest; None where items have no number."""
    units = unit_values(reading)
    if units is None or len(units.rows) < 2:
        return None
    shown = units.rows if len(units.rows) <= MOST else [*units.rows[: MOST // 2], *units.rows[-MOST // 2 :]]
    left = len(units.rows) - len(shown)
    title = reading.title
    subtitle = [
        f"{reading.model}; {units.signs}" if units.signs else reading.model,
        *([f"the {MOST // 2} items at each end; {left:,} in the middle are not drawn"] if left else []),
    ]
    labels = max(len(short(item.label, _LETTERS)) for item in shown)
    chart = titled(_item_layers(shown, units.name), title, subtitle, left=labels)
    return Figure("items", title, _items_alt(reading, units), chart)


def _item_layers(shown: Sequence[UnitValue], name: str) -> Any:
    # Two items may have one label (a word in two groups): the place is what tells them apart.
    rows = [
        {
            "place": n,
            "label": short(item.label, _LETTERS),
            "group": item.group,
            "value": item.value,
            "level": 0.0,
            "says": f"{item.label}{f' ({item.group})' if item.group else ''}: {item.value:+.3f}"
            f"{f', mean of {item.n} rows' if item.n > 1 else ''}",
        }
        for n, item in enumerate(shown)
    ]
    groups = list(dict.fromkeys(item.group for item in shown if item.group))
    y = alt.Y("place:O", axis=None)
    x = alt.X("value:Q", title=name, axis=alt.Axis(grid=False, tickCount=6))
    base = table(rows)
    points = base.mark_point(filled=True, size=48, opacity=1).encode(x=x, y=y, **says())
    several = 1 < len(groups) <= len(COLOURS)
    look = look_of("group", groups, orient="bottom", labelLimit=260, columns=2) if several else {}
    points = points.encode(**(look or {"color": alt.ColorValue(COLOURS[0])}))
    labels = base.mark_text(align="right", dx=-8, fontSize=11, color=INK, aria=False)
    return alt.layer(
        table([{"at": 0.0}]).mark_rule(color=SOFT, aria=False).encode(x=alt.X("at:Q")),
        base.mark_rule(color=FAINT, aria=False).encode(x=x, x2=alt.X2("level:Q"), y=y),
        points,
        labels.encode(x=pixel("X", 0), y=y, text=alt.Text("label:N")),
        width=_WIDTH,
        height=alt.Step(_ROW),
    )


def _items_alt(reading: Reading, units: UnitValues) -> str:
    high, low = units.rows[0], units.rows[-1]
    return (
        f"Dot plot of {len(units.rows)} items behind {reading.title} on {reading.model}, from {high.label} "
        f"({high.value:+.2f}) to {low.label} ({low.value:+.2f}){f'; {units.signs}' if units.signs else ''}."
    )


Row = Mapping[str, Any]
#: Of more points than these in a panel, their number in each cell is drawn.
MOST_POINTS = 300
_ACROSS, _SIZE = 3, 150
_CELLS = 16


def prior(reading: Reading) -> Figure | None:
    """A panel for each sentence structure (S1 to S5); None for a reading without priors."""
    rows: list[dict[str, Any]] = [
        {
            "prior": item.get("prior_bias"),
            "added": item.value,
            "group": item.group,
            "structure": str(item.get("structure")),
            "word": item.unit,
        }
        for item in reading.items
        if item.get("prior_bias") is not None and item.value is not None
    ]
    if not rows:
        return None
    structures = list(dict.fromkeys(row["structure"] for row in rows))
    title = "Prior against association: " + reading.title
    chart = titled(_prior_panels(rows, structures), title, f"{reading.model}; {_directions(reading)}lines: level")
    return Figure("prior", title, _prior_alt(reading, rows, structures), chart)


def _directions(reading: Reading) -> str:
    poles = reading.item_meaning.poles if reading.item_meaning else None
    if poles is None:
        return ""
    return (
        f"right: the sentence alone expects {poles.positive}, up: the attribute adds to {poles.positive}; left and "
        f"down: {poles.negative}; "
    )


def _prior_panels(rows: Sequence[Row], structures: Sequence[str]) -> Any:
    """Points, or cells where there are too many of them, in one panel or one for each structure."""
    ends = [max(abs(row[key]) for row in rows) for key in ("prior", "added")]
    far, high = (math.ceil(10 * end) / 10 or 0.1 for end in ends)
    x, y = _axis(alt.X, "prior", "prior bias", far), _axis(alt.Y, "added", "association (less the prior)", high)
    crowded = len(rows) > MOST_POINTS * len(structures)
    chart = _cells(rows, structures, far, high) if crowded else _points(rows)
    size = _SIZE if len(structures) > 1 else 2 * _SIZE
    panel = chart.encode(x=x, y=y, **says()).properties(width=size, height=size)
    if len(structures) == 1:
        return panel
    header = alt.Header(title=None, labelFontSize=12, labelFontWeight="bold", labelAnchor="start", labelColor=INK)
    return panel.facet(
        facet=alt.Facet("structure:N", sort=list(structures), header=header), columns=_ACROSS, spacing=16
    )


def _axis(channel: Any, field: str, title: str, end: float) -> Any:
    level = {"condition": {"test": "datum.value === 0", "value": SOFT}, "value": "transparent"}
    return channel(
        f"{field}:Q",
        title=title,
        scale=alt.Scale(domain=[-end, end], nice=False),
        axis=alt.Axis(grid=True, gridColor=level, values=[-end, 0, end], format=".1~f"),
    )


def _points(rows: Sequence[Row]) -> Any:
    groups = list(dict.fromkeys(row["group"] for row in rows))
    drawn = [
        {**row, "says": f"{row['word']} ({row['group']}): prior {row['prior']:+.2f}, association {row['added']:+.2f}"}
        for row in rows
    ]
    points = table(drawn).mark_point(size=34, strokeWidth=1.4, opacity=0.8)
    return points.encode(**look_of("group", groups, orient="bottom", labelLimit=260))


def _cells(rows: Sequence[Row], structures: Sequence[str], far: float, high: float) -> Any:
    """Counts in cells, which are made here because thousands of points do not belong in a file."""
    cells = [
        cell
        for structure in structures
        for cell in _counted([r for r in rows if r["structure"] == structure], far, high)
    ]
    scale = alt.Scale(range=["#c6dbef", "#08306b"])
    colour = alt.Color("items:Q", scale=scale, legend=alt.Legend(orient="bottom", tickMinStep=1))
    return table(cells).mark_rect().encode(x2=alt.X2("prior_to:Q"), y2=alt.Y2("added_to:Q"), color=colour)


def _counted(rows: Sequence[Row], far: float, high: float) -> list[dict[str, Any]]:
    import numpy as np

    counts, at_x, at_y = np.histogram2d(
        [row["prior"] for row in rows],
        [row["added"] for row in rows],
        bins=_CELLS,
        range=[[-far, far], [-high, high]],
    )
    return [
        {
            "structure": rows[0]["structure"],
            "prior": float(at_x[i]),
            "prior_to": float(at_x[i + 1]),
            "added": float(at_y[j]),
            "added_to": float(at_y[j + 1]),
            "items": int(counts[i, j]),
            "says": f"{int(counts[i, j])} items: prior {at_x[i]:+.2f} to {at_x[i + 1]:+.2f}, association "
            f"{at_y[j]:+.2f} to {at_y[j + 1]:+.2f}",
        }
        for i, j in zip(*np.nonzero(counts), strict=True)
    ]


def _prior_alt(reading: Reading, rows: Sequence[Row], structures: Sequence[str]) -> str:
    means = [
        f"{structure or 'all sentences'} prior {mean['prior']:+.2f}, association {mean['added']:+.2f}"
        for structure in structures
        for some in [[row for row in rows if row["structure"] == structure]]
        for mean in [{key: fmean(row[key] for row in some) for key in ("prior", "added")}]
    ]
    return f"Prior bias against association of {len(rows)} items on {reading.model}; means: {'; '.join(means)}."
