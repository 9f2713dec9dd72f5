"""Charts: one Altair definition each, which gives the SVG of a page and the PNG, SVG or PDF of a paper.

``overview`` gives the charts that apply to a list of readings, ``of_reading`` those of one reading, ``chart_of`` the
one that a reading shows of itself; the report, the dashboard and the files on disk all take them from here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tiltmeter.compare import Comparison
from tiltmeter.errors import BadInput
from tiltmeter.readings import Reading
from tiltmeter.views.charts.by_group import by_group
from tiltmeter.views.charts.cabm import cabm_figures
from tiltmeter.views.charts.drivers import items
from tiltmeter.views.charts.dumbbells import dumbbells
from tiltmeter.views.charts.effects import effects, interval, shares
from tiltmeter.views.charts.forms import contexts, published_p_values, published_values
from tiltmeter.views.charts.heat_maps import agreement_over_items, agreement_over_models, grid
from tiltmeter.views.charts.lab import calibration
from tiltmeter.views.charts.priors import prior
from tiltmeter.views.charts.relations import relation
from tiltmeter.views.charts.style import FORMATS, Figure, inline_svg, stacked, to_svg, unchecked, write_figures

#: Charts of many readings, in the order in which they are read: what each shows, and how it is drawn.
OVERVIEW: Mapping[str, tuple[str, Callable[[Sequence[Reading]], Figure | None]]] = {
    "grid": ("the heat map", grid),
    "effects": ("the effect sizes", effects),
    "shares": ("the shares", shares),
    "published": ("published against repaired values", published_values),
    "published-p": ("published against repaired p-values", published_p_values),
    "contexts": ("the contexts", contexts),
    "calibration": ("dose and response", calibration),
    "agreement": ("the agreement of the probes", agreement_over_models),
}


def overview(readings: Sequence[Reading]) -> list[Figure]:
    """The charts that apply to these readings, in the order in which they are read."""
    with unchecked():
        figures = [draw(readings) for _, draw in OVERVIEW.values()]
        return [figure for figure in (*figures, *agreement_over_items(readings)) if figure is not None]


def of_reading(reading: Reading) -> list[Figure]:
    """The charts of one reading: those that only its probe has, otherwise what stands behind its number."""
    with unchecked():
        own = _OF_PROBE.get(reading.probe)
        figures = own(reading) if own else _behind(reading)
    return [figure for figure in figures if figure is not None]


def chart_of(reading: Reading) -> Any:
    """The chart that a reading shows of itself: the first of its own, otherwise its effect with the interval.

    >>> from tiltmeter import probe
    >>> chart = chart_of(probe("weat", "bundled:glove"))  # doctest: +SKIP
    """
    return figure_of(reading).chart


def figure_of(reading: Reading) -> Figure:
    """The same with its text alternative."""
    with unchecked():
        figure = contexts([reading]) or calibration([reading]) or next(iter(of_reading(reading)), None)
        return figure or interval(reading)


def chart_of_readings(readings: Sequence[Reading]) -> Any:
    """The chart that an audit shows of itself: the first that applies."""
    figures = overview(readings)
    if not figures:
        raise BadInput("there is no chart of these readings: look at the chart of each")
    return figures[0].chart


def chart_of_pairs(pairs: Sequence[Comparison]) -> Any:
    """The chart that compared models show of themselves: that of each pair, one below the other."""
    with unchecked():
        charts = [figure.chart for figure in dumbbells(pairs)]
    return charts[0] if len(charts) == 1 else stacked(charts)


def has_own_charts(reading: Reading) -> bool:
    """Whether its probe has charts that no other has."""
    return reading.probe in _OF_PROBE


def _behind(reading: Reading) -> Sequence[Figure | None]:
    """The items behind a number: related to what is known of them, by group where there are several, or each alone."""
    related = relation(reading)
    return (related,) if related else (by_group(reading), items(reading))


#: Probes whose readings have charts that no other has.
_OF_PROBE: Mapping[str, Callable[[Reading], Sequence[Figure | None]]] = {
    "cabm": cabm_figures,
    "lpbs": lambda reading: (prior(reading), items(reading)),
}

__all__ = [
    "FORMATS",
    "OVERVIEW",
    "Figure",
    "calibration",
    "chart_of",
    "chart_of_pairs",
    "chart_of_readings",
    "dumbbells",
    "figure_of",
    "has_own_charts",
    "inline_svg",
    "of_reading",
    "overview",
    "to_svg",
    "write_figures",
]
