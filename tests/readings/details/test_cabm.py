"""The details of CABM as they were written by schema 1."""

from __future__ import annotations

import json

from tests.views.cabm_reading import measured
from tiltmeter.readings import Details
from tiltmeter.readings.details.cabm import CabmDetails


def as_schema_1(details: CabmDetails, given: str) -> dict[str, object]:
    """What a probe of that time would have written, with the user's weights under their own text."""
    text = (
        json.dumps(details.to_dict())
        .replace('"given":', f'"{given}":')
        .replace('"first": "given"', f'"first": "{given}"')
    )
    values = json.loads(text.replace('"second": "given"', f'"second": "{given}"'))
    data = values["data"]
    lines = {"by_group": data.pop("in_source"), **{name: data.pop(name) for name in ("read", "used", "left_out")}}
    between = {**values.pop("between_forms"), "first": "corrected"}
    del values["kind"]
    return {
        **values,
        "labels_from": values["labels_from"] or "none",
        "corrected": values.pop("repaired"),
        "published_and_corrected": [between],
        "data": {**data, "lines": lines},
    }


def test_details_of_schema_1_are_read_with_the_weights_of_the_user_under_one_name():
    details = measured("0.5,0.3,0.2").details
    assert isinstance(details, CabmDetails)
    old = as_schema_1(details, "0.5,0.3,0.2")
    assert "0.5,0.3,0.2" in old["corrected"]["weights"]
    assert Details.from_dict({"kind": "cabm", **CabmDetails.from_schema_1(old)}) == details


def test_labels_from_nowhere_are_none():
    old = {**as_schema_1(measured().details, "given"), "labels_from": "none"}
    assert CabmDetails.from_schema_1(old)["labels_from"] is None
