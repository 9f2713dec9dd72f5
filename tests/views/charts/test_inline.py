from __future__ import annotations

import re

from tests.views.charts.drawn import READINGS
from tiltmeter.views.charts import effects, grid, inline_svg


def test_a_mark_of_an_inline_chart_speaks_under_the_mouse():
    svg = inline_svg(effects(READINGS))
    assert (
        "<title>own:two, Title of career: effect size d 1.20 [0.90, 1.50]; men → career, women → family</title>" in svg
    )
    assert svg.count("<title>") == 4
    assert 'role="img" aria-label="Effect sizes of 2 models' in svg
    assert "aria-roledescription" not in svg


def test_the_same_chart_is_the_same_text_and_no_two_share_a_gradient():
    one, two = grid(READINGS), grid(READINGS[::-1])
    ids = [re.findall(r'id="([^"]+)"', inline_svg(each)) for each in (one, two, one)]
    assert ids[0] == ids[2]
    assert not set(ids[0]) & set(ids[1])
    assert f"url(#{ids[0][0]})" in inline_svg(one)
