"""What a study over several readings tells."""

from __future__ import annotations

import json

import pytest

from tiltmeter.readings.studies import ContextLength, LengthCurve, LengthPoint
from tiltmeter.statistics import Interval

POINT = LengthPoint("9", 0.5, Interval(0.1, 0.9, 0.95, "bootstrap"), 0.02, 0.6, 0.001, 20, 120)


@pytest.mark.parametrize(
    ("probe", "title", "axis"),
    [("ceat", "CEAT", "words in the window"), ("lpbs", "log-probability bias", "sentence structure")],
)
def test_a_curve_says_what_was_measured_and_what_its_lengths_are(probe: str, title: str, axis: str) -> None:
    curve = LengthCurve("own", probe, (POINT,), None, "")
    assert (curve.title, curve.axis) == (title, axis)


def test_a_study_becomes_json() -> None:
    study = ContextLength((LengthCurve("own", "ceat", (POINT,), "9", "stable"),))
    (curve,) = json.loads(json.dumps(study.to_dict()))["curves"]
    assert (curve["stable_from"], curve["points"][0]["ci"]["low"]) == ("9", 0.1)
