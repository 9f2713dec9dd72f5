from __future__ import annotations

import dataclasses

import pytest

from tests.planted import CAREER_FAMILY, TERMS, Named, words
from tiltmeter import Reading, probe
from tiltmeter.statistics import Interval
from tiltmeter.views.charts import forest, to_png, to_svg

LEANS = dict(zip([*TERMS, *CAREER_FAMILY], [0.3, -0.3, 0.8, -0.8], strict=True))


@pytest.fixture(scope="module")
def readings() -> list[Reading]:
    made = [
        probe("weat", Named(words(LEANS), name="own:one"), cache=False),
        probe("weat", Named(words({**LEANS, TERMS[0]: 0.005, TERMS[1]: 0.0}), name="own:two"), cache=False),
        probe("mac", Named(words(LEANS), name="own:one"), targets=["attributes.career"], attributes=TERMS, cache=False),
    ]
    return [dataclasses.replace(reading, id=f"{n}") for n, reading in enumerate(made)]


def drawn(chart) -> list[dict]:
    """The rows of data behind the points."""
    return [row for rows in chart.to_dict()["datasets"].values() for row in rows if "d" in row]


def test_the_forest_holds_the_numbers_of_the_readings(readings):
    rows = drawn(forest(readings))
    with_d = readings[:2]
    assert [(r["model"], r["d"], r["low"], r["high"]) for r in rows] == [
        (r.model, r.effect.value, r.effect.ci.low, r.effect.ci.high) for r in with_d
    ]
    assert [row["measured"] for row in rows] == [reading.title for reading in with_d]
    assert [row["leans"] for row in rows] == ["male terms → career\nfemale terms → family", "no clear lean"]
    assert [row["clear"] for row in rows] == [True, False]


def test_there_is_a_panel_for_every_model(readings):
    panels = forest(readings).to_dict()["vconcat"]
    assert [panel["title"] for panel in panels] == ["own:one", "own:two"]


def test_what_is_clear_follows_the_corrected_p_values(readings):
    rows = drawn(forest(readings, adjusted=[0.2, 1.0, None]))
    assert [row["clear"] for row in rows] == [False, False]
    assert [row["leans"] for row in rows] == ["no clear lean", "no clear lean"]


def test_readings_of_one_title_have_rows_of_their_own(readings):
    twice = [readings[0], dataclasses.replace(readings[0], id="again")]
    assert [row["measured"] for row in drawn(forest(twice))] == [
        "male terms / female terms × career / family (0)",
        "male terms / female terms × career / family (again)",
    ]


def test_the_axis_reaches_as_far_as_the_widest_interval(readings):
    wide = Interval(-0.5, 3.2, 0.95, "bootstrap")
    far = dataclasses.replace(readings[0], effect=dataclasses.replace(readings[0].effect, value=2.4, ci=wide))
    for shown, end in ((readings, 2.0), ([far], 3.5)):
        layers = forest(shown).to_dict()["vconcat"][0]["layer"]
        domains = [layer["encoding"]["x"]["scale"]["domain"] for layer in layers if "scale" in layer["encoding"]["x"]]
        assert domains == [[-end, end]]


def test_there_is_no_forest_without_an_effect_size(readings):
    assert forest(readings[2:]) is None
    assert forest([]) is None


def test_the_chart_becomes_an_svg_and_a_picture(readings):
    svg = to_svg(forest(readings))
    assert svg.startswith("<svg")
    assert "male terms / female terms × career / family" in svg
    assert "<script" not in svg
    assert to_png(forest(readings), scale=1).startswith(b"\x89PNG")


def test_markup_in_a_title_is_text_in_the_svg(readings):
    title = "<script>alert('a')</script> & \"b\""
    svg = to_svg(forest([dataclasses.replace(readings[0], title=title, model="it's <b>")]))
    assert "<script" not in svg
    assert "<b>" not in svg
    assert "&lt;script&gt;" in svg
