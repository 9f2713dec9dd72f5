"""What drives a reading: a point for each word or sentence behind its number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from tiltmeter.readings import Reading
from tiltmeter.views.charts.figure import Figure
from tiltmeter.views.charts.style import COLOURS, FAINT, INK, SOFT, look_of, pixel, says, short, table, titled
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
    shown = _shown(units)
    left = len(units.rows) - len(shown)
    title = reading.title
    subtitle = [
        f"{reading.model}; {units.signs}" if units.signs else reading.model,
        *([f"the {MOST // 2} items at each end; {left:,} in the middle are not drawn"] if left else []),
    ]
    labels = max(len(short(item.label, _LETTERS)) for item in shown)
    chart = titled(_layers(shown, units.name), title, subtitle, left=labels)
    return Figure("items", title, _alt(reading, units), chart)


def _shown(units: UnitValues) -> Sequence[UnitValue]:
    if len(units.rows) <= MOST:
        return units.rows
    return [*units.rows[: MOST // 2], *units.rows[-MOST // 2 :]]


def _layers(shown: Sequence[UnitValue], name: str) -> Any:
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


def _alt(reading: Reading, units: UnitValues) -> str:
    high, low = units.rows[0], units.rows[-1]
    return (
        f"Dot plot of {len(units.rows)} items behind {reading.title} on {reading.model}, from {high.label} "
        f"({high.value:+.2f}) to {low.label} ({low.value:+.2f}){f'; {units.signs}' if units.signs else ''}."
    )
