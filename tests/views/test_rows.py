from __future__ import annotations

import dataclasses

import pytest

from tests.views.made import d, lpbs, reading, share, words
from tiltmeter.readings import CORRELATION, DISTANCE, Correction, D, Estimate, Item, ItemMeaning, UnitValue
from tiltmeter.statistics import Interval
from tiltmeter.views.rows import Bar, ReadingRow, bar, reading_rows, shown_titles


@pytest.mark.parametrize(
    ("value", "ci", "text"),
    [
        (1.234, (0.9, 1.5), "1.23 [0.90, 1.50]"),
        (0.0123, (0.001, 0.02), "0.012 [0.001, 0.020]"),
        (0.0, None, "0.00"),
        (-0.5, None, "-0.50"),
    ],
)
def test_small_numbers_get_a_digit_more(value, ci, text):
    interval = Interval(*ci, 0.95, "bootstrap") if ci else None
    assert str(Estimate("d", value, D, interval)) == text


def test_what_is_not_significant_after_the_correction_is_no_clear_lean():
    made = (reading(effect=d(-0.9, p=0.01), correction=Correction(p, 4)) for p in (0.04, 0.06))
    clear, unclear = (ReadingRow(each, "T") for each in made)
    assert (clear.leans, clear.verdict.state) == ("women → career, men → family", "clear")
    assert (unclear.leans, unclear.verdict.state) == ("no clear lean", "suggestive")


def test_a_reading_without_a_direction_says_what_is_better():
    assert ReadingRow(reading(poles=None), "T").says == (
        "own:one, T: effect size d 0.90 [0.60, 1.20]; nearer to 0 is better"
    )


def test_tests_of_one_name_are_told_apart_by_their_ids_on_every_model():
    twice = [reading(id="a", title="T"), reading(id="b", title="T"), reading("own:two", "a", title="T")]
    assert shown_titles([*twice, reading(id="c", title="U")]) == ["T (a)", "T (b)", "T (a)", "U"]
    assert shown_titles([twice[0], twice[2]]) == ["T", "T"]


def test_a_bar_shows_the_interval_on_the_scale_of_its_statistic():
    assert bar(d(1.0, half=0.5)) == Bar(62.5, 87.5, 75.0)
    assert bar(d(3.0, half=0.5)) == Bar(100.0, 100.0, 100.0)
    assert bar(dataclasses.replace(d(0.5, half=0.25), scale=CORRELATION)) == Bar(62.5, 87.5, 75.0)
    assert bar(dataclasses.replace(d(1.0), scale=DISTANCE)) is None
    assert bar(dataclasses.replace(d(1.0), ci=None)) is None


def test_a_row_says_the_reading_in_the_light_of_all_tests():
    (row,) = reading_rows([reading(effect=share(0.74, p=0.01), correction=Correction(0.2, 20))])
    assert (row.clear, row.tested, row.leans, row.p, row.raw_p) == (False, True, "no clear lean", "0.20", "0.010")
    assert row.size == pytest.approx(0.5006, abs=1e-3)
    assert row.reading.driving is None  # of eight words five at each end would overlap


def test_what_drives_a_reading_is_named_by_the_poles_of_its_items():
    some = words([(f"word {n}", n / 10) for n in range(12)])
    (row,) = reading_rows([reading(items=some)])
    meaning, (high, low) = row.reading.driving
    assert meaning == "lean; positive: towards career, negative: towards family"
    assert [unit.label for unit in high] == [f"word {n}" for n in (11, 10, 9, 8, 7)]
    assert [unit.label for unit in low] == [f"word {n}" for n in range(5)]


def test_readings_differ_where_the_number_or_the_outcome_does():
    readings = [
        reading(id="number", effect=d(0.3), published=d(0.4)),
        reading(id="outcome", effect=d(0.3, p=0.2), published=d(0.3, p=0.01)),
        reading(id="same", effect=d(0.3, p=0.01), published=d(0.3, p=0.02)),
        reading(id="alone"),
    ]
    rows = reading_rows(readings)
    assert [row.reading.id for row in rows if row.differs] == ["number", "outcome"]


def test_items_of_one_word_are_averaged_and_ends_never_overlap():
    units = reading(items=words([("a", 1.0), ("a", 2.0), ("b", 0.0), ("c", 3.0)], "g")).units()
    assert units.rows == (UnitValue("c", "g", 3.0, 1), UnitValue("a", "g", 1.5, 2), UnitValue("b", "g", 0.0, 1))
    assert units.ends(5) == ((units.rows[0],), (units.rows[2],))


def test_the_signs_of_items_are_named_by_their_poles():
    assert lpbs({"": [(0.5, 0.25)]}).units().meaning == ("association; positive: towards men, negative: towards women")
    sizes = reading(item_meaning=ItemMeaning("mean distance")).units()
    assert (sizes.signs, sizes.meaning) == ("", "mean distance")


def test_items_without_a_number_are_left_away():
    some = (Item("a", "a", "", None), Item("b", "b", "", 1.0))
    assert reading(items=some).units().rows == (UnitValue("b", "", 1.0, 1),)
    assert reading(items=some[:1]).units() is None
    assert reading(items=()).units() is None
