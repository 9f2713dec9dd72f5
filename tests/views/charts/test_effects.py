from __future__ import annotations

import dataclasses
import json
import re

import pytest

from tests.views.charts.drawn import READINGS, many, marks, rows
from tests.views.made import d, reading, share
from tiltmeter.readings import CORRELATION, DIFFERENCE, DISTANCE, ETA, Correction, Estimate
from tiltmeter.statistics import Interval
from tiltmeter.views.charts import effects, interval, shares


def test_effects_hold_the_numbers_of_the_readings():
    figure = effects(READINGS)
    found = rows(figure, "value", "low")
    assert [(r["model"], r["measured"], r["value"], r["low"], r["high"]) for r in found] == [
        ("own:one", "Title of career", 0.9, pytest.approx(0.6), pytest.approx(1.2)),
        ("own:two", "Title of career", 1.2, pytest.approx(0.9), pytest.approx(1.5)),
        ("own:one", "Title of science", -0.3, pytest.approx(-0.6), pytest.approx(0.0)),
        ("own:two", "Title of science", 0.1, pytest.approx(-0.2), pytest.approx(0.4)),
    ]
    assert [row["state"] for row in found] == ["clear", "clear", "undecided", "undecided"]
    assert [(row["name"], row["number"], row["p"]) for row in found[:2]] == [
        ("own:one", "0.90", "0.0010"),
        ("own:two", "1.20", "0.0010"),
    ]
    assert marks(figure) == {"rect", "rule", "point", "text"}
    assert figure.alt == (
        "Effect sizes of 2 models, 4 readings: 2 clear, 2 undecided; the farthest clear lean is Title of career on "
        "own:two, men → career, women → family: 1.20 [0.90, 1.50], p 0.0010 corrected."
    )


def test_the_bands_begin_at_the_sizes_of_cohen():
    sides = {(row["from"], row["to"]) for row in rows(effects(READINGS), "from", "to")}
    assert sides == {(-0.5, -0.2), (0.2, 0.5), (-0.8, -0.5), (0.5, 0.8), (-2.0, -0.8), (0.8, 2.0)}


def test_marks_follow_the_verdicts():
    corrections = [Correction(p, 2) for p in (0.2, 1.0, 0.01, 1.0)]
    judged = [dataclasses.replace(each, correction=c) for each, c in zip(READINGS, corrections, strict=True)]
    found = rows(effects(judged), "value", "low")
    assert {(row["model"], row["measured"][9:]): row["state"] for row in found} == {
        ("own:one", "career"): "suggestive",
        ("own:one", "science"): "undecided",
        ("own:two", "career"): "clear",
        ("own:two", "science"): "undecided",
    }


def test_every_block_stands_between_the_names_of_its_ends():
    for shown in (READINGS[:2], READINGS):
        ends = rows(effects(shown), "low", "high_y")
        assert [(row["low"], row["high"]) for row in ends] == [("◄ women → career", "men → career ►")] * 2
    text = json.dumps(effects(READINGS).chart.to_dict())
    assert "positive" not in text
    assert "above level" not in text


def test_controls_come_last_and_have_marks_of_their_own():
    control = dataclasses.replace(READINGS[0], id="control", title="Control", control=True)
    found = rows(effects([control, *READINGS[:2]]), "value", "low")
    assert [row["measured"] for row in found] == ["Title of career", "Title of science", "Control"]
    assert found[-1]["state"] == "works"


def test_a_model_has_one_colour_in_all_charts_and_its_name_beside_it():
    mixed = [READINGS[0], reading("own:two", "cloze", share(0.7)), reading("own:one", "pairs", share(0.6))]
    for figure, looks in (
        (effects(mixed), {"own:one": "#0072B2"}),
        (shares(mixed), {"own:one": "#0072B2", "own:two": "#D55E00"}),
    ):
        spec = json.dumps(figure.chart.to_dict())
        assert json.dumps({"domain": list(looks), "range": list(looks.values())}) in spec
    assert {row["name"] for row in rows(shares(mixed), "name")} == {"own:one", "own:two"}


def test_of_many_models_each_is_a_point_without_an_interval():
    figure = effects(many(6))
    assert len(rows(figure, "value", "says")) == 12
    assert not re.search(r'"x": \{\s*"field": "low"', figure.chart.to_json())
    assert re.search(r'"x": \{\s*"field": "low"', effects(many(5)).chart.to_json())


def test_the_axis_reaches_as_far_as_the_widest_interval():
    for shown, end in ((READINGS, 2.0), ([reading(effect=d(2.4, half=0.8))], 3.5)):
        assert f'"domain": [-{end}, {end}]' in json.dumps(effects(shown).chart.to_dict())


def test_shares_are_level_at_one_half_and_are_no_effect_sizes():
    found = [reading(id="cloze", effect=share(0.7))]
    assert effects(found) is None
    assert '"domain": [0.0, 1.0]' in json.dumps(shares(found).chart.to_dict())
    # Cohen's h of .5 is a share of .74.
    assert any(row["to"] == pytest.approx(0.8586780454) for row in rows(shares(found), "from", "to"))
    assert shares(READINGS) is None


def test_readings_of_one_title_have_rows_of_their_own():
    twice = [READINGS[0], dataclasses.replace(READINGS[0], id="again")]
    assert [row["measured"] for row in rows(effects(twice), "value", "low")] == [
        "Title of career (career)",
        "Title of career (again)",
    ]


@pytest.mark.parametrize(
    ("effect", "domain", "sides"),
    [
        (d(0.9), [-2.0, 2.0], 6),
        (share(0.7), [0.0, 1.0], 6),
        (Estimate("correlation r", 0.5, CORRELATION, Interval(0.2, 0.8, 0.95, "Fisher")), [-1.0, 1.0], 6),
        (Estimate("group effect (eta)", 0.5, ETA), [0.0, 1.0], 6),
        (Estimate("mean cosine distance", 0.7, DISTANCE), [0.0, 2.0], 0),
        (Estimate("mean P(he) - P(she)", -0.1, DIFFERENCE, Interval(-0.2, 0.0, 0.95, "bootstrap")), [-0.22, 0.02], 0),
        (Estimate("no difference at all", 0.0, DIFFERENCE), [-1.0, 1.0], 0),
    ],
)
def test_an_effect_is_drawn_with_its_interval_on_its_own_scale(effect, domain, sides):
    figure = interval(reading(effect=effect))
    assert len(rows(figure, "from", "to")) == sides
    (point,) = rows(figure, "value", "low")
    assert point["value"] == effect.value
    (x,) = [layer["encoding"]["x"] for layer in figure.chart.to_dict()["layer"] if "shape" in layer["encoding"]]
    assert x["scale"]["domain"] == pytest.approx(domain)
