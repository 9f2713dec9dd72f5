from __future__ import annotations

import dataclasses

from tests.views.mitigated import LESS, outcome, over_splits, result
from tiltmeter.views.charts import inline_svg
from tiltmeter.views.charts.mitigation import dumbbells, gain_and_price, mitigation_figures


def test_a_point_for_every_method_that_was_measured():
    figure = gain_and_price(result())
    values = [layer.data.values for layer in figure.chart.layer]
    assert [point["method"] for point in values[-1]] == ["hard", "leace"]
    assert [(point["left"], point["kept"]) for point in values[-1]] == [(0.5, 0.975), (0.3, 0.975)]
    assert "hard leaves 50% of the lean and keeps 98%" in figure.alt


def test_dumbbells_show_what_decides_and_nothing_that_was_fitted_on():
    figure = dumbbells(result())
    assert figure.alt == "Before and after, on held-out words. hard: 1 of 1 lean less; leace: 1 of 1 lean less."
    svg = inline_svg(figure)
    assert "Career &lt;b&gt;" in svg
    assert "0.40 after: leans less" in svg


def test_charts_are_valid():
    for figure in mitigation_figures(result()):
        figure.chart.to_dict()


def test_nothing_measured_gives_no_chart():
    nothing = dataclasses.replace(outcome("hard"), moved=(), bias_left=None)
    assert mitigation_figures(dataclasses.replace(result(), outcomes=(nothing,))) == []


def test_other_splits_are_small_points_of_their_own():
    figure = gain_and_price(over_splits())
    small = figure.chart.layer[-2].data.values
    assert [(point["method"], point["left"]) for point in small] == [("hard", 0.52), ("leace", 0.33), ("hard", 0.48)]
    figure.chart.to_dict()


def test_every_panel_has_its_readings_in_the_same_order():
    near = dataclasses.replace(LESS, id="near", title="Near", before=0.2, after=0.1)
    methods = (
        dataclasses.replace(outcome("hard"), moved=(near, LESS)),
        dataclasses.replace(outcome("leace"), moved=(LESS, near)),
    )
    panels = dumbbells(dataclasses.replace(result(), outcomes=methods)).chart.vconcat
    orders = [[row["name"] for row in panel.layer[-1].data.values] for panel in panels]
    assert orders == [["Career <b>", "Near"]] * 2
