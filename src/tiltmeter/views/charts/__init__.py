"""Charts: one Altair definition each, which gives the SVG of a page and the PNG, SVG or PDF of a paper.

``overview`` gives the charts that apply to a list of readings, ``of_reading`` those of one reading, ``chart_of`` the
one that a reading shows of itself; the report, the dashboard and the files on disk all take them from here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tiltmeter.readings import Reading
from tiltmeter.views.charts.drivers import items, prior
from tiltmeter.views.charts.effects import effects, interval, shares
from tiltmeter.views.charts.figure import FORMATS, Figure, inline_svg, write_figures
from tiltmeter.views.charts.forms import contexts, published_p_values, published_values
from tiltmeter.views.charts.heat_maps import agreement_over_items, agreement_over_models, grid
from tiltmeter.views.charts.lab import calibration
from tiltmeter.views.charts.style import styled, to_pdf, to_png, to_svg, unchecked
from tiltmeter.views.rows import value_text


def overview(readings: Sequence[Reading], *, adjusted: Sequence[float | None] | None = None) -> list[Figure]:
    """The charts that apply to these readings, in the order in which they are read.

    A lean is clear by its own p-value or, where they are given, by the p-values ``adjusted`` for all tests made.
    """
    with unchecked():
        figures = (
            effects(readings, adjusted=adjusted),
            shares(readings, adjusted=adjusted),
            grid(readings, adjusted=adjusted),
            published_values(readings),
            published_p_values(readings),
            contexts(readings),
            calibration(readings),
            agreement_over_models(readings),
            *agreement_over_items(readings),
        )
    return [figure for figure in figures if figure is not None]


def of_reading(reading: Reading) -> list[Figure]:
    """The charts of one reading: those that only its probe has, otherwise what stands behind its number."""
    with unchecked():
        figures = _OF_PROBE[reading.probe](reading) if reading.probe in _OF_PROBE else (items(reading),)
    return [figure for figure in figures if figure is not None]


def chart_of(reading: Reading) -> Any:
    """The chart that a reading shows of itself: the first of its own, otherwise its effect with the interval.

    >>> from tiltmeter import probe
    >>> chart = chart_of(probe("weat", "bundled:glove"))  # doctest: +SKIP
    """
    with unchecked():
        figure = contexts([reading]) or calibration([reading]) or next(iter(of_reading(reading)), None)
        return (figure or interval(reading)).chart


def has_own_charts(reading: Reading) -> bool:
    """Whether its probe has charts that no other has."""
    return reading.probe in _OF_PROBE


def _cabm(reading: Reading) -> list[Figure | None]:
    # Imported here, because these charts take their style from this package.
    from tiltmeter.views.charts.cabm import cabm_charts

    return [_with_words(name, chart, reading) for name, chart in cabm_charts(reading).items()]


def _with_words(name: str, chart: Any, reading: Reading) -> Figure:
    title = chart.title
    words, more = (title, "") if isinstance(title, str) else (str(title.text), _line(title.subtitle))
    number = f"{reading.effect.name} {value_text(reading.effect)}"
    alt_text = f"{words}, {reading.title} on {reading.model}{f': {more}' if more else ''}; {number}."
    return Figure(f"cabm-{name.replace('_', '-')}", words, alt_text, chart, keeps_colours=name == "heat_map")


def _line(words: Any) -> str:
    return " ".join(words) if isinstance(words, list) else str(words) if isinstance(words, str) else ""


#: Probes whose readings have charts that no other has.
_OF_PROBE: Mapping[str, Callable[[Reading], Sequence[Figure | None]]] = {
    "cabm": _cabm,
    "lpbs": lambda reading: (prior(reading), items(reading)),
}

__all__ = [
    "FORMATS",
    "Figure",
    "agreement_over_items",
    "agreement_over_models",
    "calibration",
    "chart_of",
    "contexts",
    "effects",
    "grid",
    "has_own_charts",
    "inline_svg",
    "interval",
    "items",
    "of_reading",
    "overview",
    "prior",
    "published_p_values",
    "published_values",
    "shares",
    "styled",
    "to_pdf",
    "to_png",
    "to_svg",
    "write_figures",
]
