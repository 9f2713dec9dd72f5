from __future__ import annotations

from tests.views.charts.drawn import READINGS
from tiltmeter.views.charts import items, style
from tiltmeter.views.charts.style import to_pdf


def test_a_chart_becomes_a_page_of_a_paper():
    assert to_pdf(items(READINGS[0]).chart).startswith(b"%PDF")


def test_a_long_text_is_cut_and_a_longer_one_is_wrapped():
    assert style.short("The programmer", 5) == "The…"
    assert style.short("The", 5) == "The"
    assert style.wrapped("one two three", 7) == ["one two", "three"]
    assert style.wrapped("", 7) == [""]


def test_every_name_has_a_colour_and_a_shape_and_after_the_last_comes_the_first():
    look = style.look_of("group", list("abcdef"), orient="top")
    colour, shape = (look[name].to_dict() for name in ("color", "shape"))
    assert colour["scale"] == {"domain": list("abcdef"), "range": [*style.COLOURS, style.COLOURS[0]]}
    assert shape["scale"]["range"] == [*style.SHAPES, style.SHAPES[0]]
    assert colour["legend"] == shape["legend"] == {"title": None, "orient": "top"}
    assert style.look_of("group", ["a"])["color"].to_dict()["legend"] is None
