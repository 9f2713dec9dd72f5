"""The details of CEAT as they were written by schema 1."""

from __future__ import annotations

from tiltmeter.readings import Details
from tiltmeter.readings.details.ceat import CeatDetails, PublishedPooling, RepairedPooling

OLD = {
    "length": "9",
    "published": {"effect_size": 0.5, "tau2": 0.01, "standard_error": 0.02, "p_value": 0.001, "p": "p = 0.0010"},
    "corrected": {"tau2": 0.0, "mean_difference": 0.25},
    "draws": 5000,
    "sampling": "fixed",
    "root_only": False,
    "effects": {"mean": 0.5, "sd": 0.1, "low": 0.3, "median": 0.5, "high": 0.7},
    "attribute_contexts": {"career": {"office": 6}},
    "language": "en",
    "mined": "abc",
}


def test_details_of_schema_1_are_read():
    details = Details.from_dict({"kind": "ceat", **CeatDetails.from_schema_1(OLD)})
    assert isinstance(details, CeatDetails)
    assert details.published == PublishedPooling(0.5, 0.01, 0.02, 0.001)
    assert details.repaired == RepairedPooling(0.0, 0.25)
    assert details.effects.high == 0.7
    assert Details.from_dict(details.to_dict()) == details
