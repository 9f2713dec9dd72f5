"""What drives a reading: a point for each word or sentence behind its number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tiltmeter.readings import Reading
from tiltmeter.views.charts.figure import Figure
from tiltmeter.views.charts.style import COLOURS, FAINT, INK, SHAPES, SOFT, pixel, says, short, table, titled
from tiltmeter.views.item_values import Item, Items, item_values

#: Of more items than these the two ends are drawn.
MOST = 40
_ROW = 15
_WIDTH = 330
#: Letters of a label that are shown.
_LETTERS = 32


def items(reading: Reading) -> Figure | None:
    """A dot plot of the items from the one that leans most to the first side; None where items have no such number."""
    found = item_values(reading)
    if found is None or len(found.rows) < 2:
        return None
    shown = _shown(found)
    left = len(found.rows) - len(shown)
    title = reading.title
    subtitle = [
        f"{reading.model}; {found.signs}",
        *([f"the {MOST // 2} items at each end; {left:,} in the middle are not drawn"] if left else []),
    ]
    labels = max(len(short(item.label, _LETTERS)) for item in shown)
    chart = titled(_layers(shown, found.name), title, subtitle, left=labels)
    return Figure("items", title, _alt(reading, found), chart)


def _shown(found: Items) -> Sequence[Item]:
    if len(found.rows) <= MOST:
        return found.rows
    return [*found.rows[: MOST // 2], *found.rows[-MOST // 2 :]]


def _layers(shown: Sequence[Item], name: str) -> Any:
    import altair as alt

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
    if 1 < len(groups) <= len(COLOURS):
        legend = alt.Legend(orient="bottom", title=None, labelLimit=260, columns=2)
        points = points.encode(
            color=alt.Color(
                "group:N", scale=alt.Scale(domain=groups, range=list(COLOURS[: len(groups)])), legend=legend
            ),
            shape=alt.Shape(
                "group:N", scale=alt.Scale(domain=groups, range=list(SHAPES[: len(groups)])), legend=legend
            ),
        )
    else:
        points = points.encode(color=alt.ColorValue(COLOURS[0]))
    labels = base.mark_text(align="right", dx=-8, fontSize=11, color=INK, aria=False)
    return alt.layer(
        table([{"at": 0.0}]).mark_rule(color=SOFT, aria=False).encode(x=alt.X("at:Q")),
        base.mark_rule(color=FAINT, aria=False).encode(x=x, x2=alt.X2("level:Q"), y=y),
        points,
        labels.encode(x=pixel("X", 0), y=y, text=alt.Text("label:N")),
        width=_WIDTH,
        height=alt.Step(_ROW),
    )


def _alt(reading: Reading, found: Items) -> str:
    high, low = found.rows[0], found.rows[-1]
    return (
        f"Dot plot of {len(found.rows)} items behind {reading.title} on {reading.model}, from {high.label} "
        f"({high.value:+.2f}) to {low.label} ({low.value:+.2f}); {found.signs}."
    )
