from __future__ import annotations

import math
import re

from hypothesis import given
from hypothesis import strategies as st

from tests.views.charts.drawn import marks, rows
from tests.views.made import lpbs
from tiltmeter.views.charts import prior, to_svg
from tiltmeter.views.charts.priors import hexagon


def test_the_prior_has_a_panel_for_each_structure():
    one, two = [(0.1, 0.4), (-0.2, 0.3)], [(0.2, 0.4), (-0.3, 0.3)]
    figure = prior(lpbs({"S1": one, "S2": two}))
    assert [(row["prior"], row["added"]) for row in rows(figure, "prior", "word")] == [*one, *two]
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", to_svg(figure.chart))
    assert {"S1", "S2", "◄ women · prior bias · men ►", "◄ women · association · men ►"} <= set(texts)
    assert figure.alt == (
        "Prior bias against association of 4 items on own:one, above 0 towards men, below towards women; means: S1 "
        "prior -0.05, association +0.35; S2 prior -0.05, association +0.35."
    )


def test_the_marginals_count_every_item_once_on_either_side():
    figure = prior(lpbs({"S1": [(n / 10, -n / 20) for n in range(10)]}))
    bars = rows(figure, "from", "to", "items")
    assert sum(row["items"] for row in bars) == 20
    assert all(row["from"] < row["to"] for row in bars)


def test_a_crowd_of_items_is_counted_in_hexagons():
    figure = prior(lpbs({"S1": [(n / 1000, -n / 1000) for n in range(400)], "S2": [(0.01, 0.01)] * 300}))
    counted = [row["items"] for row in rows(figure, "items", "opacity")]
    assert sum(counted) == 700
    assert counted[-1] == 300
    assert "word" not in {key for row in rows(figure) for key in row}
    assert marks(figure) == {"rect", "point"}


@given(st.floats(-50, 50), st.floats(-50, 50))
def test_a_point_lies_in_the_hexagon_that_counts_it(x, y):
    at, up = hexagon(x, y, 2.0)
    # No point of a hexagon is farther from its centre than its corners, and no centre is nearer to the point.
    assert math.dist((x, y), (at, up)) <= 2.0 + 1e-9
    for angle in range(30, 360, 60):
        across, above = (2.0 * math.sqrt(3) * f(math.radians(angle - 30)) for f in (math.cos, math.sin))
        assert math.dist((x, y), (at, up)) <= math.dist((x, y), (at + across, up + above)) + 1e-9


def test_a_reading_without_priors_has_no_such_chart():
    assert prior(lpbs({})) is None
