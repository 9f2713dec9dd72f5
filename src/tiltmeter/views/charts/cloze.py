"""ClozeGender: the share of sentences that lean to the first group by context, published against corrected."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tiltmeter.readings import Reading
from tiltmeter.views.charts.figure import Figure
from tiltmeter.views.charts.style import COLOURS, FAINT, INK, PAPER, SOFT, says, short, table, titled, where

#: Of more blocks than these (a model and a variant each) the chart would be longer than a page.
_MOST = 12
_USUAL = ("noun", "verb", "occupation", "combined")
_FORMS = ("as published", "corrected")
_KEYS = {"as published": "published", "corrected": "corrected"}
_WIDTH = 360


def contexts(readings: Sequence[Reading]) -> Figure | None:
    """A block for each model and variant; None where no reading is by context, or there is too much for one chart."""
    found = [r for r in readings if _is_cloze(r.details)]
    blocks: dict[str, list[Reading]] = {}
    for reading in found:
        variant = reading.details["variant"]
        blocks.setdefault(f"{reading.model}{'' if variant == 'all' else f', {variant}'}", []).append(reading)
    if not 0 < len(blocks) <= _MOST:
        return None
    rows = [row for block, some in blocks.items() for reading in some for row in _rows(block, reading)]
    order = sorted(
        {row["context"] for row in rows}, key=lambda name: (_USUAL.index(name) if name in _USUAL else 2.5, name)
    )
    title = "Which pronoun is expected, by context"
    subtitle = "share of sentences to the first group; .5 is level; open: as published"
    chart = titled(_panels(rows, list(blocks), order), title, subtitle)
    return Figure("contexts", title, _alt(rows), chart)


def _is_cloze(details: Mapping[str, Any]) -> bool:
    both = (details.get("published"), details.get("corrected"))
    return (
        "context" in details
        and "variant" in details
        and all(isinstance(each, Mapping) and "to_1" in each for each in both)
    )


def _rows(block: str, reading: Reading) -> list[dict[str, Any]]:
    context, groups = reading.details["context"], reading.details.get("groups") or ["the first", "the second"]
    return [
        {
            "block": block,
            "context": context,
            "form": form,
            "share": numbers["to_1"],
            "low": numbers["low"],
            "high": numbers["high"],
            "says": f"{block}, {context}, {form}: {numbers['to_1']:.0%} to {groups[0]} "
            f"[{numbers['low']:.0%}, {numbers['high']:.0%}]",
        }
        for form in _FORMS
        for numbers in [reading.details[_KEYS[form]]]
        if numbers["to_1"] is not None
    ]


def _panels(rows: list[dict[str, Any]], blocks: list[str], order: list[str]) -> Any:
    import altair as alt

    panels = [
        _panel([row for row in rows if row["block"] == block], block, order, last=block == blocks[-1])
        for block in blocks
    ]
    return alt.vconcat(*panels, spacing=10)


def _panel(rows: list[dict[str, Any]], block: str, order: list[str], *, last: bool) -> Any:
    import altair as alt

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


def _alt(rows: list[dict[str, Any]]) -> str:
    both: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows:
        both.setdefault((row["block"], row["context"]), {})[row["form"]] = row["share"]
    told = [
        f"{block}, {context} {shares[_FORMS[0]]:.0%} as published and {shares[_FORMS[1]]:.0%} corrected"
        for (block, context), shares in list(both.items())[:6]
        if len(shares) == 2
    ]
    more = len(both) - len(told)
    return f"Share of sentences to the first group: {'; '.join(told)}{f'; and {more} more' if more > 0 else ''}."
