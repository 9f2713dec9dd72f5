"""Effects with their intervals: one block per probe, one line per model, level and Cohen's bands behind them."""

from __future__ import annotations

import itertools
import math
import zlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import altair as alt

from tiltmeter.readings import SHARE, D, Estimate, Reading, Scale
from tiltmeter.readings.scale import share_at
from tiltmeter.views.charts import style
from tiltmeter.views.rows import ReadingRow, reading_rows

#: Of more models than these each is only a point, without its interval.
MOST_LINES = len(style.COLOURS)
_TITLE, _WORDS, _LINE, _CLOUD, _GAP = 19, 15, 13, 30, 9
#: Letters of a title that fit in a line.
_LETTERS = 82
_DOT = "open: may be chance"
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
    """Effect sizes d of all models and probes, a clear lean as a full point; None where no reading has one."""
    bands = "0 is level; shaded: small from .2, medium from .5, large from .8"
    return _on_scale(D, "effects", "Effect sizes", bands, readings)


def shares(readings: Sequence[Reading]) -> style.Figure | None:
    """Shares around one half with their intervals; None where no reading has one."""
    bands = ".5 is level; shaded: small from .60, medium from .74, large from .86"
    return _on_scale(SHARE, "shares", "Shares", bands, readings)


def interval(reading: Reading) -> style.Figure:
    """The effect of one reading with its interval, on whatever scale."""
    words = f"{reading.model}; {reading.effect.better}"
    return _figure("interval", reading.title, words, reading_rows([reading]), [reading])


def _on_scale(scale: Scale, name: str, title: str, bands: str, readings: Sequence[Reading]) -> style.Figure | None:
    rows = [row for row in reading_rows(readings) if row.reading.effect.ci]
    rows = [row for row in rows if row.reading.effect.scale == scale]
    return _figure(name, title, bands, rows, readings) if rows else None


def _figure(name: str, title: str, bands: str, rows: list[ReadingRow], readings: Sequence[Reading]) -> style.Figure:
    # A model has the same colour and shape in all charts of these readings, where they suffice.
    drawn = dict.fromkeys(row.reading.model for row in rows)
    everyone = dict.fromkeys(reading.model for reading in readings)
    order = everyone if len(everyone) <= MOST_LINES else drawn
    looks = zip(order, itertools.cycle(zip(style.COLOURS, style.SHAPES, strict=True)), strict=False)
    models = {model: look for model, look in looks if model in drawn}
    how = f"one point per model, {len(models)} in all" if len(models) > MOST_LINES else "point and 95% interval"
    grey = "; grey: 95% of arbitrary word lists fall here" if any(_arbitrary(row.reading) for row in rows) else ""
    chart = style.titled(_layers(rows, models), title, [f"{how}; {_DOT}{grey}; {bands}"])
    far = max(rows, key=lambda row: abs(row.reading.effect.value - row.reading.effect.level))
    named = f"of {len(models)} models" if len(models) > 1 else f"on {rows[0].reading.model}"
    alt_text = (
        f"{title} {named}: {len(rows)} readings, {sum(row.clear for row in rows)} of them a clear lean; farthest from "
        f"level is {far.title} on {far.reading.model}, {far.value}."
    )
    return style.Figure(name, title, alt_text, chart)


def _axis(rows: Sequence[ReadingRow]) -> _Axis:
    """From one end of the scale to the other; where it has no end, as far as the intervals reach."""
    effect, scale = rows[0].reading.effect, rows[0].reading.effect.scale
    reached = [scale.level, *(at for row in rows for at in _reach(row.reading.effect))]
    bands = scale.bands or ()
    if scale == D:
        # With groups of one size d ends at 2; with others it can go further.
        end = max(2.0, *(math.ceil(2 * abs(at)) / 2 for at in reached))
        whole = [float(n) for n in range(1, math.floor(end) + 1)]
        ticks = sorted({sign * tick for tick in (*bands, *whole) for sign in (-1, 1)} - {-1.0, 1.0} | {0.0})
        return _Axis("effect size d", 0.0, tuple((-band, band) for band in bands), -end, end, tuple(ticks))
    room = 0.1 * (max(reached) - min(reached)) or 1.0
    low = min(reached) - room if scale.low is None else scale.low
    high = max(reached) + room if scale.high is None else scale.high
    if scale == SHARE:
        sides = tuple((share_at(-band), share_at(band)) for band in bands)
        return _Axis("share", scale.level, sides, low, high, (0.0, 0.25, 0.5, 0.75, 1.0))
    sides = tuple((max(low, scale.level - band), scale.level + band) for band in bands)
    return _Axis(effect.name, scale.level, sides, low, high, None)


def _reach(effect: Estimate) -> tuple[float, float, float]:
    return (effect.value, effect.ci.low, effect.ci.high) if effect.ci else (effect.value,) * 3


def _placed(rows: list[ReadingRow], *, words: bool, many: bool) -> tuple[list[Mark], list[Mark], float]:
    """The points and the blocks with their places in pixels: rows of a fixed height need no other layout."""
    marks, blocks, top = list[Mark](), list[Mark](), 0.0
    for title in dict.fromkeys(row.title for row in rows):
        mine = [row for row in rows if row.title == title]
        blocks.append({"y": top + _TITLE / 2 + 2, "title": style.short(title, _LETTERS)})
        top += _TITLE
        if words and mine[0].leans:
            blocks.append({"y": top + _WORDS / 2 - 1, "words": style.short(mine[0].leans, _LETTERS + 8)})
            top += _WORDS
        for n, row in enumerate(mine):
            y = top + (_jitter(row.reading.model) * _CLOUD if many else (n + 0.5) * _LINE)
            value, low, high = _reach(row.reading.effect)
            names = {"model": row.reading.model, "measured": row.title, "clear": row.clear, "says": row.says}
            marks.append({**names, "value": value, "low": low, "high": high, "y": y, **_arbitrary(row.reading)})
        top += (_CLOUD if many else _LINE * len(mine)) + _GAP
    return marks, blocks, top


def _arbitrary(reading: Reading) -> Mark:
    """Where 95% of arbitrary word lists fall."""
    placebo = reading.evidence.placebo if reading.evidence else None
    return {"from": placebo.low, "to": placebo.high} if placebo else {}


def _jitter(model: str) -> float:
    """A model's height within a cloud of points: always the same, so that the chart is."""
    return 0.1 + 0.8 * (zlib.crc32(model.encode(errors="replace")) % 1000) / 1000


def _layers(rows: list[ReadingRow], looks: Mapping[str, tuple[str, str]]) -> Any:
    axis, many = _axis(rows), len(looks) > MOST_LINES
    # Which way one model leans is said; of several, each has its own way.
    marks, blocks, height = _placed(rows, words=len(looks) == 1, many=many)
    ticks: dict[str, Any] = {"tickCount": 6} if axis.ticks is None else {"values": list(axis.ticks)}
    scale = alt.Scale(domain=[axis.low, axis.high], nice=False)
    labels = alt.Axis(grid=False, format=".2~f", labelOverlap="greedy", **ticks)
    x = alt.X("value:Q", title=axis.title, scale=scale, axis=labels)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[height, 0], nice=False), axis=None)
    points, spans = style.table(marks), []
    if many:
        ink: Any = alt.ColorValue(style.COLOURS[0])
        dots = points.mark_point(size=34, strokeWidth=1.3, opacity=0.8)
    else:
        legend = alt.Legend(orient="top", title=None, labelLimit=240, columns=3) if len(looks) > 1 else None
        colours, shapes = (alt.Scale(domain=list(looks), range=[look[i] for look in looks.values()]) for i in (0, 1))
        ink = alt.Color("model:N", scale=colours, legend=legend)
        shape = alt.Shape("model:N", scale=shapes, legend=legend)
        dots = points.mark_point(size=62, strokeWidth=1.8, opacity=1).encode(shape=shape)
        lines = points.mark_rule(strokeWidth=2, aria=False)
        spans = [lines.encode(x=alt.X("low:Q"), x2=alt.X2("high:Q"), y=y, color=ink)]
        if arbitrary := [mark for mark in marks if "from" in mark]:
            bars = style.table(arbitrary).mark_rule(
                strokeWidth=9, color=style.SOFT, opacity=0.28, clip=True, aria=False
            )
            spans.insert(0, bars.encode(x=alt.X("from:Q"), x2=alt.X2("to:Q"), y=y))
    fill = style.where("datum.clear", ink, style.PAPER, channel="Fill")
    return alt.layer(
        *_bands(axis, height),
        style.table([{"at": axis.level}]).mark_rule(color=style.SOFT, aria=False).encode(x=alt.X("at:Q")),
        *spans,
        dots.encode(x=x, y=y, color=ink, fill=fill, **style.says()),
        *_words(blocks, y),
        width=style.WIDTH,
        height=height,
    )


def _bands(axis: _Axis, height: float) -> Iterator[Any]:
    """Shades for small, medium and large on both sides of level."""
    outer = [*axis.bands[1:], (axis.low, axis.high)]
    place = {"x": alt.X("from:Q"), "x2": alt.X2("to:Q"), "y": style.pixel("Y", 0), "y2": style.pixel("Y2", height)}
    # A scale without bands has no shades.
    for (low, high), shade, (lower, upper) in zip(axis.bands, style.SHADES, outer, strict=False):
        sides = style.table([{"from": lower, "to": low}, {"from": high, "to": upper}])
        yield sides.mark_rect(color=shade, aria=False).encode(**place)


def _words(blocks: list[Mark], y: Any) -> Iterator[Any]:
    for field, colour, size in (("title", style.INK, 12), ("words", style.SOFT, 11)):
        if rows := [block for block in blocks if field in block]:
            marks = style.table(rows).mark_text(align="left", dx=4, fontSize=size, color=colour, aria=False)
            yield marks.encode(x=style.pixel("X", 0), y=y, text=alt.Text(f"{field}:N"))
    if top := [{"y": block["y"] - _TITLE / 2} for block in blocks[1:] if "title" in block]:
        lines = style.table(top).mark_rule(color=style.FAINT, strokeWidth=0.6, aria=False)
        yield lines.encode(y=y, x=style.pixel("X", 0), x2=style.pixel("X2", style.WIDTH))
