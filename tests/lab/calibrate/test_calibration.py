"""The calibration bench on models so small that only its own arithmetic can be tried."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

from tests.reference import QUICK as SMALL
from tiltmeter.errors import BadInput
from tiltmeter.lab.calibrate.bench import with_men
from tiltmeter.lab.calibrate.calibration import QUICK, Calibration, CalibrationSettings, calibrate, save, to_readings
from tiltmeter.lab.reference.planted_text import frames, planted
from tiltmeter.lab.reference.training import CAUSAL_RECIPE
from tiltmeter.readings import Audit
from tiltmeter.views.charts import calibration as chart_of
from tiltmeter.views.charts import overview, to_svg
from tiltmeter.views.terminal.lab import CALIBRATION_COLUMNS, calibration_markdown, calibration_rows

TINY = dataclasses.replace(SMALL, sentences=128, first_epochs=1, epochs=1)
SETTINGS = CalibrationSettings(
    doses=(0.5, 0.7, 0.9),
    seeds=2,
    nulls=3,
    recipes=(TINY, dataclasses.replace(TINY, kind=CAUSAL_RECIPE.kind, further_words=CAUSAL_RECIPE.further_words)),
)


@pytest.fixture(scope="module")
def found(tmp_path_factory) -> Calibration:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TILTMETER_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.setattr("tiltmeter.lab.reference.reference.usable_cpus", lambda: 1)
        return calibrate(SETTINGS, progress=False)


def test_every_measure_has_a_point_for_each_model_and_its_null_readings(found):
    assert {key[0].partition(" (")[0] for key in found.points} == {
        "unmasking", "LPBS", "pronouns", "pairs", "CABM", "WEAT", "SEAT", "CEAT", "WEFAT", "ClozeGender",
    }  # fmt: skip
    for key, points in found.points.items():
        assert [(point.dose, point.seed) for point in points] == [(d, s) for d in (0.5, 0.7, 0.9) for s in (0, 1)]
        assert all(np.isfinite(point.value) for point in points), key
    assert [(each.measure, each.form) for each in found.summaries] == list(found.points)
    assert all(len(each.null_values) == 2 * 3 for each in found.summaries)


def test_published_and_repaired_forms_stand_side_by_side(found):
    forms = {}
    for measure, form in found.points:
        forms.setdefault(measure, set()).add(form)
    for measure in ("LPBS (log-odds)", "WEAT", "SEAT", "CEAT", "ClozeGender", "CABM (equal)"):
        assert forms[measure] == {"published", "repaired"}


def test_a_p_value_is_that_of_the_reading_or_there_is_none(found):
    tested = {"unmasking (shares)", "LPBS", "pronouns", "pairs (nangia)", "pairs (meade)"}
    tested |= {"WEAT", "SEAT", "CEAT", "WEFAT"}
    for summary in found.summaries:
        assert len(summary.null_p_values) == (6 if summary.measure in tested else 0), summary.measure
        assert (summary.false_positives is None) == (summary.measure not in tested)


def test_every_measure_of_sentences_is_read_from_each_set_of_them_alone_at_the_largest_dose(found):
    sets = {(each.measure, each.form): set(each.by_set) for each in found.summaries}
    for (measure, _), names in sets.items():
        kind = measure.partition(" (")[0]
        expected = {
            "WEAT": set(),
            "WEFAT": set(),
            "CABM": set(),
            "ClozeGender": {"subject", "far"},
            "SEAT": {"near", "far"},
            "CEAT": {"near", "far"},
        }
        assert names == expected.get(kind, set(frames().masked)), measure
    assert all(bool(point.by_set) == (point.dose == 0.9) for point in found.points["LPBS", "repaired"])


def test_a_calibration_is_saved_as_readings_that_an_audit_can_open(found, tmp_path):
    save(found, tmp_path)
    opened = Audit.load(tmp_path)
    assert opened.suite == "calibration"
    assert {reading.id for reading in opened.readings} == {reading.id for reading in to_readings(found)}
    assert len(list((tmp_path / "readings").glob("*.items"))) == len(found.summaries)
    for reading in opened.readings:
        assert len(reading.items) == 6
        assert reading.details.measure in reading.plain_words
        assert [item.get("dose") for item in reading.items] == [0.5, 0.5, 0.7, 0.7, 0.9, 0.9]
    assert list(opened.readings) == to_readings(found)


def test_the_same_models_give_the_same_bytes(found, tmp_path):
    for name in ("a", "b"):
        save(found, tmp_path / name)
    files = sorted(path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file())
    assert files
    assert all((tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes() for file in files)


def test_the_chart_has_a_cell_for_each_measure_and_says_what_it_shows(found):
    figure = chart_of(to_readings(found))
    assert figure is not None
    cells = json.loads(figure.chart.to_json(validate=False))["concat"]
    titles = [cell["title"]["text"] for cell in cells]
    assert sorted(titles) == sorted({summary.measure for summary in found.summaries if summary.noise > 0})
    assert "follow the planted bias" in figure.alt
    assert to_svg(figure.chart).startswith("<svg")
    assert chart_of([]) is None


def test_the_chart_joins_the_report(found, tmp_path):
    save(found, tmp_path)
    opened = Audit.load(tmp_path)
    assert "calibration" in [figure.name for figure in overview(opened.readings)]
    assert "Dose and response" in opened.report(tmp_path / "report.html").read_text(encoding="utf-8")


def test_the_table_has_a_row_for_each_form_of_each_measure(found):
    readings = to_readings(found)
    rows = calibration_rows(readings)
    assert [(row["measure"], row["form"]) for row in rows] == [(each.measure, each.form) for each in found.summaries]
    lines = calibration_markdown(readings).splitlines()
    assert lines[2 + 0] == f"| {' | '.join(rows[0][name] for name in CALIBRATION_COLUMNS)} |"
    assert len(lines) == 2 + len(rows)


def test_the_table_of_the_docs_is_one_that_the_command_prints(found):
    page = Path("docs/which-measure.md").read_text(encoding="utf-8")
    lines = page[page.index("| measure |") :].split("\n\n")[0].splitlines()
    printed = calibration_markdown(to_readings(found)).splitlines()
    assert lines[:2] == printed[:2]
    keys = [tuple(line.split(" | ")[:2]) for line in lines[2:]]
    assert keys == [key for line in printed[2:] if (key := tuple(line.split(" | ")[:2])) in keys]
    assert len(keys) >= 26


def test_half_of_the_occupations_are_with_men():
    men = with_men(planted(0.9))
    assert men.sum() == 30
    assert min(np.array(list(planted(0.9).values()))[men]) > 0.5


def test_the_quick_bench_has_two_hundred_null_readings_of_a_measure():
    assert QUICK.seeds * QUICK.nulls >= 200


@pytest.mark.parametrize(
    ("doses", "seeds", "says"),
    [
        ((0.6, 0.7, 0.9), 2, r"doses must be \.5"),
        ((0.5, 0.9), 2, "at least two others"),
        ((0.5, 0.7, 1.2), 2, r"up to \.99"),
        ((0.5, 0.7, 0.9, 0.9), 2, "a dose appears twice"),
        ((0.5, 0.7, 0.9), 1, "at least 2 seeds"),
    ],
)
def test_settings_that_calibrate_nothing_are_refused_in_one_line(doses, seeds, says):
    with pytest.raises(BadInput, match=says):
        CalibrationSettings(doses=doses, seeds=seeds)
