"""Two models, or two checkpoints of one, side by side: where each stands on every probe, and how far that is apart."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import altair as alt

from tiltmeter.compare import Comparison, Difference
from tiltmeter.readings import p_number
from tiltmeter.views.charts import style
from tiltmeter.views.charts.marks import SIZE, tally, verdict_marks, verdict_shape
from tiltmeter.views.charts.style import Figure
from tiltmeter.views.rows import first_leans

_WIDTH, _TITLE, _ENDS, _LINE, _GAP = 350, 16, 14, 18, 7
#: Letters of a title that fit in a line.
_LETTERS = 58
_CHANGE_AT, _P_AT = 42, 98
#: The first model, the second.
_PAIR = style.COLOURS[:2]
Mark = dict[str, Any]


def dumbbells(pairs: Iterable[Comparison]) -> list[Figure]:
    """A chart for each pair of models: one row per probe, what changed first.

    The marks show what may be said of the difference, as those of a reading do; its poles name the ends of its row.
    """
    figures = []
    for n, pair in enumerate(pairs, 1):
        if pair.differences:
            title = f"{pair.first} → {pair.second}"
            chart = style.titled(_panels(pair), title, [_HOW], letters=66, right=10)
            figures.append(Figure(f"dumbbells-{n}", title, _alt(pair), chart))
    return figures


_HOW = "the line runs from the first model to the second; marks: the verdict on the difference, by the corrected p"


def _alt(pair: Comparison) -> str:
    """How many differ, and which most clearly."""
    first = pair.differences[0]
    digits = first.digits
    where = "further from" if first.growth > 0 else "nearer to"
    return (
        f"{len(pair.differences)} probes on {pair.first} and {pair.second}, differences: "
        f"{tally(moved.state for moved in pair.differences)}; the clearest is {first.title}, from "
        f"{first.first:.{digits}f} to {first.second:.{digits}f}, {where} level."
    )


def _panels(pair: Comparison) -> Any:
    """Differences on one scale share an axis: scales differ in what is level, and in what matters."""
    by_scale: dict[tuple[float, float | str], list[Difference]] = {}
    for moved in pair.differences:
        # A statistic without a smallest effect that matters has a scale of its own.
        by_scale.setdefault((moved.level, moved.matters or moved.statistic), []).append(moved)
    states = list(dict.fromkeys(moved.state for moved in pair.differences))
    panels = [_panel(pair, mine, states) for mine in by_scale.values()]
    return panels[0] if len(panels) == 1 else alt.vconcat(*panels, spacing=16)


def _panel(pair: Comparison, differences: Sequence[Difference], states: Sequence[Any]) -> Any:
    rows, words, height = _placed(differences)
    level = differences[0].level
    far = max(abs(value - level) for moved in differences for value in (moved.first, moved.second))
    end = math.ceil(far * 10 + 0.5) / 10 if far > 0.1 else far * 1.2 or 0.1
    statistics = list(dict.fromkeys(moved.statistic for moved in differences))
    low, high = level - end, level + end
    if (lowest := differences[0].lowest) is not None:
        low = max(low, lowest)
    name = f"{statistics[0] if len(statistics) == 1 else 'statistic'}; {level:g} is level"
    x = alt.X("value:Q", title=name, scale=alt.Scale(domain=[low, high], nice=False), axis=_AXIS)
    down = alt.Scale(domain=[height, 0], nice=False)
    y = alt.Y("y:Q", scale=down, axis=None)
    names = [pair.first, pair.second]
    look: Mark = {
        "orient": "top",
        "title": None,
        "columns": 1,
        "labelLimit": 0,
        "symbolType": "square",
        "symbolStrokeWidth": 0,
    }
    legend = alt.Legend(labelExpr=style.cut_start(60), **look)
    ink = alt.Fill("model:N", scale=alt.Scale(domain=names, range=list(_PAIR)), legend=legend)
    ends = [
        {**row, "model": model, "value": row[key], "says": f"{row['measured']}, {model}: {row[key]:.2f}; {row['says']}"}
        for row in rows
        for model, key in zip(names, ("first", "second"), strict=True)
    ]
    spans = style.table(rows).mark_rule(strokeWidth=2.5, color=style.SOFT, aria=False)
    return alt.layer(
        style.table([{"at": level}]).mark_rule(color=style.SOFT, strokeDash=[2, 3], aria=False).encode(x=alt.X("at:Q")),
        spans.encode(x=alt.X("first:Q"), x2=alt.X2("second:Q"), y=y),
        *verdict_marks(
            ends,
            colour=ink,
            shape=verdict_shape(states, legend={"orient": "bottom"}),
            x=x,
            y=y,
            size=SIZE,
            **style.says(),
        ),
        *_numbers(rows, y),
        *_texts(words, y),
        width=_WIDTH,
        height=height,
    )


_AXIS = alt.Axis(grid=False, tickCount=5)


def _placed(differences: Sequence[Difference]) -> tuple[list[Mark], list[Mark], float]:
    """Rows and words with their places in pixels."""
    rows, words, top = list[Mark](), list[Mark](), 0.0
    for moved in differences:
        words.append({"y": top + _TITLE / 2, "title": style.short(moved.title, _LETTERS)})
        top += _TITLE
        if moved.poles:
            low, high = first_leans(moved.poles)
            apart = len(low) + len(high) > _LETTERS
            words.append({"y": top + _ENDS / 2, "low": f"◄ {low}" if low else ""})
            words.append({"y": top + _ENDS * (0.5 + apart), "high": f"{high} ►" if high else ""})
            top += _ENDS * (1 + apart)
        p = moved.p_value if moved.p_holm is None else moved.p_holm
        change = f"{moved.difference:+.{moved.digits}f}"
        interval = f"{change} [{moved.ci.low:.{moved.digits}f}, {moved.ci.high:.{moved.digits}f}]"
        rows.append(
            {"measured": moved.title, "first": moved.first, "second": moved.second, "y": top + _LINE / 2}
            | {
                "state": moved.state,
                "change": change,
                "p": p_number(p),
                "says": f"difference {interval}, {moved.state}",
            }
        )
        top += _LINE + _GAP
    return rows, words, top


def _numbers(rows: list[Mark], y: Any) -> Iterator[Any]:
    """How far the two are apart and p, beside every row, and what they are above the first."""
    for field, at in (("change", _CHANGE_AT), ("p", _P_AT)):
        place = style.pixel("X", _WIDTH + at)
        numbers = style.table(rows).mark_text(align="right", fontSize=11, color=style.INK, aria=False)
        yield numbers.encode(x=place, y=y, text=alt.Text(f"{field}:N"))
        heads = style.table([{"head": field}]).mark_text(align="right", fontSize=11, color=style.SOFT, aria=False)
        yield heads.encode(x=place, y=style.pixel("Y", -8), text=alt.Text("head:N"))


def _texts(words: list[Mark], y: Any) -> Iterator[Any]:
    looks = (
        ("title", "left", 0, {"color": style.INK, "fontSize": 12, "fontWeight": "bold"}),
        ("low", "left", 0, {"color": style.SOFT, "fontSize": 11}),
        ("high", "right", _WIDTH + _P_AT, {"color": style.SOFT, "fontSize": 11}),
    )
    for field, align, at, look in looks:
        if rows := [word for word in words if word.get(field)]:
            marks = style.table(rows).mark_text(align=align, aria=False, **look)
            yield marks.encode(x=style.pixel("X", at), y=y, text=alt.Text(f"{field}:N"))
