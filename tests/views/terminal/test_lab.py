from __future__ import annotations

import io

from rich.console import Console

from tests.views.calibrated import calibrated
from tests.views.made import reading
from tiltmeter.measures import stability
from tiltmeter.readings.studies import Steadiness
from tiltmeter.views.terminal.lab import (
    CALIBRATION_COLUMNS,
    calibration_markdown,
    calibration_rows,
    stability_rows,
    stability_view,
)


def test_one_row_per_reading_of_a_calibration():
    rows = calibration_rows([reading(), calibrated("m"), calibrated("n", smallest_dose=None, false_positives=None)])
    assert [tuple(row) for row in rows] == [CALIBRATION_COLUMNS] * 2
    assert rows[0]["measure"] == "m"
    assert (rows[0]["Spearman"], rows[0]["per .1 dose"], rows[0]["tells .5 from"]) == ("0.97", "9.0", "0.6")
    assert (rows[0]["false positives"], rows[0]["spread"]) == ("5.0%", "")
    assert (rows[1]["tells .5 from"], rows[1]["false positives"]) == ("none", "")


def test_the_same_as_markdown():
    lines = calibration_markdown([calibrated("m")]).splitlines()
    assert len(lines) == 3
    assert {line.count("|") for line in lines} == {len(CALIBRATION_COLUMNS) + 1}
    assert lines[2].startswith("| m | repaired | 0.97 |")


MEASURES = [
    Steadiness("CABM, repaired", stability({"a": [1, -1, 1], "b": [2, 2, 2]})),
    Steadiness("MAC", None, "without b"),
    Steadiness("PMI alone", stability({"a": [1, -1, 1], "b": [1, -1, 1]})),
]


def test_the_steadiest_stand_first_and_what_has_no_number_last():
    assert [(row["measure"], row["mean SD"]) for row in stability_rows(MEASURES)] == [
        ("PMI alone", 0.0),
        ("CABM, repaired", 2**0.5 / 3),
        ("MAC", None),
    ]


def test_the_page_says_what_it_means_and_where_models_differ_most():
    console = Console(file=io.StringIO(), width=100)
    console.print(stability_view(MEASURES, ["nurse", "plumber", "teacher"]))
    text = " ".join(console.file.getvalue().split())
    assert "Stability over 2 models" in text
    assert "CABM, repaired 0.471 1.179" in text
    assert "MAC - - without b" in text
    assert "Lower is steadier, not truer" in text
    assert "Models differ most on: plumber (1.41)" in text
