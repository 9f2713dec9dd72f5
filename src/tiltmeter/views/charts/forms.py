"""As published against repaired: numbers, p-values, and ClozeGender's shares by context."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from tiltmeter.readings import ALPHA, Estimate, Poles, Reading, State, p_number
from tiltmeter.readings.details.cloze import ClozeDetails
from tiltmeter.views.charts import style
from tiltmeter.views.charts.marks import published_marks, verdict_marks, verdict_shape
from tiltmeter.views.rows import shown_titles

#: Of more readings than these only those that differ most are drawn.
MOST = 30
_FORMS = ("as published", "repaired")
_ROW = 34
#: A smaller p-value says nothing more.
_LEAST_P = 1e-5
_MARKS = "diamond: as published; other marks: repaired, by its verdict"
Row = dict[str, Any]


def published_values(readings: Sequence[Reading]) -> style.Figure | None:
    """Readings whose published number is another; None where there is none."""
    rows = _changed(readings, lambda effect: effect.value, lambda one, two: abs(one - two), least=0.005)
    if not rows:
        return None
    far = rows[0]
    alt_text = (
        f"{len(rows)} readings whose number changes when the method is repaired; most for {far['measured']} on "
        f"{far['model']}, from {far['published']:.2f} to {far['repaired']:.2f}."
    )
    title = "Numbers as published and repaired"
    chart = _chart(rows, title, "value, on the statistic's own scale", log=False)
    return style.Figure("published-values", title, alt_text, chart)


def published_p_values(readings: Sequence[Reading]) -> style.Figure | None:
    """Readings whose published p-value is another; None where there is none."""
    rows = _changed(readings, _p, lambda one, two: abs(math.log10(one / two)), least=0.05)
    if not rows:
        return None
    lost = sum(row["published"] <= ALPHA < row["repaired"] for row in rows)
    alt_text = (
        f"{len(rows)} readings whose p-value changes when the test is repaired; {lost} of them are below "
        f"{ALPHA:g} only as published."
    )
    title = "p-values as published and repaired"
    chart = _chart(rows, title, "p-value on its own (before Holm's correction)", log=True)
    return style.Figure("published-p-values", title, alt_text, chart)


def _p(effect: Estimate) -> float | None:
    return None if effect.p_value is None else max(_LEAST_P, effect.p_value)


def _changed(readings: Sequence[Reading], value: Any, distance: Any, *, least: float) -> list[Row]:
    """Those that differ most first."""
    rows = []
    for reading, title in zip(readings, shown_titles(readings), strict=True):
        both = (value(reading.published), value(reading.effect)) if reading.published else (None, None)
        if None not in both and (apart := distance(*both)) >= least:
            row = {"model": reading.model, "measured": title, "apart": apart, "state": reading.verdict.state}
            rows.append({**row, "published": both[0], "repaired": both[1]})
    return sorted(rows, key=lambda row: -row["apart"])


def _chart(rows: list[Row], title: str, axis: str, *, log: bool) -> Any:
    lines = [
        {**row, "y": (n + 0.72) * _ROW, "label": style.short(f"{row['measured']} ({row['model']})", 72)}
        for n, row in enumerate(rows[:MOST])
    ]
    height = len(lines) * _ROW + 4
    y = alt.Y("y:Q", scale=alt.Scale(domain=[height, 0], nice=False), axis=None)
    scale = alt.Scale(type="log", domain=[_LEAST_P, 1]) if log else alt.Scale(zero=False, padding=12)
    ticks = {"values": [0.00001, 0.0001, 0.001, 0.01, 0.05, 1], "format": "~g"} if log else {"tickCount": 6}
    x = alt.X("at:Q", title=axis, scale=scale, axis=alt.Axis(grid=False, **ticks))
    both = [
        [
            {"y": line["y"], "state": line["state"], "at": line[key], "says": f"{line['label']}, {form}: {number}"}
            for line in lines
            for number in [f"p {p_number(line[key])}" if log else f"{line[key]:.3f}"]
        ]
        for form, key in zip(_FORMS, ("published", "repaired"), strict=True)
    ]
    level = style.table([{"at": ALPHA}]).mark_rule(color=style.SOFT, strokeDash=[3, 3], aria=False)
    spans = style.table(lines).mark_rule(color=style.FAINT, strokeWidth=3, aria=False)
    names = style.table(lines).mark_text(align="left", dx=4, dy=-15, fontSize=12, color=style.INK, aria=False)
    chart = alt.layer(
        *([level.encode(x=alt.X("at:Q", scale=scale))] if log else []),
        spans.encode(x=alt.X("published:Q", scale=scale), x2=alt.X2("repaired:Q"), y=y),
        published_marks(both[0]).encode(x=x, y=y, **style.says()),
        *verdict_marks(both[1], x=x, y=y, **style.says()),
        names.encode(x=style.pixel("X", 0), y=y, text=alt.Text("label:N")),
        width=style.WIDTH,
        height=height,
    )
    dashed = f"; dashed: {ALPHA:g}" if log else ""
    far = f"; the {MOST} of {len(rows)} that differ most" if len(rows) > MOST else ""
    return style.titled(chart, title, f"{_MARKS}{dashed}{far}", letters=66)


#: Of more blocks than these (a model and a variant each) the chart would be longer than a page.
_MOST_BLOCKS = 12
_USUAL = ("noun", "verb", "occupation", "combined")
_SHARES_WIDTH = 340


def contexts(readings: Sequence[Reading]) -> style.Figure | None:
    """A block for each model and variant; None where no reading is by context, or there is too much for one chart."""
    blocks: dict[str, list[tuple[ClozeDetails, State]]] = {}
    for reading in readings:
        cell = reading.details
        if isinstance(cell, ClozeDetails) and cell.published and cell.repaired:
            name = f"{reading.model}{'' if cell.variant == 'all' else f', {cell.variant}'}"
            blocks.setdefault(name, []).append((cell, reading.verdict.state))
    if not 0 < len(blocks) <= _MOST_BLOCKS:
        return None
    all_cells = [cell for cells in blocks.values() for cell, _ in cells]
    groups = {cell.groups[0] for cell in all_cells}
    whom = groups.pop() if len(groups) == 1 else "the group in brackets"
    pairs = {cell.groups for cell in all_cells}
    ends = pairs.pop() if len(pairs) == 1 else None
    names = {cell.context: f"{cell.context} [{cell.groups[0]}]" if groups else cell.context for cell in all_cells}
    order = [names[name] for name in sorted(names, key=lambda n: (_USUAL.index(n) if n in _USUAL else 2.5, n))]
    rows = {
        block: [row for cell, state in cells for row in _share_rows(block, names[cell.context], cell, state)]
        for block, cells in blocks.items()
    }
    title = "Which pronoun is expected, by context"
    subtitle = f"share of sentences to {whom} with its 95% interval; .5 is level; {_MARKS}"
    # The panels share their marks: each with those of its own verdicts would be drawn with those of the first.
    shape = verdict_shape(row["state"] for mine in rows.values() for row in mine)
    panels = [_panel(mine, block, order, ends, shape, last=block == list(blocks)[-1]) for block, mine in rows.items()]
    chart = style.titled(alt.vconcat(*panels, spacing=10), title, subtitle, letters=62, left=12)
    return style.Figure("contexts", title, _alt([row for mine in rows.values() for row in mine], whom), chart)


def _share_rows(block: str, context: str, cell: ClozeDetails, state: State) -> Iterator[Row]:
    for form, shares in zip(_FORMS, (cell.published, cell.repaired), strict=True):
        if shares and shares.to_1 is not None:
            interval = f"[{shares.low:.0%}, {shares.high:.0%}]"
            says = f"{block}, {cell.context}, {form}: {shares.to_1:.0%} to {cell.groups[0]} {interval}"
            numbers = {"share": shares.to_1, "low": shares.low, "high": shares.high}
            yield {"block": block, "context": context, "form": form, "state": state, "says": says, **numbers}


def _panel(
    rows: list[Row], block: str, order: list[str], groups: tuple[str, str] | None, shape: Any, *, last: bool
) -> Any:
    there = {row["context"] for row in rows}
    height = 26 * len(there)
    ends: dict[str, Any] = {"labels": last, "ticks": last, "domain": last}
    axis = alt.Axis(grid=False, values=[0, 0.25, 0.5, 0.75, 1], format=".2~f", **ends)
    x = alt.X("share:Q", title="share" if last else None, scale=alt.Scale(domain=[0, 1]), axis=axis)
    sort = [name for name in order if name in there]
    y: dict[str, Any] = {
        "y": alt.Y("context:N", sort=sort, title=None, axis=alt.Axis(ticks=False, domain=False)),
        "yOffset": alt.YOffset("form:N", scale=alt.Scale(domain=list(_FORMS))),
    }
    published, repaired = ([row for row in rows if row["form"] == form] for form in _FORMS)
    edges = style.table([{"at": 0.0}, {"at": 1.0}]).mark_rule(color=style.FAINT, strokeWidth=0.5, aria=False)
    level = style.table([{"at": 0.5}]).mark_rule(color=style.SOFT, aria=False)
    ink = alt.Color("form:N", scale=alt.Scale(domain=list(_FORMS), range=[style.SOFT, style.INK]), legend=None)
    spans = style.table(rows).mark_rule(strokeWidth=1.8, aria=False)
    poles = Poles(*groups) if last and groups else None
    return alt.layer(
        edges.encode(x=alt.X("at:Q")),
        level.encode(x=alt.X("at:Q")),
        spans.encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), color=ink, **y),
        published_marks(published).encode(x=x, **y, **style.says()),
        *verdict_marks(repaired, x=x, shape=shape, **y, **style.says()),
        *style.end_labels(poles, width=_SHARES_WIDTH, height=height),
        width=_SHARES_WIDTH,
        height=height,
        title=alt.Title(style.short(block, 60), fontSize=12, offset=4, color=style.INK),
    )


def _alt(rows: list[Row], whom: str) -> str:
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
