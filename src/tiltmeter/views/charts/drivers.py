"""What drives a reading: a point for each unit behind its number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from tiltmeter.readings import Poles, Reading, UnitValue
from tiltmeter.views.charts.style import (
    FAINT,
    GROUP_COLOURS,
    INK,
    SOFT,
    Figure,
    end_labels,
    look_of,
    pixel,
    says,
    short,
    table,
    titled,
)

#: Of more items than these the two ends are drawn.
MOST = 40
_ROW = 15
_WIDTH = 320
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
        reading.model,
        *([f"the {MOST // 2} items at each end; {left:,} in the middle are not drawn"] if left else []),
    ]
    labels = max(len(short(item.label, _LETTERS)) for item in shown)
    poles = reading.item_meaning.poles if reading.item_meaning else None
    groups = list(dict.fromkeys(item.group for item in reading.items if item.group))
    layers = _item_layers(shown, units.name, poles, groups)
    chart = titled(layers, reading.title, subtitle, left=labels, letters=62)
    high, low = units.rows[0], units.rows[-1]
    towards = [f" towards {end}" if end else "" for end in poles or ("", "")]
    alt_text = (
        f"{len(units.rows)} items behind {reading.title} on {reading.model}: farthest{towards[0]} is {high.label} "
        f"({high.value:+.2f}), farthest{towards[1]} {low.label} ({low.value:+.2f})."
    )
    return Figure("items", reading.title, alt_text, chart)


def _item_layers(shown: Sequence[UnitValue], name: str, poles: Poles | None, groups: list[str]) -> Any:
    # Two items may have one label (a word in two groups): the place is what tells them apart.
    rows = []
    for n, item in enumerate(shown):
        named = f"{item.label}{f' ({item.group})' if item.group else ''}"
        words = f"{named}: {item.value:+.3f}{f', mean of {item.n} rows' if item.n > 1 else ''}"
        label = short(item.label, _LETTERS)
        rows.append({"place": n, "label": label, "group": item.group, "value": item.value, "level": 0.0, "says": words})
    several = 1 < len(groups) <= len(GROUP_COLOURS)
    look = look_of("group", groups, orient="top", labelLimit=260, columns=1) if several else {}
    y = alt.Y("place:O", axis=None)
    x = alt.X("value:Q", title=name, axis=alt.Axis(grid=False, tickCount=6))
    base = table(rows)
    points = base.mark_point(filled=True, size=48, opacity=1).encode(x=x, y=y, **says())
    labels = base.mark_text(align="right", dx=-8, fontSize=11, color=INK, aria=False)
    return alt.layer(
        table([{"at": 0.0}]).mark_rule(color=SOFT, aria=False).encode(x=alt.X("at:Q")),
        base.mark_rule(color=FAINT, aria=False).encode(x=x, x2=alt.X2("level:Q"), y=y),
        points.encode(**(look or {"color": alt.ColorValue(GROUP_COLOURS[0]), "shape": alt.ShapeValue("square")})),
        labels.encode(x=pixel("X", 0), y=y, text=alt.Text("label:N")),
        *end_labels(poles, width=_WIDTH, height=_ROW * len(shown)),
        width=_WIDTH,
        height=alt.Step(_ROW),
    )
