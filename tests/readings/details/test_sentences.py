"""Details of the probes of sentences: read back as they were, and from readings of schema 1."""

from __future__ import annotations

import json

import pytest

from tiltmeter.measures import BbqResult, StereoScores
from tiltmeter.readings import Details
from tiltmeter.readings.details.sentences import (
    BbqDetails,
    FrameGap,
    LpbsDetails,
    MeanAssociation,
    PairsDetails,
    PronounsDetails,
    StereosetDetails,
    UnmaskDetails,
)
from tiltmeter.statistics import Mean, clustered_mean, correlation, share

MEAN = clustered_mean([0.2, 0.4, -0.1])
ONE = MeanAssociation(0.3, 0.1, 0.2, 4)
SCORES = StereoScores(90.0, 55.0, 81.0, 20, 5)
BBQ = BbqResult({"ambig": 0.5}, {"ambig": 0.1}, {"ambig": MEAN}, {"ambig": 3}, {"ambig": 6}, {"ambig": 0})
RELATED = correlation([1.0, 2.0, 3.0, 5.0], [0.1, 0.3, 0.2, 0.4])
EVERY = [
    LpbsDetails(MEAN, 0.3, 0.1, 0.8, {"traits": ONE}, {"S1": ONE}),
    LpbsDetails(MEAN, 0.3, 0.1, None, {"traits": ONE}, {}),
    PairsDetails("meade", 1, 2, {"age": share(8, 10)}, {"stereo": share(3, 4, ties=1)}),
    PronounsDetails({"type1": share(1, 2), "other": None}, {"men": None}, 0.5, {"type1": 0.5}, True, MEAN, 0, RELATED),
    StereosetDetails(90.0, 55.0, 81.0, 1, SCORES, SCORES, {"race": SCORES}, SCORES, None),
    UnmaskDetails(0.1, 0.6, 0.2, None, {"cook": 0.4}, {"nurse": -0.3}, {"The … slept.": FrameGap(0.1, 0.6)}),
    BbqDetails("listed", BBQ, {"Age": BBQ}, (0.5, 0.25, 0.25)),
]


@pytest.mark.parametrize("details", EVERY, ids=lambda details: details.kind)
def test_details_are_read_back_as_they_were(details):
    assert Details.from_dict(json.loads(json.dumps(details.to_dict()))) == details


def test_the_effect_size_before_the_prior_is_taken_off_had_another_name_in_schema_1():
    old = {
        **{name: value for name, value in EVERY[0].to_dict().items() if name not in ("kind", "fill_effect_size")},
        "uncorrected_effect_size": 0.8,
        "poles": ["men", "women"],
    }
    details = Details.from_dict({"kind": "lpbs", **LpbsDetails.from_schema_1(old)})
    assert details == EVERY[0]
    assert isinstance(details.association, Mean)
