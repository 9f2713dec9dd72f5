"""Heat maps: where the leans of models and probes are, and whether measures agree about the same words or models."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any, NamedTuple

import altair as alt
import numpy as np
from numpy.typing import NDArray

from tiltmeter.readings import Reading
from tiltmeter.views.charts import style
from tiltmeter.views.charts.style import FAINT, INK, PAPER, Figure, says, table, titled, where
from tiltmeter.views.rows import reading_rows, shown_titles

#: Of more models than these the cells have no room for numbers.
_MOST_NUMBERS = 8
#: Colours end here: stronger leans are as dark as this one.
_END = 1.2
#: From here on a cell is so dark that its number is white.
_DARK = 0.8


def grid(readings: Sequence[Reading]) -> Figure | None:
    """Probes down, models across; None where there is only one model."""
    models = list(dict.fromkeys(reading.model for reading in readings))
    if len(models) < 2:
        return None
    rows = [
        {"model": row.reading.model, "measured": row.title, "d": row.size, "clear": row.clear, "says": row.says}
        | {"text": f"{row.reading.effect.value:.2f}"}
        for row in reading_rows(readings)
    ]
    title = "All models and probes"
    subtitle = [
        "blue: above level, orange: below; which way that is differs from probe to probe",
        "darker: farther from level; framed: a clear lean; grey: no common scale; empty: not measured",
    ]
    chart = titled(_grid_layers(rows, models), title, subtitle, letters=96)
    clear = Counter(row["model"] for row in rows if row["clear"])
    most = max(models, key=lambda model: clear[model])
    alt_text = (
        f"Heat map of {len(models)} models and {len({row['measured'] for row in rows})} probes, {len(rows)} readings: "
        f"{clear.total()} are clear leans, most of them ({clear[most]}) on {most}."
    )
    return Figure("grid", title, alt_text, chart, keeps_colours=True)


def _grid_layers(rows: list[dict[str, Any]], models: list[str]) -> Any:
    numbers = len(models) <= _MOST_NUMBERS
    titles = list(dict.fromkeys(row["measured"] for row in rows))
    look: dict[str, Any] = {"labelAngle": -30 if numbers else -90, "labelLimit": 0, "labelExpr": style.cut(28)}
    across = alt.Axis(orient="top", ticks=False, domain=False, **look)
    x = alt.X("model:N", sort=models, title=None, axis=across)
    y = alt.Y("measured:N", sort=titles, title=None, axis=style.names_axis(titles, 48))
    placed, others = ([row for row in rows if (row["d"] is None) == missing] for missing in (False, True))
    marks = []
    if placed:
        bar: dict[str, Any] = {"direction": "horizontal", "gradientLength": 200, "values": [-0.8, 0, 0.8]}
        legend = alt.Legend(title="on the scale of d", orient="bottom", **bar)
        colour = alt.Color("d:Q", scale=style.diverging(_END), legend=legend)
        stroke = where("datum.clear", INK, FAINT, channel="Stroke")
        width = where("datum.clear", 1.4, 0.4, channel="StrokeWidth")
        cells = table(placed).mark_rect(strokeWidth=1.4)
        marks.append(cells.encode(x=x, y=y, color=colour, stroke=stroke, strokeWidth=width, **says()))
    if others:
        marks.append(table(others).mark_rect(color="#e3e6ea", stroke=FAINT, strokeWidth=0.4).encode(x=x, y=y, **says()))
    if numbers:
        ink = where(f"abs(datum.d) > {_DARK} && isValid(datum.d)", PAPER, INK, channel="Color")
        texts = table(rows).mark_text(fontSize=11, aria=False)
        marks.append(texts.encode(x=x, y=y, text=alt.Text("text:N"), color=ink))
    return alt.layer(*marks, width=alt.Step(64 if numbers else 13), height=alt.Step(22 if numbers else 15))


#: Fewer shared items than these make a rank correlation a game of chance.
LEAST = 8
#: More rows than these cannot be read.
MOST = 14
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
        figure = _agreement(values, name, "Do measures agree about the same words?", "words", model)
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
    more = f"; {left} more probes are not drawn" if left > 0 else ""
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
    chart = titled(_agreement_layers(pairs, kept), title, subtitle, letters=60)
    return Figure(name, title, alt_text, chart, keeps_colours=True)


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


def _agreement_layers(pairs: list[_Pair], order: list[str]) -> Any:
    numbers = {name: str(n) for n, name in enumerate(order, 1)}
    names = [f"{n}. {name}" for name, n in numbers.items()]
    rows = []
    for one, two, rho, n in pairs:
        words = f"{one} and {two}: {rho:+.2f} over {n}"
        rows.append({"one": f"{numbers[two]}. {two}", "two": numbers[one], "rho": rho, "says": words})
    y = alt.Y("one:N", title=None, scale=alt.Scale(domain=names), axis=style.names_axis(names, 46))
    across = alt.Axis(orient="top", labelAngle=0, ticks=False, domain=False)
    x = alt.X("two:N", title=None, scale=alt.Scale(domain=list(numbers.values())[:-1]), axis=across)
    base = table(rows).encode(x=x, y=y)
    colour = alt.Color("rho:Q", scale=style.diverging(1), legend=None)
    dark = where("abs(datum.rho) > 0.6", PAPER, INK, channel="Color")
    return alt.layer(
        base.mark_rect(stroke=FAINT, strokeWidth=0.5).encode(color=colour, **says()),
        base.mark_text(fontSize=10, aria=False).encode(text=alt.Text("rho:Q", format="+.2f"), color=dark),
        width=alt.Step(36),
        height=alt.Step(22),
    )
