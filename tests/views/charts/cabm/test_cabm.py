"""All charts of a CABM reading together."""

from __future__ import annotations

import dataclasses
import json
import re
from typing import Any

import pytest

from tests.reference import reference_model
from tests.views.cabm_reading import draw, drawn, measured, small_forests, with_details, with_items
from tiltmeter import Audit, audit
from tiltmeter.readings import Reading, ReadingStore
from tiltmeter.views.charts.cabm import bars, cabm_figures, maps
from tiltmeter.views.charts.style import FORMATS, to_svg
from tiltmeter.views.report.report import render

NAMES = [
    "scores",
    "parts",
    "importance",
    "moved",
    "weights",
    "categories",
    "both-forms",
    "density",
    "heat-map",
    "occupations",
    "shift",
]


def cabm_charts(reading: Reading) -> dict[str, Any]:
    return {figure.name.removeprefix("cabm-"): figure.chart for figure in cabm_figures(reading)}


@pytest.fixture(scope="module")
def reading() -> Reading:
    return measured()


def test_all_charts_become_svg_without_script_or_missing_numbers(reading):
    charts = cabm_charts(reading)
    assert list(charts) == NAMES
    for name, chart in charts.items():
        svg = to_svg(chart)
        assert svg.startswith("<svg"), name
        assert not re.search("NaN|undefined|null|<script", svg), name
        width = float(re.search(r'viewBox="0 0 ([\d.]+)', svg)[1])
        assert width <= 342 / 0.66, name  # so that it fits a telephone
    assert FORMATS["png"](charts["weights"]).startswith(b"\x89PNG")


def test_what_is_missing_leaves_its_charts_out(reading):
    assert set(NAMES) - set(cabm_charts(with_details(reading, projection={}))) == {"occupations", "shift"}
    assert set(NAMES) - set(cabm_charts(with_details(reading, explained_by=None))) == {"moved"}
    assert cabm_charts(dataclasses.replace(reading, details=None)) == {}


def test_items_without_parts_leave_the_explanations_out(reading):
    bare = [
        item._replace(columns={key: v for key, v in item.columns.items() if not key.startswith("part_")})
        for item in reading.items
    ]
    assert set(NAMES) - set(cabm_charts(with_items(reading, bare))) == {"parts", "importance"}


def test_a_reading_from_disk_is_drawn_alike(reading, tmp_path):
    store = ReadingStore(tmp_path)
    (again,) = store.load([store.save(reading)])
    first, second = (
        {name: json.dumps(chart.to_dict(validate=False)) for name, chart in cabm_charts(each).items()}
        for each in (reading, again)
    )
    assert first == second


def test_markup_in_a_word_or_a_group_is_text(reading):
    evil = "<script>x</script> & co"
    spoilt = with_details(
        with_items(reading, [item._replace(label=f"{evil} {item.label}") for item in reading.items]),
        groups=(evil, "women"),
    )
    for name in ("scores", "both-forms"):
        svg = to_svg(cabm_charts(spoilt)[name])
        assert "<script" not in svg
        assert "&lt;script&gt;" in svg


def below_the_reading(reading: Reading) -> str:
    """What the report folds below its only reading."""
    html = render(Audit("own", (reading.model,), (reading,), (), 0, 0))
    return html.split('<details id="reading-1">')[1].split("</details>")[0]


def test_the_report_shows_the_charts_under_the_reading(reading):
    assert below_the_reading(reading).count("<svg") == len(NAMES)
    other = dataclasses.replace(reading, probe="mac", items=(), details=None)
    assert "<svg" not in below_the_reading(other)


def test_weights_of_the_users_own_are_drawn_and_reported_like_any_other():
    own = measured("0.5,0.3,0.2")
    assert list(cabm_charts(own)) == NAMES
    rows = drawn(draw(bars.weights, own), "form", "weighting", "feature", "weight")
    assert [row[2:] for row in rows if row[:2] == ("repaired", "given")] == [
        ("PMI", 0.5),
        ("cosine", pytest.approx(0.3)),
        ("context", pytest.approx(0.2)),
    ]
    cells = {
        (word, score)
        for form, word, weighting, score in drawn(draw(maps.heat_map, own), "form", "word", "weighting", "score")
        if (form, weighting) == ("repaired", "given")
    }
    assert cells == {(item.label, item.value) for item in own.items}
    assert below_the_reading(own).count("<svg") == len(NAMES)


def test_an_audit_whose_suite_gives_weights_is_run_stored_and_reported(tmp_path):
    suite = tmp_path / "mine.yaml"
    suite.write_text("name: mine\nprobes:\n  - {id: cabm-mine, probe: cabm, method: '0.5,0.3,0.2'}\n", encoding="utf-8")
    with small_forests():
        made = audit([f"hf:{reference_model(0.9)}"], suite=suite, out=tmp_path / "out", cache=False)
    made.report(tmp_path / "out")
    (reading,) = Audit.load(tmp_path / "out").readings
    assert reading.details.repaired.method == "given"
    assert "CABM: occupations between men and women" in (tmp_path / "out" / "audit.html").read_text(encoding="utf-8")
