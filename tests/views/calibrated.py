"""Readings of a calibration with planted numbers."""

from __future__ import annotations

from typing import Any

from tests.views.made import reading
from tiltmeter.readings import COHERENCE, Estimate, Item, Reading
from tiltmeter.readings.details.calibration import CalibrationDetails


def calibrated(measure: str, *, noise: float = 0.05, **fields: Any) -> Reading:
    """A measure that reads 0 on a model without bias and 1 on one with a dose of .9."""
    usual: dict[str, Any] = {
        "measure": measure,
        "form": "repaired",
        "unit": "d",
        "spearman": 0.97,
        "slope": 2.5,
        "noise": noise,
        "slope_in_noise": 9.0,
        "smallest_dose": 0.6,
        "false_positives": 0.05,
        "n_null": 100,
        "retest": 0.9,
        "order": 0.8,
        "spread": None,
        "means": {"0.5": 0.0, "0.9": 1.0},
        "by_set": {},
        "null_values": (),
        "null_p_values": (),
    }
    items = tuple(
        Item(f"dose {dose}", f"dose {dose}", "", value, {"dose": dose, "seed": 0, "p_value": None})
        for dose, value in ((0.5, 0.0), (0.9, 1.0))
    )
    effect = Estimate("Spearman's correlation with the dose", 0.97, COHERENCE)
    details = CalibrationDetails(**{**usual, **fields})
    return reading(id=f"calibration-{measure}", probe="calibration", effect=effect, items=items, details=details)
