from __future__ import annotations

import dataclasses
import json
import re

from tests.views.calibrated import calibrated
from tests.views.charts.drawn import READINGS, marks, rows
from tiltmeter.readings.studies import ContextLength, LengthCurve, LengthPoint
from tiltmeter.statistics import Interval
from tiltmeter.views.charts import calibration, inline_svg, style, to_svg
from tiltmeter.views.charts.lab import chart_rows, context_lengths


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


def curve(probe: str, effects: dict[str, float], *, published: float | None) -> LengthCurve:
    points = (
        LengthPoint(length, effect, Interval(effect - 0.5, effect + 0.5, 0.95, "given"), 0.3, published, 0.001, 10, 100)
        for length, effect in effects.items()
    )
    return LengthCurve("own:one", probe, tuple(points), None, "")


def test_the_chart_draws_every_point_with_its_interval_and_as_published() -> None:
    study = ContextLength(
        (
            curve("ceat", {"9": 0.35, "25": 0.3}, published=0.36),
            curve("lpbs", {"S1": 0.6}, published=None),
        )
    )
    rows = chart_rows(study.curves)
    assert [(row["length"], row["form"], row["d"]) for row in rows] == [
        ("9", "repaired", 0.35),
        ("9", "as published", 0.36),
        ("25", "repaired", 0.3),
        ("25", "as published", 0.36),
        ("S1", "repaired", 0.6),
    ]
    assert [(row["low"], row["high"]) for row in rows[:2]] == [(0.35 - 0.5, 0.35 + 0.5), (None, None)]
    figure = context_lengths(study)
    svg = to_svg(figure.chart)
    for word in ("CEAT", "log-probability bias", "own:one", "words in the window", "sentence structure"):
        assert word in svg
    assert "CEAT on own:one from 0.35 (9) to 0.30 (25), not stable" in figure.alt


def test_every_length_has_one_tick_and_a_model_one_line() -> None:
    two = tuple(
        dataclasses.replace(curve("ceat", {"9": 0.1, "25": 0.2, ">75": 0.3}, published=None), model=model)
        for model in ("own:one", "own:two")
    )
    figure = context_lengths(ContextLength(two))
    svg = inline_svg(figure)
    assert [text for text in re.findall(r"<text[^>]*>([^<]*)</text>", svg) if text in ("9", "25", "&gt;75")] == [
        "9",
        "25",
        "&gt;75",
    ]
    lines = re.findall(r'class="mark-line[^"]*"[^>]*><path ([^>]*)', svg)
    assert [re.search('stroke="([^"]*)"', line)[1] for line in lines] == list(style.COLOURS[:2])
    # A line runs through all three points.
    assert all(re.search('d="([^"]*)"', line)[1].count("L") == 2 for line in lines)


def test_one_length_alone_is_never_more_than_suggestive() -> None:
    points = [
        LengthPoint("9", 0.9, Interval(0.5, 1.3, 0.95, "given"), 0.001, None, None, 10, 100),
        LengthPoint("25", 0.3, Interval(-0.2, 0.8, 0.95, "given"), 0.3, None, None, 10, 100),
        LengthPoint("75", 0.0, Interval(-0.1, 0.1, 0.95, "given"), 0.9, None, None, 10, 100),
    ]
    rows = chart_rows([LengthCurve("own:one", "ceat", tuple(points), None, "")])
    assert [row["state"] for row in rows] == ["suggestive", "undecided", "level"]


def test_nothing_measured_is_no_chart() -> None:
    assert context_lengths(ContextLength(())) is None
