"""What the charts of a CABM reading have in common: order, colours, lines and titles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import altair as alt

from tiltmeter.readings import Item
from tiltmeter.readings.details.cabm import CabmDetails
from tiltmeter.views.charts.style import SOFT, styled, table

#: In the order in which a reading holds their weights; and in words.
FEATURES = {"pmi": "PMI", "cosine": "cosine", "context": "context"}
WIDTH = 420
#: Of more occupations than these the two ends are drawn.
MOST = 60

# Colour-blind safe (Okabe & Ito), and no colour stands for two things.
_CATEGORIES = ("#0072B2", "#D55E00", "#009E73", "#8a929e")
_FEATURES = ("#CC79A7", "#56B4E9", "#E69F00")


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
    fills = [*_CATEGORIES[:3], "white"]
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
    level = table([{"at": 0.0}]).mark_rule(color="#555")
    cuts = table([{"at": -threshold}, {"at": threshold}]).mark_rule(color="#999", strokeDash=[2, 3])
    return [mark.encode(**{axis: "at:Q"}) for mark in (level, cuts)]


def panel_title(form: str) -> Any:
    return alt.Title(form, fontSize=12, offset=6)


def finished(chart: Any, title: str, subtitle: str, *, height: Any = None) -> Any:
    """The chart with its title; without panels it has a height, and the usual width."""
    size = {} if height is None else {"width": WIDTH, "height": height}
    words = alt.Title(title, subtitle=subtitle, subtitleColor=SOFT, subtitleFontSize=12)
    return styled(chart.properties(title=words, **size))
