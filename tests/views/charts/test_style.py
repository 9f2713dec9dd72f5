from __future__ import annotations

from tests.views.charts.drawn import READINGS
from tiltmeter.views.charts import items, to_pdf


def test_a_chart_becomes_a_page_of_a_paper():
    assert to_pdf(items(READINGS[0]).chart).startswith(b"%PDF")
