from __future__ import annotations

import dataclasses

import pytest

from tests.views.made import d, reading, share, words
from tiltmeter.readings import CORRELATION, DISTANCE
from tiltmeter.views.report.rows import Bar, bar, differing, report_rows


def test_a_bar_shows_the_interval_on_the_scale_of_its_statistic():
    assert bar(d(1.0, half=0.5)) == Bar(62.5, 87.5, 75.0)
    assert bar(d(3.0, half=0.5)) == Bar(100.0, 100.0, 100.0)
    assert bar(dataclasses.replace(d(0.5, half=0.25), scale=CORRELATION)) == Bar(62.5, 87.5, 75.0)
    assert bar(dataclasses.replace(d(1.0), scale=DISTANCE)) is None
    assert bar(dataclasses.replace(d(1.0), ci=None)) is None


def test_a_row_says_the_reading_in_the_light_of_all_tests():
    (row,) = report_rows([reading(effect=share(0.74, p=0.01))], [0.2])
    assert (row.clear, row.tested, row.leans, row.p, row.raw_p) == (False, True, "no clear lean", "0.20", "0.010")
    assert row.size == pytest.approx(0.5006, abs=1e-3)
    assert row.driving is None  # of eight words five at each end would overlap


def test_what_drives_a_reading_is_named_by_the_poles_of_its_items():
    some = words([(f"word {n}", n / 10) for n in range(12)])
    (row,) = report_rows([reading(items=some)], [None])
    meaning, (high, low) = row.driving
    assert meaning == "lean; positive: towards career, negative: towards family"
    assert [each.label for each in high] == [f"word {n}" for n in (11, 10, 9, 8, 7)]
    assert [each.label for each in low] == [f"word {n}" for n in range(5)]


def test_readings_differ_where_the_number_or_the_outcome_does():
    readings = [
        reading(id="number", effect=d(0.3), published=d(0.4)),
        reading(id="outcome", effect=d(0.3, p=0.2), published=d(0.3, p=0.01)),
        reading(id="same", effect=d(0.3, p=0.01), published=d(0.3, p=0.02)),
        reading(id="alone"),
    ]
    rows = report_rows(readings, [None] * 4)
    assert [row.reading.id for row in differing(rows)] == ["number", "outcome"]
