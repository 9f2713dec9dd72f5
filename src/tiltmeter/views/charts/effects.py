"""Effects with their intervals: one block per probe between the names of its two ends, one line per model, the effect
and p beside it, Cohen's bands behind it in steps."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt

from tiltmeter.readings import SHARE, D, Estimate, Reading, Scale
from tiltmeter.readings.scale import share_at
from tiltmeter.views.charts import style
from tiltmeter.views.charts.marks import SIZE, tally, verdict_marks, verdict_shape
from tiltmeter.views.rows import ReadingRow, first_leans, reading_rows

#: Of more models than these each is only a point, without its interval.
MOST_LINES = len(style.COLOURS)
_TITLE, _ENDS, _LINE, _CLOUD, _GAP = 18, 15, 16, 30, 9
#: Letters of a title that fit in a line, and of a model's name beside its own.
_LETTERS, _NAME = 62, 20
#: Pixels of a line: beside the names of models, and without them.
_WIDTH, _ALONE = 256, 384
#: Where the numbers beside the lines end, from the end of the lines on.
_VALUE_AT, _P_AT = 36, 92
#: Ticks stand close, so that they are written as people write what is below 1.
_NO_ZERO = "replace(format(datum.value, '.2~f'), /0(?=[.])/, '')"
Mark = dict[str, Any]


class _Axis(NamedTuple):
    """What a chart is drawn along: where level is, where the bands begin on both sides, and how far it reaches."""

    title: str
    level: float
    bands: tuple[tuple[float, float], ...]
    low: float
    high: float
    ticks: tuple[float, ...] | None


def effects(readings: Sequence[Reading]) -> style.Figure | None:
    """Effect sizes d of all models and probes, each with the mark of its verdict; None where no reading has one."""
    bands = "shaded in steps: small from .2, medium from .5, large from .8"
    return _on_scale(D, "effects", "Effect sizes", bands, readings)


def shares(readings: Sequence[Reading]) -> style.Figure | None:
    """Shares around one half with their intervals; None where no reading has one."""
    bands = "shaded in steps: small from .60, medium from .74, large from .86"
    return _on_scale(SHARE, "shares", "Shares", bands, readings)


def interval(reading: Reading) -> style.Figure:
    """The effect of one reading with its interval, on whatever scale."""
    words = f"{reading.model}; {reading.effect.better}"
    return _figure("interval", reading.title, words, reading_rows([reading]), [reading])


def _on_scale(scale: Scale, name: str, title: str, bands: str, readings: Sequence[Reading]) -> style.Figure | None:
    rows = [row for row in reading_rows(readings) if row.reading.effect.ci]
    # Controls come last: they should lean, and are no finding.
    rows = sorted((row for row in rows if row.reading.effect.scale == scale), key=lambda row: row.reading.control)
    return _figure(name, title, bands, rows, readings) if rows else None


def _figure(name: str, title: str, bands: str, rows: list[ReadingRow], readings: Sequence[Reading]) -> style.Figure:
    # A model has the same colour in all charts of these readings, where they suffice.
    drawn = dict.fromkeys(row.reading.model for row in rows)
    everyone = dict.fromkeys(reading.model for reading in readings)
    order = everyone if len(everyone) <= MOST_LINES else drawn
    colours = {model: style.COLOURS[n % MOST_LINES] for n, model in enumerate(order) if model in drawn}
    how = f"one point per model, {len(colours)} in all" if len(colours) > MOST_LINES else "mark and 95% interval"
    grey = "; grey bar: 95% of arbitrary word lists" if any(_arbitrary(row.reading) for row in rows) else ""
    chart = _layers(rows, colours)
    chart = style.titled(chart, title, [f"{how}, p corrected{grey}; {bands}"], letters=68, right=10)
    return style.Figure(name, title, _alt(title, rows, len(colours)), chart)


def _alt(title: str, rows: list[ReadingRow], models: int) -> str:
    """How many are clear, and where the farthest clear lean is."""
    named = f"of {models} models" if models > 1 else f"on {rows[0].reading.model}"
    biases = [row for row in rows if not row.reading.control]
    clear = [row for row in biases if row.clear]
    far = max(clear or biases or rows, key=lambda row: abs(row.reading.effect.value - row.reading.effect.level))
    direction = f", {far.reading.direction}" if far.reading.direction else ""
    p = f", p {far.p} corrected" if far.p else ""
    lead = "the farthest clear lean" if clear else "farthest from level"
    if biases and not clear:
        lead = f"no lean is clear; {lead}"
    return (
        f"{title} {named}, {len(rows)} readings: {tally(row.verdict.state for row in rows)}; {lead} is {far.title} on "
        f"{far.reading.model}{direction}: {far.value}{p}."
    )


def _axis(rows: Sequence[ReadingRow]) -> _Axis:
    """From one end of the scale to the other; where it has no end, as far as the intervals reach."""
    effect, scale = rows[0].reading.effect, rows[0].reading.effect.scale
    reached = [scale.level, *(at for row in rows for at in _reach(row.reading.effect))]
    bands = scale.bands or ()
    if scale == D:
        # With groups of one size d ends at 2; with others it can go further.
        end = max(2.0, *(math.ceil(2 * abs(at)) / 2 for at in reached))
        # Bands have ticks where there is room for them, beside which 1 has none.
        close = end <= 2
        whole = [float(n) for n in range(2 if close else 1, math.floor(end) + 1)]
        ticks = sorted({sign * tick for tick in (*(bands if close else ()), *whole) for sign in (-1, 1)} | {0.0})
        return _Axis("effect size d; 0 is level", 0.0, tuple((-band, band) for band in bands), -end, end, tuple(ticks))
    room = 0.1 * (max(reached) - min(reached)) or 1.0
    low = min(reached) - room if scale.low is None else scale.low
    high = max(reached) + room if scale.high is None else scale.high
    if scale == SHARE:
        sides = tuple((share_at(-band), share_at(band)) for band in bands)
        return _Axis("share; 0.5 is level", scale.level, sides, low, high, (0.0, 0.25, 0.5, 0.75, 1.0))
    sides = tuple((max(low, scale.level - band), scale.level + band) for band in bands)
    return _Axis(effect.name, scale.level, sides, low, high, None)


def _reach(effect: Estimate) -> tuple[float, float, float]:
    return (effect.value, effect.ci.low, effect.ci.high) if effect.ci else (effect.value,) * 3


def _placed(rows: list[ReadingRow], *, many: bool) -> tuple[list[Mark], list[Mark], float]:
    """The points and the blocks with their places in pixels: rows of a fixed height need no other layout.

    Of ``many`` a point holds no more than what is drawn: there may be thousands.
    """
    marks, blocks, top = list[Mark](), list[Mark](), 0.0
    for title in dict.fromkeys(row.title for row in rows):
        mine = [row for row in rows if row.title == title]
        block = {"top": top, "y": top + _TITLE / 2 + 2, "title": style.short(title, _LETTERS)}
        top += _TITLE
        if poles := mine[0].reading.poles:
            low, high = first_leans(poles)
            ends = {"low": f"◄ {low}" if low else "", "high": f"{high} ►" if high else ""}
            # Where both do not fit in one line, each has its own.
            apart = len(low) + len(high) > _LETTERS
            blocks.append({"y": top + _ENDS / 2, **ends, "high_y": top + _ENDS / 2 + _ENDS * apart})
            top += _ENDS * (1 + apart)
        blocks.append(block)
        for n, row in enumerate(mine):
            y = top + (_jitter(row.reading.model) * _CLOUD if many else (n + 0.5) * _LINE)
            value, low_end, high_end = _reach(row.reading.effect)
            mark: Mark = {"value": value, "y": y, "state": row.verdict.state, "says": row.says}
            if not many:
                names = {
                    "model": row.reading.model,
                    "measured": row.title,
                    "name": style.tail(row.reading.model, _NAME),
                }
                numbers = {"low": low_end, "high": high_end, "number": row.reading.effect.number, "p": row.p or ""}
                mark |= {**names, **numbers, **_arbitrary(row.reading)}
            marks.append(mark)
        top += (_CLOUD if many else _LINE * len(mine)) + _GAP
    return marks, blocks, top


def _arbitrary(reading: Reading) -> Mark:
    """Where 95% of arbitrary word lists fall."""
    placebo = reading.evidence.placebo if reading.evidence else None
    return {"from": placebo.low, "to": placebo.high} if placebo else {}


def _jitter(model: str) -> float:
    """A model's height within a cloud of points: always the same, so that the chart is."""
    return 0.1 + 0.8 * (zlib.crc32(model.encode(errors="replace")) % 1000) / 1000


def _layers(rows: list[ReadingRow], colours: Mapping[str, str]) -> Any:
    axis, many = _axis(rows), len(colours) > MOST_LINES
    marks, blocks, height = _placed(rows, many=many)
    ticks: dict[str, Any] = {"tickCount": 6} if axis.ticks is None else {"values": list(axis.ticks)}
    scale = alt.Scale(domain=[axis.low, axis.high], nice=False)
    labels = alt.Axis(
        grid=False, labelExpr=_NO_ZERO, labelFontSize=10, labelOverlap="greedy", labelSeparation=-8, **ticks
    )
    x = alt.X("value:Q", title=axis.title, scale=scale, axis=labels)
    down = alt.Scale(domain=[height, 0], nice=False)
    y = alt.Y("y:Q", scale=down, axis=None)
    points, spans, columns = style.table(marks), list[Any](), list[Any]()
    width = style.WIDTH if many else _WIDTH if len(colours) > 1 else _ALONE
    begin, end = 0.0, float(width)
    if many:
        ink: Any = alt.FillValue(style.COLOURS[0])
    else:
        palette = alt.Scale(domain=list(colours), range=list(colours.values()))
        ink = alt.Fill("model:N", scale=palette, legend=None)
        lines = points.mark_rule(strokeWidth=2, aria=False)
        stroke = alt.Stroke("model:N", scale=palette, legend=None)
        spans = [lines.encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=y, stroke=stroke)]
        if arbitrary := [mark for mark in marks if "from" in mark]:
            bars = style.table(arbitrary).mark_rule(
                strokeWidth=9, color=style.SOFT, opacity=0.28, clip=True, aria=False
            )
            spans.insert(0, bars.encode(x=alt.X("from:Q"), x2=alt.X2("to:Q"), y=y))
        end += _P_AT
        columns = list(_numbers(points, y, width))
        if len(colours) > 1:
            begin = -style.room(max(len(mark["name"]) for mark in marks)) - 8.0
            names = points.mark_text(align="right", dx=-8, fontSize=11, aria=False, color=style.INK)
            columns.append(names.encode(x=style.pixel("X", 0), y=y, text=alt.Text("name:N")))
    shape = verdict_shape((mark["state"] for mark in marks), legend={"offset": 8 if many else 22})
    size = 34 if many else SIZE
    return alt.layer(
        *_bands(axis, height),
        style.table([{"at": axis.level}]).mark_rule(color=style.SOFT, aria=False).encode(x=alt.X("at:Q")),
        *spans,
        *verdict_marks(marks, size=size, colour=ink, shape=shape, x=x, y=y, **style.says()),
        *columns,
        *_words(blocks, down, begin, end),
        width=width,
        height=height,
    )


def _numbers(points: Any, y: Any, width: float) -> Iterator[Any]:
    """The effect and p beside every line, and what they are above the first."""
    for field, head, at in (("number", "effect", _VALUE_AT), ("p", "p", _P_AT)):
        place = style.pixel("X", width + at)
        numbers = points.mark_text(align="right", fontSize=11, color=style.INK, aria=False)
        yield numbers.encode(x=place, y=y, text=alt.Text(f"{field}:N"))
        heads = style.table([{"head": head}]).mark_text(align="right", fontSize=11, color=style.SOFT, aria=False)
        yield heads.encode(x=place, y=style.pixel("Y", -8), text=alt.Text("head:N"))


def _bands(axis: _Axis, height: float) -> Iterator[Any]:
    """Shades for small, medium and large on both sides of level."""
    outer = [*axis.bands[1:], (axis.low, axis.high)]
    place = {"x": alt.X("from:Q"), "x2": alt.X2("to:Q"), "y": style.pixel("Y", 0), "y2": style.pixel("Y2", height)}
    # A scale without bands has no shades.
    for (low, high), shade, (lower, upper) in zip(axis.bands, style.SHADES, outer, strict=False):
        sides = style.table([{"from": lower, "to": low}, {"from": high, "to": upper}])
        yield sides.mark_rect(color=shade, aria=False).encode(**place)


def _words(blocks: list[Mark], down: Any, begin: float, end: float) -> Iterator[Any]:
    """Titles, the names of both ends below them, and a line above each block but the first."""
    y, high_y = (alt.Y(f"{field}:Q", scale=down, axis=None) for field in ("y", "high_y"))
    looks = (
        ("title", "left", begin, y, {"color": style.INK, "fontSize": 12, "fontWeight": "bold"}),
        ("low", "left", begin, y, {"color": style.SOFT, "fontSize": 11}),
        ("high", "right", end, high_y, {"color": style.SOFT, "fontSize": 11}),
    )
    for field, align, at, place, look in looks:
        if rows := [block for block in blocks if block.get(field)]:
            marks = style.table(rows).mark_text(align=align, aria=False, **look)
            yield marks.encode(x=style.pixel("X", at), y=place, text=alt.Text(f"{field}:N"))
    if top := [{"y": block["top"]} for block in blocks if block.get("top")]:
        lines = style.table(top).mark_rule(color=style.FAINT, strokeWidth=0.6, aria=False)
        yield lines.encode(y=y, x=style.pixel("X", begin), x2=style.pixel("X2", end))
