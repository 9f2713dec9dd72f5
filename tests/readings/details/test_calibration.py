"""Details of a calibration as an earlier version wrote them."""

from __future__ import annotations

import pytest

from tiltmeter.readings import Details
from tiltmeter.readings.details.calibration import CalibrationDetails

SUMMARY = {
    "measure": "weat", "unit": "d", "spearman": 0.9, "slope": 2.0, "noise": 0.1, "slope_in_noise": 2.0,
    "smallest_dose": 0.6, "false_positives": None, "n_null": 2, "retest": 0.8, "order": 0.7, "spread": None,
    "means": {"0.5": 0.0, "0.9": 0.8},
}  # fmt: skip


@pytest.mark.parametrize(("old", "form"), [("corrected", "repaired"), ("as published", "as published")])
def test_a_form_that_was_called_corrected_is_repaired_and_the_numbers_stay(old: str, form: str) -> None:
    values = {"summary": {**SUMMARY, "form": old}, "null": {"values": [0.1, -0.1], "p_values": [0.5, 0.6]}}
    details = Details.from_dict({"kind": "calibration", **CalibrationDetails.from_schema_1(values)})
    assert isinstance(details, CalibrationDetails)
    assert (details.form, details.null_values, details.null_p_values) == (form, (0.1, -0.1), (0.5, 0.6))
    assert {name: getattr(details, name) for name in SUMMARY} == SUMMARY
    assert details.by_set == {}
    assert Details.from_dict(details.to_dict()) == details
