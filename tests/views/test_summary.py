from __future__ import annotations

import json

from tests.views.made import audit, d, reading, share
from tiltmeter.readings import STATES, Power
from tiltmeter.views.rows import reading_rows
from tiltmeter.views.summary import MARKS, Summary, in_words, summarise


def summary_of(*readings) -> Summary:
    return summarise(audit(*readings))


def test_a_square_has_the_strongest_verdict_how_many_have_it_and_which_way_it_leans():
    # Of three tests Holm asks p <= .05/3 of the smallest and p <= .05/2 of the next.
    grid = summary_of(
        reading(id="a", effect=d(0.5, p=0.03)),
        reading(id="b", effect=d(-0.9, p=0.001)),
        reading(id="c", effect=d(0.1, p=0.8)),
        reading(id="e", effect=d(0.1, p=None)),
    )
    square = grid.square("gender", "own:one")
    assert [row.verdict.state for row in square.rows] == ["clear", "suggestive", "undecided", "untested"]
    assert (square.state, square.count, square.direction) == ("clear", "1 of 3", "women → career, men → family")
    assert square.short_direction == "women → career"
    assert grid.square("race", "own:one") is None


def test_what_has_no_test_counts_only_where_there_is_nothing_else():
    square = summary_of(reading(effect=d(0.9, p=None))).square("gender", "own:one")
    assert (square.state, square.count, square.direction) == ("untested", "1 of 1", "")


def test_dimensions_keep_their_order_and_what_has_none_comes_last():
    grid = summary_of(reading(id="a", dimension=""), reading(id="b", dimension="race"), reading(id="c"))
    assert grid.dimensions == ("race", "gender", "other")


def test_the_headline_counts_what_is_clear_after_correction():
    both = (reading(id="a", effect=d(0.9, p=0.03)), reading(id="b", effect=d(0.5, p=0.9)))
    # Holm doubles the smaller p-value: .03 is no longer clear.
    assert summary_of(*both).headline == "None of 2 bias tests shows a clear lean; 1 is suggestive."
    # Each model is a family of its own.
    two = summary_of(reading("m:one", "a", d(0.9, p=0.03)), reading("m:two", "a", d(0.5, p=0.9)))
    assert two.headline == "1 of 2 bias tests shows a clear lean, on 1 of 2 models."
    assert summary_of(reading(effect=d(0.9, p=0.2))).headline == "The one bias test shows no clear lean."
    assert summary_of(reading(effect=d(0.9, p=0.02))).headline == "The one bias test shows a clear lean."
    nothing = summary_of(reading(effect=d(0.9, p=None)))
    assert nothing.headline == "Nothing was tested: the numbers below have no p-value."
    assert nothing.sentences == ("1 reading has no test.",)


def test_a_control_is_not_counted_and_one_that_fails_is_said():
    works = reading("m:x", "flowers", d(1.5, p=0.0001), control=True, family="controls")
    level = reading("m:x", "a", d(0.1, p=0.9))
    fine = summary_of(works, level, reading("m:y", "a", d(0.1, p=0.9)))
    assert fine.headline == "None of 2 bias tests shows a clear lean."
    assert (fine.control("m:x"), fine.control("m:y"), fine.broken) == ("works", None, [])
    assert fine.sentences[0].startswith("The controls, which should lean and are not counted, work")
    assert "m:y has none." in fine.sentences[0]
    broken = summary_of(reading("m:x", "flowers", d(0.1, p=0.7), control=True, family="controls"), level)
    assert broken.control("m:x") == "does not work"
    assert broken.sentences[0] == "The control does not work on m:x: its other verdicts mean little."
    assert summary_of(level).control_sentence == ""


def test_a_control_of_too_few_words_accuses_no_model():
    few = reading("m:x", "flowers", d(1.1, p=0.1), control=True, family="controls", power=Power(1.8, 1e-4))
    grid = summary_of(few, reading("m:x", "a", d(0.1, p=0.9)))
    assert (grid.control("m:x"), grid.broken) == ("undecided", [])
    assert grid.sentences[0] == "The control is undecided on m:x: it knows too few of the words."
    fails = reading("m:x", "instruments", d(0.1, p=0.7), control=True, family="controls")
    assert summary_of(few, fails).control("m:x") == "does not work"


def test_one_control_of_several_that_fails_is_enough():
    controls = [
        reading(id=id, effect=d(1.5, p=p), control=True, family="controls") for id, p in (("a", 1e-4), ("b", 0.6))
    ]
    assert summary_of(*controls).broken == ["own:one"]


def test_what_to_look_at_first_names_every_dimension_before_the_second_of_any():
    # A share of .9 is farther from level (h = .93) than d = .6.
    grid = summary_of(
        reading(id="a", effect=d(0.6)),
        reading(id="b", effect=share(0.9)),
        reading(id="c", effect=d(0.5), dimension="race"),
        reading(id="e", effect=d(3, p=1.0)),
        reading("m:broken", "a", d(2.0)),
        reading("m:broken", "flowers", d(0.1, p=0.7), control=True, family="controls"),
    )
    assert [row.reading.id for row in grid.first(9, "own:one")] == ["b", "c", "a"]
    assert [(row.reading.model, row.reading.id) for row in grid.first(4)][-1] == ("m:broken", "a")


def test_where_nothing_is_clear_what_is_suggestive_is_named():
    grid = summary_of(reading(id="a", effect=d(0.9, p=0.03)), reading(id="b", effect=d(0.5, p=0.9)))
    assert [row.reading.id for row in grid.first(3)] == ["a"]


def test_a_reading_in_words_has_its_direction_its_number_and_its_verdict():
    (row,) = reading_rows(audit(reading(id="a", effect=d(0.6))).readings)
    assert in_words(row) == ("Title of a: men → career, women → family (effect size d 0.60 [0.30, 0.90]; clear)")


def test_every_verdict_has_a_sign_of_its_own():
    assert set(MARKS) == {*STATES, "works", "does not work"}
    assert len(set(MARKS.values())) == len(MARKS)


def test_the_grid_is_json():
    values = summary_of(reading(id="a"), reading(id="b", control=True, family="controls")).to_dict()
    assert json.loads(json.dumps(values)) == values
    assert values["grid"] == [
        {
            "dimension": "gender",
            "model": "own:one",
            "verdict": "clear",
            "n": 1,
            "of": 1,
            "direction": "men → career, women → family",
        }
    ]
    assert values["controls"] == {"own:one": "works"}
