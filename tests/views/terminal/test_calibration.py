from __future__ import annotations

from tests.views.calibrated import calibrated
from tests.views.made import reading
from tiltmeter.views.terminal.calibration import COLUMNS, calibration_markdown, calibration_rows


def test_one_row_per_reading_of_a_calibration():
    rows = calibration_rows([reading(), calibrated("m"), calibrated("n", smallest_dose=None, false_positives=None)])
    assert [tuple(row) for row in rows] == [COLUMNS] * 2
    assert rows[0]["measure"] == "m"
    assert (rows[0]["Spearman"], rows[0]["per .1 dose"], rows[0]["tells .5 from"]) == ("0.97", "9.0", "0.6")
    assert (rows[0]["false positives"], rows[0]["spread"]) == ("5.0%", "")
    assert (rows[1]["tells .5 from"], rows[1]["false positives"]) == ("none", "")


def test_the_same_as_markdown():
    lines = calibration_markdown([calibrated("m")]).splitlines()
    assert len(lines) == 3
    assert {line.count("|") for line in lines} == {len(COLUMNS) + 1}
    assert lines[2].startswith("| m | repaired | 0.97 |")
