"""ClozeGender: the share of sentences that lean to a group by context, as published and repaired."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from tiltmeter.readings import Reading
from tiltmeter.readings.details.cloze import ClozeDetails
from tiltmeter.views.charts.figure import Figure
from tiltmeter.views.charts.style import COLOURS, FAINT, INK, PAPER, SOFT, says, short, table, titled, where

#: Of more blocks than these (a model and a variant each) the chart would be longer than a page.
_MOST = 12
_USUAL = ("noun", "verb", "occupation", "combined")
_FORMS = ("as published", "repaired")
_WIDTH = 360


def contexts(readings: Sequence[Reading]) -> Figure | None:
    """A block for each model and variant; None where no reading is by context, or there is too much for one chart."""
    blocks: dict[str, list[ClozeDetails]] = {}
    for reading in readings:
        cell = reading.details
        if isinstance(cell, ClozeDetails) and cell.published and cell.repaired:
            name = f"{reading.model}{'' if cell.variant == 'all' else f', {cell.variant}'}"
            blocks.setdefault(name, []).append(cell)
    if not 0 < len(blocks) <= _MOST:
        return None
    groups = {cell.groups[0] for cells in blocks.values() for cell in cells}
    whom = groups.pop() if len(groups) == 1 else "the group in brackets"
    names = {
        cell.context: f"{cell.context} [{cell.groups[0]}]" if groups else cell.context
        for cells in blocks.values()
        for cell in cells
    }
    rows = [row for block, cells in blocks.items() for cell in cells for row in _rows(block, names[cell.context], cell)]
    order = [names[name] for name in sorted(names, key=lambda n: (_USUAL.index(n) if n in _USUAL else 2.5, n))]
    title = "Which pronoun is expected, by context"
    subtitle = f"share of sentences to {whom}; .5 is level; open: as published"
    chart = titled(_panels(rows, list(blocks), order), title, subtitle)
    return Figure("contexts", title, _alt(rows, whom), chart)


def _rows(block: str, context: str, cell: ClozeDetails) -> list[dict[str, Any]]:
    return [
        {
            "block": block,
            "context": context,
            "form": form,
            "share": shares.to_1,
            "low": shares.low,
            "high": shares.high,
            "says": f"{block}, {cell.context}, {form}: {shares.to_1:.0%} to {cell.groups[0]} "
            f"[{shares.low:.0%}, {shares.high:.0%}]",
        }
        for form, shares in zip(_FORMS, (cell.published, cell.repaired), strict=True)
        if shares and shares.to_1 is not None
    ]


def _panels(rows: list[dict[str, Any]], blocks: list[str], order: list[str]) -> Any:
    panels = [
        _panel([row for row in rows if row["block"] == block], block, order, last=block == blocks[-1])
        for block in blocks
    ]
    return alt.vconcat(*panels, spacing=10)


def _panel(rows: list[dict[str, Any]], block: str, order: list[str], *, last: bool) -> Any:
    there = {row["context"] for row in rows}
    base = table(rows)
    x = alt.X(
        "share:Q",
        title="share" if last else None,
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(grid=False, values=[0, 0.25, 0.5, 0.75, 1], format=".2~f", labels=last, ticks=last, domain=last),
    )
    y = alt.Y(
        "context:N",
        sort=[name for name in order if name in there],
        title=None,
        axis=alt.Axis(ticks=False, domain=False),
    )
    offset = alt.YOffset("form:N", scale=alt.Scale(domain=list(_FORMS)))
    scale = alt.Scale(domain=list(_FORMS), range=[COLOURS[1], COLOURS[0]])
    ink = alt.Color("form:N", scale=scale, legend=alt.Legend(orient="bottom", title=None))
    fill = where(f"datum.form == '{_FORMS[1]}'", ink, PAPER, channel="Fill")
    return alt.layer(
        table([{"at": 0.0}, {"at": 1.0}]).mark_rule(color=FAINT, strokeWidth=0.5, aria=False).encode(x=alt.X("at:Q")),
        table([{"at": 0.5}]).mark_rule(color=SOFT, aria=False).encode(x=alt.X("at:Q")),
        base.mark_rule(strokeWidth=1.8, aria=False).encode(
            x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=y, yOffset=offset, color=ink
        ),
        base.mark_point(size=60, strokeWidth=1.8, opacity=1).encode(
            x=x, y=y, yOffset=offset, color=ink, fill=fill, **says()
        ),
    ).properties(width=_WIDTH, height=alt.Step(11), title=alt.Title(short(block, 60), fontSize=12, offset=4, color=INK))


def _alt(rows: list[dict[str, Any]], whom: str) -> str:
    both: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows:
        both.setdefault((row["block"], row["context"]), {})[row["form"]] = row["share"]
    shown = [
        f"{block}, {context} {shares[_FORMS[0]]:.0%} as published and {shares[_FORMS[1]]:.0%} repaired"
        for (block, context), shares in list(both.items())[:6]
        if len(shares) == 2
    ]
    more = len(both) - len(shown)
    return f"Share of sentences to {whom}: {'; '.join(shown)}{f'; and {more} more' if more > 0 else ''}."
