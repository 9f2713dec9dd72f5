from __future__ import annotations

import dataclasses
import json

from tests.views.charts.drawn import READINGS, marks, rows
from tests.views.made import lpbs, words
from tiltmeter.views.charts import items, prior


def test_items_are_sorted_and_their_ends_are_in_the_words():
    figure = items(READINGS[0])
    assert [(row["label"], row["value"]) for row in rows(figure, "label", "value")] == [
        ("he", 0.4),
        ("him", 0.2),
        ("son", 0.1),
        ("aunt", 0.05),
        ("boy", -0.1),
        ("girl", -0.2),
        ("her", -0.3),
        ("she", -0.4),
    ]
    assert "from he (+0.40) to she (-0.40)" in figure.alt
    assert "positive: towards career, negative: towards family" in figure.alt
    assert marks(figure) == {"rule", "point", "text"}


def test_of_many_items_both_ends_are_drawn_and_the_rest_is_counted():
    some = words([(f"word {n}", n / 10) for n in range(100)])
    figure = items(dataclasses.replace(READINGS[0], items=some))
    shown = [row["label"] for row in rows(figure, "label", "value")]
    assert shown == [f"word {n}" for n in [*range(99, 79, -1), *range(19, -1, -1)]]
    assert "60 in the middle are not drawn" in json.dumps(figure.chart.to_dict()["title"])


def test_the_prior_has_a_panel_for_each_structure():
    points = [(0.1, 0.4), (-0.2, 0.3)]
    figure = prior(lpbs({"S1": points, "S2": points}))
    spec = figure.chart.to_dict()
    assert "right: the sentence alone expects men" in " ".join(spec["title"]["subtitle"])
    assert spec["facet"]["field"] == "structure"
    assert spec["facet"]["sort"] == ["S1", "S2"]
    assert [(r["prior"], r["added"], r["structure"]) for r in rows(figure, "prior")] == [
        (0.1, 0.4, "S1"),
        (-0.2, 0.3, "S1"),
        (0.1, 0.4, "S2"),
        (-0.2, 0.3, "S2"),
    ]
    assert "S1 prior -0.05, association +0.35" in figure.alt


def test_a_crowd_of_items_is_counted_in_cells():
    figure = prior(lpbs({"S1": [(n / 1000, -n / 1000) for n in range(400)], "S2": [(0.01, 0.01)] * 300}))
    counted = rows(figure, "items")
    assert sum(row["items"] for row in counted if row["structure"] == "S1") == 400
    assert [row["items"] for row in counted if row["structure"] == "S2"] == [300]
    assert marks(figure) == {"rect"}
