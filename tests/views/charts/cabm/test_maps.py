"""Maps of a CABM reading: what is drawn are the numbers of the reading."""

from __future__ import annotations

import dataclasses
import re

import pytest

from tests.views.cabm_reading import changed, draw, drawn, measured, with_details
from tiltmeter.readings import Reading
from tiltmeter.views.charts import to_svg
from tiltmeter.views.charts.cabm import maps


@pytest.fixture(scope="module")
def reading() -> Reading:
    return measured()


def test_a_cell_of_the_heat_map_is_the_score_by_that_weighting(reading):
    rows = drawn(draw(maps.heat_map, reading), "form", "word", "weighting", "score")
    found = {
        (title, item.label, weighting, values[n])
        for title, form in reading.details.forms.items()
        for weighting, values in form.scores.items()
        for n, item in enumerate(reading.items)
    }
    assert set(rows) == found
    headline = reading.details.repaired.method
    leans = {row[1]: row[3] for row in rows if row[0] == "repaired" and row[2] == headline}
    assert leans == {item.label: item.value for item in reading.items}


def test_the_density_is_that_of_the_validation(reading):
    rows = drawn(draw(maps.density, reading), "form", "score", "density")
    kde = reading.details.repaired.validation.kde
    assert [row[1:] for row in rows if row[0] == "repaired"] == list(zip(kde.grid, kde.density, strict=True))


def test_published_and_repaired_scores_are_the_coordinates_of_an_occupation(reading):
    points = drawn(draw(maps.both_forms, reading), "word", "group", "x", "y")
    wanted = [(item.label, item.group, item.value, item.get("published")) for item in reading.items]
    assert set(points) == set(wanted)


def test_an_occupation_stands_half_way_between_its_two_versions(reading):
    word = reading.items[0].label
    small = with_details(reading, projection={word: ((1.0, 2.0), (3.0, -4.0))})
    assert set(drawn(draw(maps.occupations, small), "word", "x", "y")) == {(word, 2.0, -1.0)}
    chart = draw(maps.shift, small)
    assert drawn(chart, "version", "x", "y")[:2] == [("men", 1.0, 2.0), ("women", 3.0, -4.0)]
    assert drawn(chart, "x", "y", "x2", "y2") == [(1.0, 2.0, 3.0, -4.0)]


def test_names_beside_points_do_not_lie_on_one_another(reading):
    words = [item.label for item in reading.items]
    crowded = with_details(
        reading,
        projection={word: [[n / 1000, 0.0]] * 2 for n, word in enumerate(words[:-1])} | {words[-1]: [[9.0, 9.0]] * 2},
    )
    texts = [mark for mark in re.findall(r">([^<]+)</text>", to_svg(draw(maps.occupations, crowded))) if mark in words]
    assert words[-1] in texts
    assert len(texts) < len(words)  # as many as find room around the crowd


def test_scores_that_do_not_vary_have_no_density(reading):
    flat = {title: dataclasses.replace(form.validation, kde=None) for title, form in reading.details.forms.items()}
    one = changed(reading, "published", validation=flat["published"])
    assert {form for (form,) in drawn(draw(maps.density, one), "form")} == {"repaired"}
    assert draw(maps.density, changed(one, "repaired", validation=flat["repaired"])) is None
