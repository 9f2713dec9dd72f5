from __future__ import annotations

import pytest

from tests.views.charts.drawn import READINGS, rows
from tests.views.made import reading, share
from tiltmeter.readings import DISTANCE, Estimate
from tiltmeter.views.charts import grid


def test_the_grid_brings_statistics_to_one_scale():
    distance = reading("own:two", "mac", Estimate("mean cosine distance", 0.7, DISTANCE))
    mixed = [*READINGS, reading("own:two", "cloze", share(0.74)), distance]
    found = {(row["model"], row["measured"][9:]): row.get("d") for row in rows(grid(mixed), "says", "text")}
    assert found["own:one", "career"] == 0.9
    assert found["own:two", "cloze"] == pytest.approx(0.5006, abs=1e-3)
    assert found["own:two", "mac"] is None
    assert grid(READINGS[:2]) is None
    assert grid(mixed).keeps_colours
