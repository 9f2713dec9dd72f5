"""Heat maps: where the leans of models and probes are, and whether measures agree about the same words or models."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from statistics import median
from typing import Any, NamedTuple

import altair as alt
import numpy as np
from numpy.typing import NDArray

from tiltmeter.readings import CORRELATION, D, Reading, State
from tiltmeter.views.charts import style
from tiltmeter.views.charts.marks import LEGEND, PATHS, tally, verdict_shape
from tiltmeter.views.charts.shades import no_scale, shade
from tiltmeter.views.charts.style import FAINT, INK, SOFT, Figure, says, table, titled
from tiltmeter.views.rows import ReadingRow, first_leans, reading_rows, shown_titles

#: Of more models than these the cells have no room for numbers.
_MOST_NUMBERS = 8
#: The fewest and the most letters of a title in a line, and those of a model's name above its column.
_LETTERS, _NAME = (34, 54), 20
#: Pixels that titles and cells may take, so that the chart fits a telephone.
_ROOM = 470
_CELL, _NARROW = 45, 13
_SIZES = ("negligible", "small", "medium", "large")
Mark = dict[str, Any]


def grid(readings: Sequence[Reading]) -> Figure | None:
    """Probes down, models across, controls last; None where there is only one model."""
    models = list(dict.fromkeys(reading.model for reading in readings))
    if len(models) < 2:
        return None
    rows = sorted(reading_rows(readings), key=lambda row: row.reading.control)
    title = "All models and probes"
    number = "number: the probe's own statistic; " if len(models) <= _MOST_NUMBERS else ""
    subtitle = f"colour: which way and how large, paler where less sure (key below); {number}empty: not measured"
    chart = titled(_grid_layers(rows, models), title, subtitle, letters=66, left=16)
    return Figure("grid", title, _grid_alt(rows, models), chart)


def _grid_alt(rows: list[ReadingRow], models: list[str]) -> str:
    """How much is clear, on which model most, and what the strongest is."""
    biases = [row for row in rows if not row.reading.control]
    clear = Counter(row.reading.model for row in biases if row.clear)
    most = max(models, key=lambda model: clear[model])
    alt_text = (
        f"Heat map of {len(models)} models and {len({row.title for row in rows})} probes, {len(rows)} readings: "
        f"{tally(row.verdict.state for row in rows)}."
    )
    if not clear:
        return f"{alt_text} No lean is clear."
    far = max((row for row in biases if row.clear), key=lambda row: abs(row.size or 0.0))
    direction = f", {far.reading.direction}" if far.reading.direction else ""
    without = [model for model in models if not clear[model]]
    none = f"; none on {', '.join(without)}" if without else ""
    return (
        f"{alt_text} Most clear leans are on {most} ({clear[most]}){none}; the largest is {far.title} on "
        f"{far.reading.model}{direction} ({far.value})."
    )


def _grid_layers(rows: list[ReadingRow], models: list[str]) -> Any:
    numbers = len(models) <= _MOST_NUMBERS
    width = _CELL if numbers else _NARROW
    letters = max(_LETTERS[0], min(_LETTERS[1], int((_ROOM - width * len(models)) / style.room(1))))
    titles, height = _named_rows(rows, letters, tall=numbers)
    # A cell holds no more than what is drawn of it: there may be thousands.
    drawn = _PLACE if not numbers else (*_PLACE, "middle", "measured")
    places = {title["measured"]: {name: title[name] for name in drawn} for title in titles}
    cells = [
        {**_cell_mark(row, numbers=numbers), **places[row.title], "model": row.reading.model, "says": row.says}
        for row in rows
    ]
    look: Mark = {"labelAngle": -70 if numbers else -90, "labelLimit": 0, "labelExpr": style.cut_start(_NAME)}
    # In wide letters names reach higher than the renderer reckons.
    high = 0.95 * style.room(min(_NAME, max(map(len, models))))
    across = alt.Axis(orient="top", ticks=False, domain=False, minExtent=high, **look)
    x = alt.X("model:N", sort=models, title=None, axis=across)
    scale = alt.Scale(domain=[height, 0], nice=False)
    y, middle = alt.Y("top:Q", scale=scale, axis=None), alt.Y("middle:Q", scale=scale, axis=None)
    squares = table(cells).mark_rect(stroke=FAINT, strokeWidth=0.5)
    marks = [squares.encode(x=x, y=y, y2=alt.Y2("bottom:Q"), **_PAINT, **says())]
    if numbers:
        ink = {"ink": alt.Color("ink:N", scale=None), "fill": alt.Fill("ink:N", scale=None)}
        shape = verdict_shape((cell["state"] for cell in cells), legend=None)
        points = table(cells).mark_point(size=42, strokeWidth=0, opacity=1, xOffset=-_CELL / 2 + 8, aria=False)
        texts = table(cells).mark_text(fontSize=11, align="right", xOffset=_CELL / 2 - 3, aria=False)
        marks.append(points.encode(x=x, y=middle, shape=shape, fill=ink["fill"]))
        marks.append(texts.encode(x=x, y=middle, text=alt.Text("text:N"), color=ink["ink"]))
    for field, colour, size in (("lines", INK, 12), ("way", SOFT, 11)):
        at = alt.Y(f"{field}_y:Q", scale=scale, axis=None)
        names = table(titles).mark_text(align="right", dx=-8, fontSize=size, lineHeight=14, color=colour, aria=False)
        marks.append(names.encode(x=style.pixel("X", 0), y=at, text=alt.Text(f"{field}:N")))
    key = _key({row.verdict.state for row in rows}, height + 14, -style.room(letters))
    return alt.layer(*marks, *key, width=alt.Step(width), height=height)


def _named_rows(rows: list[ReadingRow], letters: int, *, tall: bool) -> tuple[list[Mark], float]:
    """Each row with its title, the direction that its first colour stands for, and its place in pixels."""
    named, top = list[Mark](), 0.0
    for title in dict.fromkeys(row.title for row in rows):
        row = next(row for row in rows if row.title == title)
        poles = row.reading.poles
        lines = style.wrapped(row.title, letters)[:2] if tall else [style.short(row.title, letters)]
        way = style.wrapped(first_leans(poles)[1], letters)[:2] if poles and tall else []
        named.append({"measured": row.title, "lines": lines, "way": way})
    for place in named:
        written = 14.0 * (len(place["lines"]) + len(place["way"]))
        bottom = top + max(22.0 if tall else 15.0, written + 6)
        first = (top + bottom - written) / 2 + 7
        place |= {"top": top, "bottom": bottom, "middle": (top + bottom) / 2}
        place |= {"lines_y": first, "way_y": first + 14 * len(place["lines"])}
        top = bottom
    return named, top


def _cell_mark(row: ReadingRow, *, numbers: bool) -> Mark:
    state, size, effect = row.verdict.state, row.size, row.reading.effect
    look = no_scale() if size is None else shade(_SIZES.index(D.strength(size)), size, state)
    if not numbers:
        return {"fill": look.fill, "opacity": look.opacity}
    return {"state": state, "d": size, "text": f"{effect.value:.2f}", **look._asdict()}


#: Where a cell begins and ends.
_PLACE = ("top", "bottom")
#: The colour of a cell, as its row says it.
_PAINT = {
    "fill": alt.Fill("fill:N", scale=None),
    "fillOpacity": alt.FillOpacity("opacity:Q", scale=None),
}


def _key(states: Set[State], top: float, begin: float) -> Iterator[Any]:
    """What colours and marks mean: sizes across in both directions, verdicts down, and the marks without a colour."""
    boxes, words, marks = list[Mark](), list[Mark](), list[Mark]()
    shown = [state for state in _COLOURED if state in states]
    left, below = begin + _KEY_NAMES, top + 16 + 16 * len(shown)
    for i, (step, sign) in enumerate(_KEY_STEPS):
        at = left + i * _BOX
        words.append({"x": at + _BOX / 2, "y": top + 8, "align": "center", "word": _SIZES[step]})
        for j, state in enumerate(shown):
            y = top + 16 + 16 * j
            look = shade(step, sign, state)._asdict()
            boxes.append({"x": at, "x2": at + _BOX - 2, "y": y, "y2": y + 14, **look})
    others = [state for state in LEGEND if state in states and state not in shown]
    places = [(state, begin, top + 23 + 16 * j) for j, state in enumerate(shown)]
    places += [(state, begin + 130 * j, below + 30) for j, state in enumerate(others)]
    for state, x, y in places:
        marks.append({"x": x + 5, "y": y, "state": state})
        words.append({"x": x + 14, "y": y, "align": "left", "word": state if state in shown else LEGEND[state]})
    ends = (("◄ the other way round", left, "left"), ("as the words say ►", left + 7 * _BOX, "right"))
    words += [{"x": x, "y": below + 8, "align": align, "word": word} for word, x, align in ends]
    for box in boxes:
        mark = table([box]).mark_rect(fill=box["fill"], fillOpacity=box["opacity"], stroke=FAINT, strokeWidth=0.5)
        yield mark.encode(**{axis.lower(): style.pixel(axis, box[axis.lower()]) for axis in ("X", "X2", "Y", "Y2")})
    for each in marks:
        mark = table([each]).mark_point(shape=PATHS[each["state"]], size=42, fill=INK, strokeWidth=0, opacity=1)
        yield mark.encode(x=style.pixel("X", each["x"]), y=style.pixel("Y", each["y"]))
    for word in words:
        mark = table([word]).mark_text(fontSize=10, align=word["align"], color=SOFT, aria=False)
        yield mark.encode(x=style.pixel("X", word["x"]), y=style.pixel("Y", word["y"]), text=alt.Text("word:N"))


#: The verdicts that a colour shows, and its steps from one direction to the other.
_COLOURED: tuple[State, ...] = ("clear", "suggestive", "undecided")
_KEY_STEPS = ((3, -1), (2, -1), (1, -1), (0, 1), (1, 1), (2, 1), (3, 1))
_BOX, _KEY_NAMES = 56, 76


#: Fewer shared items than these make a rank correlation a game of chance.
LEAST = 8
#: More rows than these cannot be read.
MOST = 9
#: With more models a chart for each would say the same again and again.
MOST_MODELS = 5


class _Pair(NamedTuple):
    one: str
    two: str
    rho: float
    n: int


def agreement_over_items(readings: Sequence[Reading]) -> list[Figure]:
    """A chart for each of a few models of which two probes measure the same words or sentences."""
    models = list(dict.fromkeys(reading.model for reading in readings))
    if len(models) > MOST_MODELS:
        return []
    figures: list[Figure] = []
    for model in models:
        mine = [reading for reading in readings if reading.model == model]
        values = {
            title: {item.label: item.value for item in units.rows}
            for reading, title in zip(mine, shown_titles(mine), strict=True)
            if (units := reading.units())
        }
        name = f"agreement-{len(figures) + 1}"
        figure = _agreement(values, name, "Do measures agree on the same words?", "words", model)
        figures += [figure] if figure else []
    return figures


def agreement_over_models(readings: Sequence[Reading]) -> Figure | None:
    """Whether probes rank the models alike; None with fewer than eight models in common."""
    values: dict[str, dict[str, float]] = {}
    for reading, title in zip(readings, shown_titles(readings), strict=True):
        d = reading.effect.scale.as_d(reading.effect.value)
        if d is not None:
            values.setdefault(title, {})[reading.model] = d
    return _agreement(values, "agreement-models", "Do measures rank the models alike?", "models", "all models")


def _agreement(values: Mapping[str, Mapping[str, float]], name: str, title: str, what: str, on: str) -> Figure | None:
    kept, left = _kept(values)
    pairs = _pairs({name: values[name] for name in kept})
    if not pairs:
        return None
    more = f"; {left} more {'probe is' if left == 1 else 'probes are'} not drawn" if left > 0 else ""
    subtitle = [
        on,
        f"Spearman's rank correlation over at least {LEAST} {what} in common; a minus can mean that two measures "
        f"count in opposite directions{more}",
    ]
    far = max(pairs, key=lambda pair: abs(pair.rho))
    count = "1 pair" if len(pairs) == 1 else f"{len(pairs)} pairs"
    alt_text = (
        f"{count} of probes on {on}: the closest are {far.one} and {far.two} (rank correlation {far.rho:+.2f} over "
        f"{far.n} {what}); the median size of all is {median(abs(pair.rho) for pair in pairs):.2f}."
    )
    chart = titled(_agreement_layers(pairs, kept), title, subtitle, letters=44, right=56)
    return Figure(name, title, alt_text, chart)


def _kept(values: Mapping[str, Mapping[str, float]]) -> tuple[list[str], int]:
    """Probes that share enough with another, in their order, and how many are too many; those that share most stay."""
    partners = Counter[str]()
    for one, two in itertools.combinations(values, 2):
        if len(values[one].keys() & values[two].keys()) >= LEAST:
            partners.update((one, two))
    most = {name for name, _ in sorted(partners.items(), key=lambda pair: -pair[1])[:MOST]}
    return [name for name in values if name in most], len(partners) - len(most)


def _pairs(values: Mapping[str, Mapping[str, float]]) -> list[_Pair]:
    """Pairs with enough in common, of which neither side is the same throughout."""
    pairs = []
    for one, two in itertools.combinations(values, 2):
        shared = [name for name in values[one] if name in values[two]]
        if len(shared) >= LEAST:
            x, y = (_ranks([values[probe][name] for name in shared]) for probe in (one, two))
            if np.ptp(x) and np.ptp(y):
                pairs.append(_Pair(one, two, float(np.corrcoef(x, y)[0, 1]), len(shared)))
    return pairs


def _ranks(values: Sequence[float]) -> NDArray[np.float64]:
    """Ties share the mean of their places. pandas or SciPy would do it, and take half a second to import."""
    _, place, often = np.unique(values, return_inverse=True, return_counts=True)
    ranks: NDArray[np.float64] = (np.cumsum(often) - (often - 1) / 2)[place]
    return ranks


def _room_for(probes: int) -> int:
    """Letters of a name that leave room for so many probes across."""
    return int((_ROOM - 32 * (probes - 1)) / style.room(1)) + 12


def _agreement_layers(pairs: list[_Pair], order: list[str]) -> Any:
    numbers = {name: str(n) for n, name in enumerate(order, 1)}
    names = [f"{n}. {name}" for name, n in numbers.items()]
    rows = []
    for one, two, rho, n in pairs:
        words = f"{one} and {two}: {rho:+.2f} over {n}"
        rows.append(
            {"one": f"{numbers[two]}. {two}", "two": numbers[one], "rho": rho, "says": words}
            | shade(_SIZES.index(CORRELATION.strength(rho)), rho)._asdict()
        )
    y = alt.Y("one:N", title=None, scale=alt.Scale(domain=names), axis=style.names_axis(names, _room_for(len(order))))
    across = alt.Axis(orient="top", labelAngle=0, ticks=False, domain=False)
    x = alt.X("two:N", title=None, scale=alt.Scale(domain=list(numbers.values())[:-1]), axis=across)
    base = table(rows).encode(x=x, y=y)
    texts = base.mark_text(fontSize=10, aria=False)
    return alt.layer(
        base.mark_rect(stroke=FAINT, strokeWidth=0.5).encode(**_PAINT, **says()),
        texts.encode(text=alt.Text("rho:Q", format="+.2f"), color=alt.Color("ink:N", scale=None)),
        width=alt.Step(32),
        height=alt.Step(22),
    )
