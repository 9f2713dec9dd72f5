"""What the charts of a CABM reading have in common: order, colours, lines and titles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import altair as alt

from tiltmeter.readings import Item
from tiltmeter.readings.details.cabm import CabmDetails
from tiltmeter.views.charts.shades import AWAY, NEITHER, TOWARDS
from tiltmeter.views.charts.style import INK, PAPER, SOFT, table, titled

#: In the order in which a reading holds their weights; and in words.
FEATURES = {"pmi": "PMI", "cosine": "cosine", "context": "context"}
WIDTH = 370
#: Of more occupations than these the two ends are drawn.
MOST = 60

#: The two directions as in every chart, then neither of them, and what is too close to call.
_CATEGORIES = (TOWARDS, AWAY, NEITHER, NEITHER)
#: No model and no group has these.
_FEATURES = ("#a86fc0", "#4f9fd0", "#a59a2c")
#: Letters of a title that fit above a chart of this width.
_LETTERS = 66


def number(item: Item, column: str) -> float:
    """What an item has in a column of numbers."""
    return cast(float, item.get(column))


def from_first_group(items: Sequence[Item]) -> list[Item]:
    """Occupations from the one that leans most to the first group on."""
    return sorted(items, key=lambda item: -number(item, "value"))


def shown_items(items: Sequence[Item]) -> list[Item]:
    """The same; of many, those at both ends."""
    rows = from_first_group(items)
    return rows if len(rows) <= MOST else [*rows[: MOST // 2], *rows[-MOST // 2 :]]


def not_shown(items: Sequence[Item]) -> str:
    left = len(items) - MOST
    return f"; {left} in the middle are not drawn" if left > 0 else ""


def category_look(details: CabmDetails) -> dict[str, Any]:
    """Stroke and fill by category, hollow where the score is too close to call."""
    fills = [*_CATEGORIES[:3], PAPER]
    stroke, fill = (alt.Scale(domain=details.categories, range=list(range)) for range in (_CATEGORIES, fills))
    return {
        "stroke": alt.Stroke("group:N", scale=stroke, **legend()),
        "fill": alt.Fill("group:N", scale=fill, **legend()),
    }


def feature_colour() -> Any:
    scale = alt.Scale(domain=list(FEATURES.values()), range=list(_FEATURES))
    return alt.Color("feature:N", scale=scale, **legend())


def legend() -> dict[str, Any]:
    return {"title": None, "legend": alt.Legend(orient="bottom", direction="horizontal", labelLimit=300)}


def levels(axis: str, threshold: float) -> list[Any]:
    """Level as a line, the thresholds dashed."""
    level = table([{"at": 0.0}]).mark_rule(color=SOFT)
    cuts = table([{"at": -threshold}, {"at": threshold}]).mark_rule(color=SOFT, strokeDash=[2, 3])
    return [mark.encode(**{axis: "at:Q"}) for mark in (level, cuts)]


def between(name: str, groups: tuple[str, str]) -> str:
    """The title of an axis of which the first group lies at the upper end.

    >>> between("score", ("men", "women"))
    '◄ women · score · men ►'
    """
    return f"◄ {groups[1]} · {name} · {groups[0]} ►"


def ends(items: Sequence[Item], groups: tuple[str, str]) -> str:
    """Which occupations stand at both ends, in words."""
    rows = from_first_group(items)
    most = [f"{row.label} ({number(row, 'value'):+.2f})" for row in (rows[0], rows[-1])]
    return f"farthest towards {groups[0]} is {most[0]}, farthest towards {groups[1]} {most[1]}"


def panel_title(form: str) -> Any:
    return alt.Title(form, fontSize=12, offset=6, color=INK)


def finished(chart: Any, title: str, subtitle: str, seen: str, *, height: Any = None) -> Any:
    """The chart with its title, and described by what is seen in it; without panels it has a height, and a width."""
    size = {} if height is None else {"width": WIDTH, "height": height}
    return titled(chart.properties(description=seen, **size), title, subtitle, letters=_LETTERS, left=_LEFT)


#: The names of occupations need room in a browser with wide letters.
_LEFT = 12
