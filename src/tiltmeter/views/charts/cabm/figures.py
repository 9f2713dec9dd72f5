"""The charts of a CABM reading, from the reading alone."""

from __future__ import annotations

from typing import Any

from tiltmeter.readings import Reading
from tiltmeter.views.charts.cabm import bars as cabm_bars
from tiltmeter.views.charts.cabm import maps as cabm_maps
from tiltmeter.views.charts.cabm import shap as cabm_shap

#: In the order in which they are read.
_CHARTS = {
    "scores": cabm_bars.scores,
    "parts": cabm_bars.parts,
    "importance": cabm_bars.importance,
    "moved": cabm_shap.summary,
    "weights": cabm_bars.weights,
    "categories": cabm_bars.categories,
    "both_forms": cabm_maps.both_forms,
    "density": cabm_maps.density,
    "heat_map": cabm_maps.heat_map,
    "occupations": cabm_maps.occupations,
    "shift": cabm_maps.shift,
}


def cabm_charts(reading: Reading) -> dict[str, Any]:
    """Every chart whose data the reading has, by name."""
    drawn = {name: draw(reading) for name, draw in _CHARTS.items()}
    return {name: chart for name, chart in drawn.items() if chart is not None}
