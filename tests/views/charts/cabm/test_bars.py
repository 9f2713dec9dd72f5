"""Bars of a CABM reading: what is drawn are the numbers of the reading."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tests.views.cabm_reading import changed, draw, drawn, measured, with_items
from tiltmeter.readings import Reading
from tiltmeter.readings.details.cabm import FeatureWeights
from tiltmeter.views.charts.cabm import bars
from tiltmeter.views.charts.cabm.colours import FEATURES


@pytest.fixture(scope="module")
def reading() -> Reading:
    return measured()


def test_the_bars_are_the_scores_of_the_reading_from_the_first_group_to_the_second(reading):
    chart = draw(bars.scores, reading)
    ordered = sorted(reading.items, key=lambda item: -item.value)
    assert drawn(chart, "word", "group", "score", "low", "high") == [
        (item.label, item.group, item.value, item.get("low"), item.get("high")) for item in ordered
    ]
    assert drawn(chart, "at") == [(0.0,), (-0.1,), (0.1,)]


def test_the_parts_of_a_score_add_up_to_its_mark(reading):
    chart = draw(bars.parts, reading)
    totals: dict[str, float] = dict(drawn(chart, "word", "score"))
    sums: Counter[str] = Counter()
    for word, part in drawn(chart, "word", "part"):
        sums[word] += part
    assert dict(sums) == pytest.approx(totals)
    assert totals == {item.label: item.value for item in reading.items}


def test_the_importance_of_a_feature_is_the_mean_size_of_its_part(reading):
    for label, mean in drawn(draw(bars.importance, reading), "feature", "mean"):
        name = {label: name for name, label in FEATURES.items()}[label]
        assert mean == pytest.approx(np.mean([abs(item.get(f"part_{name}")) for item in reading.items]))


def test_weights_stand_with_their_spread_and_stay_between_0_and_1(reading):
    spread = FeatureWeights((0.02, 0.0, 0.98), "pca", (0.05, 0.0, 0.05))
    rows = drawn(
        draw(bars.weights, changed(reading, "repaired", weights={"pca": spread})),
        "form",
        "feature",
        "weight",
        "low",
        "high",
    )
    assert [row[1:] for row in rows if row[0] == "repaired"] == [
        ("PMI", 0.02, 0.0, pytest.approx(0.07)),
        ("cosine", 0.0, 0.0, 0.0),
        ("context", 0.98, pytest.approx(0.93), 1.0),
    ]
    published = [row[2] for row in rows if row[0] == "published"]
    assert sorted(published) == sorted(v for each in reading.details.published.weights.values() for v in each.values)


def test_every_occupation_is_in_one_category_of_each_form(reading):
    rows = drawn(draw(bars.categories, reading), "form", "category", "occupations")
    assert len(rows) == 8
    for title, form in reading.details.forms.items():
        counts = {category: count for at, category, count in rows if at == title}
        assert counts == dict.fromkeys(counts, 0) | form.categories
        assert sum(counts.values()) == len(reading.items)


def test_of_many_occupations_both_ends_are_drawn_and_the_rest_is_counted(reading):
    first = reading.items[0]
    jobs = [first._replace(label=f"job {n}", value=n / 100, group="men") for n in range(75)]
    many = with_items(reading, jobs)
    rows = drawn(draw(bars.scores, many), "word", "score")
    assert [word for word, _ in rows] == [f"job {n}" for n in [*range(74, 44, -1), *range(29, -1, -1)]]
    assert "15 in the middle are not drawn" in " ".join(draw(bars.scores, many).to_dict()["title"]["subtitle"])
