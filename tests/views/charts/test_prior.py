from __future__ import annotations

from tests.views.charts.drawn import marks, rows
from tests.views.made import lpbs
from tiltmeter.views.charts import prior


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
