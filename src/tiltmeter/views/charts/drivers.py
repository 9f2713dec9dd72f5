"""What drives a reading: a point for each unit behind its number, and for LPBS the prior against the association."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import altair as alt

from tiltmeter.readings import Reading, UnitValue
from tiltmeter.views.charts.style import COLOURS, FAINT, INK, SOFT, Figure, look_of, pixel, says, short, table, titled

#: Of more items than these the two ends are drawn.
MOST = 40
_ROW = 15
_WIDTH = 330
#: Letters of a label that are shown.
_LETTERS = 32


def items(reading: Reading) -> Figure | None:
    """A dot plot of the units from the highest value to the lowest; None where items have no number."""
    units = reading.units()
    if units is None or len(units.rows) < 2:
        return None
    left = max(0, len(units.rows) - MOST)
    shown = [*units.rows[: MOST // 2], *units.rows[-MOST // 2 :]] if left else units.rows
    subtitle = [
        f"{reading.model}; {units.signs}" if units.signs else reading.model,
        *([f"the {MOST // 2} items at each end; {left:,} in the middle are not drawn"] if left else []),
    ]
    labels = max(len(short(item.label, _LETTERS)) for item in shown)
    chart = titled(_item_layers(shown, units.name), reading.title, subtitle, left=labels)
    high, low = units.rows[0], units.rows[-1]
    alt_text = (
        f"Dot plot of {len(units.rows)} items behind {reading.title} on {reading.model}, from {high.label} "
        f"({high.value:+.2f}) to {low.label} ({low.value:+.2f}){f'; {units.signs}' if units.signs else ''}."
    )
    return Figure("items", reading.title, alt_text, chart)


def _item_layers(shown: Sequence[UnitValue], name: str) -> Any:
    # Two items may have one label (a word in two groups): the place is what tells them apart.
    rows = []
    for n, item in enumerate(shown):
        named = f"{item.label}{f' ({item.group})' if item.group else ''}"
        words = f"{named}: {item.value:+.3f}{f', mean of {item.n} rows' if item.n > 1 else ''}"
        label = short(item.label, _LETTERS)
        rows.append({"place": n, "label": label, "group": item.group, "value": item.value, "level": 0.0, "says": words})
    groups = list(dict.fromkeys(item.group for item in shown if item.group))
    several = 1 < len(groups) <= len(COLOURS)
    look = look_of("group", groups, orient="bottom", labelLimit=260, columns=2) if several else {}
    y = alt.Y("place:O", axis=None)
    x = alt.X("value:Q", title=name, axis=alt.Axis(grid=False, tickCount=6))
    base = table(rows)
    points = base.mark_point(filled=True, size=48, opacity=1).encode(x=x, y=y, **says())
    labels = base.mark_text(align="right", dx=-8, fontSize=11, color=INK, aria=False)
    return alt.layer(
        table([{"at": 0.0}]).mark_rule(color=SOFT, aria=False).encode(x=alt.X("at:Q")),
        base.mark_rule(color=FAINT, aria=False).encode(x=x, x2=alt.X2("level:Q"), y=y),
        points.encode(**(look or {"color": alt.ColorValue(COLOURS[0])})),
        labels.encode(x=pixel("X", 0), y=y, text=alt.Text("label:N")),
        width=_WIDTH,
        height=alt.Step(_ROW),
    )


Row = Mapping[str, Any]
#: Of more points than these in a panel, their number in each cell is drawn.
MOST_POINTS = 300
_ACROSS, _SIZE = 3, 150
_CELLS = 16


def prior(reading: Reading) -> Figure | None:
    """A panel for each sentence structure (S1 to S5); None for a reading without priors."""
    by_structure: dict[str, list[Row]] = {}
    for item in reading.items:
        if item.get("prior_bias") is not None and item.value is not None:
            row = {"prior": item.get("prior_bias"), "added": item.value, "group": item.group, "word": item.unit}
            structure = str(item.get("structure"))
            by_structure.setdefault(structure, []).append({**row, "structure": structure})
    if not by_structure:
        return None
    title = "Prior against association: " + reading.title
    poles = reading.item_meaning.poles if reading.item_meaning else None
    directions = (
        f"right: the sentence alone expects {poles.positive}, up: the attribute adds to {poles.positive}; left and "
        f"down: {poles.negative}; "
        if poles
        else ""
    )
    means = "; ".join(
        f"{structure or 'all sentences'} prior {fmean(row['prior'] for row in rows):+.2f}, "
        f"association {fmean(row['added'] for row in rows):+.2f}"
        for structure, rows in by_structure.items()
    )
    count = sum(map(len, by_structure.values()))
    alt_text = f"Prior bias against association of {count} items on {reading.model}; means: {means}."
    chart = titled(_prior_panels(by_structure), title, f"{reading.model}; {directions}lines: level")
    return Figure("prior", title, alt_text, chart)


def _prior_panels(by_structure: Mapping[str, Sequence[Row]]) -> Any:
    """Points, or cells where there are too many of them, in one panel or one for each structure."""
    rows = [row for mine in by_structure.values() for row in mine]
    ends = [max(abs(row[key]) for row in rows) for key in ("prior", "added")]
    far, high = (math.ceil(10 * end) / 10 or 0.1 for end in ends)
    x, y = _axis(alt.X, "prior", "prior bias", far), _axis(alt.Y, "added", "association (less the prior)", high)
    crowded = len(rows) > MOST_POINTS * len(by_structure)
    chart = _cells(by_structure, far, high) if crowded else _points(rows)
    size = _SIZE if len(by_structure) > 1 else 2 * _SIZE
    panel = chart.encode(x=x, y=y, **says()).properties(width=size, height=size)
    if len(by_structure) == 1:
        return panel
    header = alt.Header(title=None, labelFontSize=12, labelFontWeight="bold", labelAnchor="start", labelColor=INK)
    facet = alt.Facet("structure:N", sort=list(by_structure), header=header)
    return panel.facet(facet=facet, columns=_ACROSS, spacing=16)


def _axis(channel: Any, field: str, title: str, end: float) -> Any:
    level = {"condition": {"test": "datum.value === 0", "value": SOFT}, "value": "transparent"}
    axis = alt.Axis(grid=True, gridColor=level, values=[-end, 0, end], format=".1~f")
    return channel(f"{field}:Q", title=title, scale=alt.Scale(domain=[-end, end], nice=False), axis=axis)


def _points(rows: Sequence[Row]) -> Any:
    groups = list(dict.fromkeys(row["group"] for row in rows))
    drawn = [
        {**row, "says": f"{row['word']} ({row['group']}): prior {row['prior']:+.2f}, association {row['added']:+.2f}"}
        for row in rows
    ]
    points = table(drawn).mark_point(size=34, strokeWidth=1.4, opacity=0.8)
    return points.encode(**look_of("group", groups, orient="bottom", labelLimit=260))


def _cells(by_structure: Mapping[str, Sequence[Row]], far: float, high: float) -> Any:
    """Counts in cells, which are made here because thousands of points do not belong in a file."""
    cells = [cell for structure, rows in by_structure.items() for cell in _counted(structure, rows, far, high)]
    scale = alt.Scale(range=["#c6dbef", "#08306b"])
    colour = alt.Color("items:Q", scale=scale, legend=alt.Legend(orient="bottom", tickMinStep=1))
    return table(cells).mark_rect().encode(x2=alt.X2("prior_to:Q"), y2=alt.Y2("added_to:Q"), color=colour)


def _counted(structure: str, rows: Sequence[Row], far: float, high: float) -> list[dict[str, Any]]:
    import numpy as np

    priors, added = ([row[key] for row in rows] for key in ("prior", "added"))
    counts, at_x, at_y = np.histogram2d(priors, added, bins=_CELLS, range=[[-far, far], [-high, high]])
    cells = []
    for i, j in zip(*np.nonzero(counts), strict=True):
        n, (left, right), (low, top) = int(counts[i, j]), at_x[i : i + 2].tolist(), at_y[j : j + 2].tolist()
        words = f"{n} items: prior {left:+.2f} to {right:+.2f}, association {low:+.2f} to {top:+.2f}"
        place = {"prior": left, "prior_to": right, "added": low, "added_to": top}
        cells.append({"structure": structure, "items": n, "says": words, **place})
    return cells
