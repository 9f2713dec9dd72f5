"""The figures of a paper: what they draw, and when there is none."""

from __future__ import annotations

import dataclasses

import pytest

from tests.views.charts.drawn import rows
from tests.views.paper import COMPARED, drawn
from tiltmeter.readings.paper_tables import Drawn
from tiltmeter.views.charts.paper_figures import paper_figure
from tiltmeter.views.charts.style import to_svg


@pytest.mark.parametrize(("kind", "marks"), [("bars", {"bar", "rule"}), ("strips", {"boxplot"}), ("lines", {"line"})])
def test_a_figure_draws_our_numbers_and_none_that_are_printed(kind: Drawn, marks: set[str]) -> None:
    figure = paper_figure(drawn(kind))
    assert figure is not None
    found = {(row["row"], row["column"]): row["value"] for row in rows(figure, "row", "column", "value")}
    assert found == {("nurse", "male"): -0.5, ("nurse", "female"): 1.5, ("pilot", "male"): 2.0, ("pilot", "female"): -1}
    assert figure.alt == "Figure 4, PMI: 4 numbers from -1.00 to 2.00."
    assert all(f'"type": "{mark}"' in figure.chart.to_json() for mark in marks)
    assert "nurse" in to_svg(figure.chart) or "care" in to_svg(figure.chart)


def test_there_is_no_figure_of_a_table_or_of_nothing_measured() -> None:
    assert paper_figure(COMPARED) is None
    only_printed = tuple(row for row in drawn("bars").rows if row.printed)
    assert paper_figure(dataclasses.replace(drawn("bars"), rows=only_printed)) is None
