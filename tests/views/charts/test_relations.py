from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest

from tests.views.charts.drawn import READINGS, rows
from tiltmeter.readings import CORRELATION, Estimate, Item, ItemMeaning, Poles, Statistic
from tiltmeter.statistics import Interval
from tiltmeter.views.charts import of_reading, relation, to_svg

SHARES = {
    "nurse": (90.0, 1.2),
    "teacher": (70.0, 0.5),
    "chef": (40.0, 0.1),
    "pilot": (10.0, -0.9),
    "miner": (5.0, -0.8),
}


def labour(**fields):
    items = tuple(Item(word, word, "jobs", lean, {"female_share": x}) for word, (x, lean) in SHARES.items())
    effect = Estimate("correlation r", 0.97, CORRELATION, Interval(0.6, 0.99, 0.95, "bootstrap"), 0.002)
    about = {"items": items, "effect": effect, "statistic": Statistic("pearson", ("value", "female_share"))}
    meaning = ItemMeaning("effect of the word", Poles("female terms", "male terms"))
    return dataclasses.replace(READINGS[0], **{**about, "item_meaning": meaning, **fields})


def test_every_occupation_is_a_point_with_its_name():
    figure = relation(labour())
    assert {row["word"]: (row["x"], row["y"]) for row in rows(figure, "says")} == SHARES
    assert {row["word"] for row in rows(figure, "word") if "says" not in row} == set(SHARES)
    svg = to_svg(figure.chart)
    assert "◄ male terms · effect of the word · female terms ►" in svg
    assert "correlation r 0.97 [0.60, 0.99], p = 0.0020 corrected: clear" in re.sub("</?tspan[^>]*>", " ", svg)


def test_the_line_is_that_of_least_squares():
    slope, intercept = np.polyfit(*zip(*SHARES.values(), strict=True), 1)
    line = [(row["x"], row["y"]) for row in rows(relation(labour()), "x", "y") if set(row) == {"x", "y"}]
    assert line == [(x, pytest.approx(intercept + slope * x)) for x in (5.0, 90.0)]
    assert "the line rises (correlation r 0.97" in relation(labour()).alt
    assert "farthest above it is chef" in relation(labour()).alt


def test_a_unit_with_several_rows_is_one_point():
    twice = (*labour().items, Item("nurse again", "nurse", "jobs", 0.8, {"female_share": 90.0}))
    found = {row["word"]: row["y"] for row in rows(relation(labour(items=twice)), "says")}
    assert found["nurse"] == pytest.approx(1.0)
    assert len(found) == 5


def test_a_correlation_shows_its_scatter_and_other_effects_do_not():
    assert [figure.name for figure in of_reading(labour())] == ["relation"]
    assert relation(READINGS[0]) is None
    assert relation(labour(items=tuple(item._replace(columns={}) for item in labour().items))) is None
    same = tuple(item._replace(columns={"female_share": 50.0}) for item in labour().items)
    assert relation(labour(items=same)) is None  # no line goes through points above each other
