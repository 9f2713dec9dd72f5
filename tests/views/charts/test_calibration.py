from __future__ import annotations

import json

from tests.views.calibrated import calibrated
from tests.views.charts.drawn import READINGS, marks, rows
from tiltmeter.views.charts import calibration


def test_every_number_is_divided_by_the_noise_of_its_measure():
    figure = calibration([*READINGS, calibrated("flat", slope_in_noise=0.5, noise=0.2), calibrated("steep")])
    assert [(row["measure"], row["dose"], row["value"]) for row in rows(figure, "dose")] == [
        ("steep", 0.5, 0.0),
        ("steep", 0.9, 20.0),
        ("flat", 0.5, 0.0),
        ("flat", 0.9, 5.0),
    ]
    assert [each["title"]["text"] for each in figure.chart.to_dict()["concat"]] == ["steep", "flat"]
    assert marks(figure) == {"rect", "rule", "line", "point"}
    assert figure.alt.startswith("Dose and response of 2 forms of measures: 2 follow the planted bias")
    assert "steepest against its noise is steep, repaired, with 9.0 SDs" in figure.alt


def test_the_two_forms_have_a_look_of_their_own():
    figure = calibration([calibrated("m"), calibrated("m", form="published")])
    assert '"domain": ["repaired", "published"]' in json.dumps(figure.chart.to_dict())
    assert {row["form"] for row in rows(figure, "dose")} == {"repaired", "published"}


def test_what_has_no_noise_cannot_be_drawn():
    assert calibration([calibrated("m", noise=0.0)]) is None
    assert calibration(READINGS) is None
