"""Whether measures agree: rank correlations over the words they share, or over the models."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

import altair as alt

from tiltmeter.readings import Reading
from tiltmeter.views.charts.figure import Figure
from tiltmeter.views.charts.style import DIVERGING, FAINT, INK, PAPER, names_axis, says, table, titled, where
from tiltmeter.views.rows import shown_titles, unit_values

#: Fewer shared items than these make a rank correlation a game of chance.
LEAST = 8
#: More rows than these cannot be read.
MOST = 14
#: With more models a chart for each would say the same again and again.
MOST_MODELS = 5


@dataclasses.dataclass(frozen=True, slots=True)
class _Pair:
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
            if (units := unit_values(reading))
        }
        figure = _figure(
            values, f"agreement-{len(figures) + 1}", "Do measures agree about the same words?", "words", model
        )
        figures += [figure] if figure else []
    return figures


def agreement_over_models(readings: Sequence[Reading]) -> Figure | None:
    """Whether probes rank the models alike; None with fewer than eight models in common."""
    values: dict[str, dict[str, float]] = {}
    for reading, title in zip(readings, shown_titles(readings), strict=True):
        d = reading.effect.scale.as_d(reading.effect.value)
        if d is not None:
            values.setdefault(title, {})[reading.model] = d
    return _figure(values, "agreement-models", "Do measures rank the models alike?", "models", "all models")


def _figure(values: Mapping[str, Mapping[str, float]], name: str, title: str, what: str, on: str) -> Figure | None:
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
    chart = titled(_layers(pairs, kept), title, subtitle, letters=60)
    return Figure(name, title, alt_text, chart, keeps_colours=True)


def _kept(values: Mapping[str, Mapping[str, float]]) -> tuple[list[str], int]:
    """Probes that share enough with another, in their order, and how many are too many; those that share most stay."""
    names = list(values)
    shares = dict.fromkeys(names, 0)
    for one, two in itertools.combinations(names, 2):
        if len(values[one].keys() & values[two].keys()) >= LEAST:
            shares[one], shares[two] = shares[one] + 1, shares[two] + 1
    related = [name for name in names if shares[name]]
    most = set(sorted(related, key=lambda name: -shares[name])[:MOST])
    return [name for name in related if name in most], len(related) - len(most)


def _pairs(values: Mapping[str, Mapping[str, float]]) -> list[_Pair]:
    """Pairs with enough in common, of which neither side is the same throughout."""
    pairs = []
    for one, two in itertools.combinations(values, 2):
        shared = [name for name in values[one] if name in values[two]]
        if len(shared) >= LEAST:
            rho = _rank_correlation([values[one][name] for name in shared], [values[two][name] for name in shared])
            pairs += [] if rho is None else [_Pair(one, two, rho, len(shared))]
    return pairs


def _rank_correlation(one: list[float], two: list[float]) -> float | None:
    """Spearman's rho; SciPy's takes a second to import."""
    import numpy as np

    ranks = []
    for values in (one, two):
        _, place, often = np.unique(values, return_inverse=True, return_counts=True)
        ranks.append((np.cumsum(often) - (often - 1) / 2)[place])  # ties share the mean of their places
    if np.ptp(ranks[0]) == 0 or np.ptp(ranks[1]) == 0:
        return None
    return float(np.corrcoef(ranks[0], ranks[1])[0, 1])


def _layers(pairs: list[_Pair], order: list[str]) -> Any:
    numbers = {name: str(n) for n, name in enumerate(order, 1)}
    rows = [
        {
            "one": f"{numbers[pair.two]}. {pair.two}",
            "two": numbers[pair.one],
            "rho": pair.rho,
            "says": f"{pair.one} and {pair.two}: {pair.rho:+.2f} over {pair.n}",
        }
        for pair in pairs
    ]
    names = [f"{numbers[name]}. {name}" for name in order]
    y = alt.Y(
        "one:N",
        title=None,
        scale=alt.Scale(domain=names),
        axis=names_axis(names, 46),
    )
    x = alt.X(
        "two:N",
        title=None,
        scale=alt.Scale(domain=[numbers[name] for name in order[:-1]]),
        axis=alt.Axis(orient="top", labelAngle=0, ticks=False, domain=False),
    )
    scale = alt.Scale(domain=[-1, 0, 1], range=list(DIVERGING), interpolate="rgb")
    base = table(rows).encode(x=x, y=y)
    dark = where("abs(datum.rho) > 0.6", PAPER, INK, channel="Color")
    return alt.layer(
        base.mark_rect(stroke=FAINT, strokeWidth=0.5).encode(
            color=alt.Color("rho:Q", scale=scale, legend=None), **says()
        ),
        base.mark_text(fontSize=10, aria=False).encode(text=alt.Text("rho:Q", format="+.2f"), color=dark),
        width=alt.Step(36),
        height=alt.Step(22),
    )
