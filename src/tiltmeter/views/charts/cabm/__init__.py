"""The charts of a CABM reading, from the reading alone."""

from __future__ import annotations

from typing import Any

from tiltmeter.readings import Reading
from tiltmeter.readings.details.cabm import CabmDetails
from tiltmeter.views.charts.cabm import bars, maps

#: In the order in which they are read.
_CHARTS = {
    "scores": bars.scores,
    "parts": bars.parts,
    "importance": bars.importance,
    "moved": bars.moved,
    "weights": bars.weights,
    "categories": bars.categories,
    "both_forms": maps.both_forms,
    "density": maps.density,
    "heat_map": maps.heat_map,
    "occupations": maps.occupations,
    "shift": maps.shift,
}


def cabm_charts(reading: Reading) -> dict[str, Any]:
    """Every chart whose data the reading has, by name."""
    if not isinstance(reading.details, CabmDetails):
        return {}
    drawn = {name: draw(reading.items, reading.details) for name, draw in _CHARTS.items()}
    return {name: chart for name, chart in drawn.items() if chart is not None}
