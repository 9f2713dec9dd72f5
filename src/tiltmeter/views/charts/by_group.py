"""More than two groups: the mean of each with its interval, and the words behind it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, stdev
from typing import Any, NamedTuple

import altair as alt

from tiltmeter.readings import SHARE, Item, Poles, Reading, p_text
from tiltmeter.statistics.estimates import wilson
from tiltmeter.views.charts import style
from tiltmeter.views.charts.style import Figure

#: More groups than these are no chart.
MOST = 16
_WIDTH, _ROW, _LETTERS = 260, 26, 24
_NUMBERS = 124
#: Items of which nobody says to which group they belong.
_NEITHER = "neither"


class GroupMean(NamedTuple):
    """A group's mean over its units with a 95% interval; a single unit has none."""

    group: str
    mean: float
    low: float | None
    high: float | None
    units: tuple[tuple[str, float], ...]

    def __str__(self) -> str:
        digits = 2 if abs(self.mean) >= 0.1 else 3
        interval = "" if self.low is None else f" [{self.low:.{digits}f}, {self.high:.{digits}f}]"
        return f"{self.mean:.{digits}f}{interval}"


def by_group(reading: Reading) -> Figure | None:
    """The means of the groups, one panel per column of the statistic; None for fewer than three groups."""
    items = [item._replace(group=item.group or _NEITHER) for item in reading.items]
    groups = list(dict.fromkeys(item.group for item in items))
    if not 2 < len(groups) <= MOST or reading.statistic is None:
        return None
    columns, poles = reading.statistic.of, reading.item_meaning.poles if reading.item_meaning else None
    name = reading.item_meaning.name if reading.item_meaning else ""
    if len(columns) == 2 and reading.statistic.name == "eta":
        # Leans towards one of two sets are those away from the other: one panel says both.
        poles, columns = Poles(columns[0], columns[1]), columns[:1]
    share = reading.effect.scale == SHARE
    means = {column: group_means(items, column, share=share) for column in columns}
    if any(len(shown) < 3 for shown in means.values()):
        return None
    panels = [
        _panel(shown, poles, groups, title=_axis(reading, column, many=len(columns) > 1), level=0.5 if share else 0.0)
        for column, shown in means.items()
    ]
    verdict, effect = reading.verdict, reading.effect
    p = f", {p_text(verdict.p_corrected)} corrected" if verdict.p_corrected is not None else ""
    number = f"{effect.name} {effect}{p}: {verdict.state}"
    words = [f"{reading.model}; {number}", "large: mean of the group with its 95% interval; small: its words"]
    chart = panels[0] if len(panels) == 1 else alt.vconcat(*panels, spacing=18)
    shown = next(iter(means.values()))
    which = f" ({poles.positive if poles else name})" if len(columns) == 1 else f" ({columns[0]})"
    alt_text = (
        f"Means of {len(shown)} groups of {reading.title} on {reading.model}: the highest{which} is {shown[0].group}, "
        f"{shown[0]}, the lowest {shown[-1].group}, {shown[-1]}; over all {number}."
    )
    return Figure(
        "groups",
        reading.title,
        alt_text,
        style.titled(chart, reading.title, words, letters=66, left=_LETTERS, right=10),
    )


def _axis(reading: Reading, column: str, *, many: bool) -> str:
    """What the means are means of: of several columns each, of a share the effect, otherwise the items' value."""
    if many:
        return column
    if reading.effect.scale == SHARE:
        return reading.effect.name
    return reading.item_meaning.name if reading.item_meaning else ""


def group_means(items: Sequence[Item], column: str, *, share: bool = False) -> list[GroupMean]:
    """Each group's mean over units, the highest first: Student's interval, of a share Wilson's.

    >>> words = [Item(str(n), str(n), "men", value) for n, value in enumerate((0.1, 0.2, 0.3))]
    >>> str(group_means(words, "value")[0])
    '0.20 [-0.05, 0.45]'
    """
    from scipy.stats import t

    units: dict[str, dict[str, list[float]]] = {}
    for item in items:
        if isinstance(value := item.get(column), int | float):
            units.setdefault(item.group, {}).setdefault(item.unit, []).append(value)
    means = []
    for group, mine in units.items():
        values = tuple((unit, fmean(numbers)) for unit, numbers in mine.items())
        numbers, n = [value for _, value in values], len(values)
        mean = fmean(numbers)
        ends: tuple[float, float] | tuple[None, None] = (None, None)
        if share:
            ci = wilson(mean, n)
            ends = ci.low, ci.high
        elif n > 1:
            half = float(t.ppf(0.975, n - 1)) * stdev(numbers) / math.sqrt(n)
            ends = mean - half, mean + half
        means.append(GroupMean(group, mean, ends[0], ends[1], values))
    return sorted(means, key=lambda each: -each.mean)


def _panel(shown: list[GroupMean], poles: Poles | None, groups: list[str], *, title: str, level: float) -> Any:
    height = _ROW * len(shown)
    middle = {each.group: (n + 0.5) * _ROW for n, each in enumerate(shown)}
    y = alt.Y("y:Q", scale=alt.Scale(domain=[height, 0], nice=False), axis=None)
    x = alt.X(
        "value:Q",
        title=title,
        scale=alt.Scale(zero=False, nice=False, padding=10),
        axis=alt.Axis(grid=False, tickCount=5),
    )
    look = style.look_of("group", groups)
    means = [
        {"group": each.group, "y": middle[each.group], "value": each.mean, "low": each.low, "high": each.high}
        | {"number": str(each), "name": style.short(each.group, _LETTERS)}
        | {"says": f"{each.group}: {each} over {len(each.units)}"}
        for each in shown
    ]
    words = [
        {"group": each.group, "y": middle[each.group], "value": value, "says": f"{unit} ({each.group}): {value:+.3f}"}
        for each in shown
        for unit, value in each.units
    ]
    base = style.table(means)
    text = {"fontSize": 11, "color": style.INK, "aria": False}
    return alt.layer(
        style.table([{"at": level}]).mark_rule(color=style.SOFT, aria=False).encode(x=alt.X("at:Q")),
        style.table(words).mark_point(filled=True, size=14, opacity=0.45).encode(x=x, y=y, **look, **style.says()),
        base.transform_filter("isValid(datum.low)")
        .mark_rule(strokeWidth=2, aria=False)
        .encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=y, color=look["color"]),
        base.mark_point(filled=True, size=90, opacity=1).encode(x=x, y=y, **look, **style.says()),
        base.mark_text(align="right", dx=-8, **text).encode(x=style.pixel("X", 0), y=y, text=alt.Text("name:N")),
        base.mark_text(align="right", **text).encode(
            x=style.pixel("X", _WIDTH + _NUMBERS), y=y, text=alt.Text("number:N")
        ),
        *style.end_labels(poles, width=_WIDTH, height=height),
        width=_WIDTH,
        height=height,
    )
