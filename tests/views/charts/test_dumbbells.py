from __future__ import annotations

import dataclasses
import re

import pytest

from tests.views.charts.drawn import READINGS, rows
from tests.views.made import audit, d, reading, share
from tiltmeter.compare import compare
from tiltmeter.views.charts import chart_of_pairs, dumbbells, to_svg

ONE, TWO = audit(*READINGS[:2]), audit(*READINGS[2:])


@pytest.fixture(scope="module")
def pairs():
    return compare(ONE, TWO).pairs


def test_every_probe_is_a_line_from_the_first_model_to_the_second(pairs):
    (figure,) = dumbbells(pairs)
    found = {row["measured"]: (row["first"], row["second"]) for row in rows(figure, "first", "second", "change")}
    assert found == {"Title of career": (0.9, 1.2), "Title of science": (-0.3, 0.1)}
    ends = [(row["measured"], row["model"], row["value"]) for row in rows(figure, "model", "value")]
    assert ("Title of career", "own:one", 0.9) in ends
    assert ("Title of career", "own:two", 1.2) in ends
    assert len(ends) == 4


def test_marks_and_numbers_are_those_of_the_differences(pairs):
    (figure,) = dumbbells(pairs)
    drawn = {row["measured"]: row for row in rows(figure, "change")}
    for moved in pairs[0].differences:
        assert drawn[moved.title]["state"] == moved.state
        assert drawn[moved.title]["change"] == f"{moved.difference:+.2f}"
    first = pairs[0].differences[0]
    assert figure.title == "own:one → own:two"
    assert f"the clearest is {first.title}, from {first.first:.2f} to {first.second:.2f}" in figure.alt


def test_the_ends_of_a_row_are_named_by_its_poles(pairs):
    (named,) = dumbbells(pairs)
    assert {row["low"] for row in rows(named, "low", "y")} == {"◄ women → career"}
    assert {row["high"] for row in rows(named, "high", "y")} == {"men → career ►"}
    without = [dataclasses.replace(moved, poles=None) for moved in pairs[0].differences]
    (bare,) = dumbbells([dataclasses.replace(pairs[0], differences=tuple(without))])
    assert rows(bare, "low", "y") == []


def test_the_chart_that_a_comparison_shows_of_itself_names_them_too():
    compared = compare(ONE, TWO)
    for shown in (to_svg(compared.chart()), compared._repr_html_()):
        assert "women → career" in shown
        assert "men → career" in shown


def test_what_is_on_another_scale_has_an_axis_of_its_own():
    sides = [
        audit(reading(model, "career", d(0.9)), reading(model, "cloze", share(at), items=(), statistic=None))
        for model, at in (("own:one", 0.6), ("own:two", 0.7))
    ]
    (figure,) = dumbbells(compare(*sides).pairs)
    panels = figure.chart.to_dict()["vconcat"]
    titles = re.findall(r"(effect size d|share to men); (0|0.5) is level", to_svg(figure.chart))
    assert len(panels) == 2
    assert sorted(set(titles)) == [("effect size d", "0"), ("share to men", "0.5")]


def test_several_pairs_are_one_chart_below_the_other():
    three = audit(*READINGS, *(reading("own:three", id, d(0.5)) for id in ("career", "science")))
    pairs = compare(three).pairs
    assert len(dumbbells(pairs)) == 3
    assert len(chart_of_pairs(pairs).to_dict()["vconcat"]) == 3
    svg = to_svg(chart_of_pairs(pairs))
    assert all(f"{pair.first} → {pair.second}" in svg for pair in pairs)
