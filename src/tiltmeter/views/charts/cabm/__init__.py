"""The charts of a CABM reading, from the reading alone."""

from __future__ import annotations

from tiltmeter.readings import Reading
from tiltmeter.readings.details.cabm import CabmDetails
from tiltmeter.views.charts.cabm import bars, maps
from tiltmeter.views.charts.style import Figure

#: In the order in which they are read.
_BARS = (bars.scores, bars.parts, bars.importance, bars.moved, bars.weights, bars.categories)
_MAPS = (maps.both_forms, maps.density, maps.heat_map, maps.occupations, maps.shift)


def cabm_figures(reading: Reading) -> list[Figure]:
    """Every chart whose data the reading has."""
    if not isinstance(reading.details, CabmDetails):
        return []
    figures = []
    number = f"{reading.effect.name} {reading.effect}"
    for draw in (*_BARS, *_MAPS):
        name = draw.__name__.replace("_", "-")
        if (chart := draw(reading.items, reading.details)) is not None:
            title = chart.title.text
            alt_text = f"{title}, {reading.title} on {reading.model}: {chart.description}; over all {number}."
            figures.append(Figure(f"cabm-{name}", title, alt_text, chart))
    return figures
