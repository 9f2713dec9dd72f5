from __future__ import annotations

import re

import altair as alt
import pytest

from tests.views.charts.drawn import READINGS
from tests.views.made import lpbs
from tiltmeter.errors import BadInput, TiltmeterError
from tiltmeter.views.charts import FORMATS, Figure, effects, inline_svg, items, prior, style, write_figures


def test_a_chart_becomes_a_page_of_a_paper():
    assert FORMATS["pdf"](items(READINGS[0]).chart).startswith(b"%PDF")


def test_a_long_text_is_cut_and_a_longer_one_is_wrapped():
    assert style.short("The programmer", 5) == "The…"
    assert style.short("The", 5) == "The"
    assert style.wrapped("one two three", 7) == ["one two", "three"]
    assert style.wrapped("", 7) == [""]


def test_every_name_has_a_colour_and_a_shape_and_after_the_last_comes_the_first():
    look = style.look_of("group", list("abcdef"), orient="top")
    colour, shape = (look[name].to_dict() for name in ("color", "shape"))
    assert colour["scale"] == {"domain": list("abcdef"), "range": [*style.GROUP_COLOURS, style.GROUP_COLOURS[0]]}
    assert shape["scale"]["range"] == [*style.GROUP_SHAPES, style.GROUP_SHAPES[0]]
    assert colour["legend"] == shape["legend"] == {"title": None, "orient": "top"}
    assert style.look_of("group", ["a"])["color"].to_dict()["legend"] is None


def test_a_mark_of_an_inline_chart_speaks_under_the_mouse():
    svg = inline_svg(effects(READINGS))
    assert (
        "<title>own:two, Title of career: effect size d 1.20 [0.90, 1.50]; men → career, women → family</title>" in svg
    )
    assert svg.count("<title>") == 4
    assert 'role="img" aria-label="Effect sizes of 2 models' in svg
    assert "aria-roledescription" not in svg


def test_the_same_chart_is_the_same_text_and_no_two_share_a_clip():
    readings = [lpbs({"S1": [(0.01 * n, shift + 0.02 * (n % 7)) for n in range(150)]}) for shift in (0.0, 0.1)]
    one, two = map(prior, readings)
    ids = [re.findall(r'id="([^"]+)"', inline_svg(each)) for each in (one, two, one)]
    assert ids[0]
    assert ids[0] == ids[2]
    assert not set(ids[0]) & set(ids[1])
    assert f"url(#{ids[0][0]})" in inline_svg(one)


def test_charts_are_written_as_files_with_their_words(tmp_path):
    named = [("own:one ../../career", effects(READINGS)), ("own:one //career", items(READINGS[0]))]
    written = write_figures(named, tmp_path, format="svg")
    assert [path.name for path in written] == ["own-one-career.svg", "own-one-career-2.svg"]
    assert all(path.parent == tmp_path for path in written)
    assert "own-one-career.svg: Effect sizes of 2 models" in (tmp_path / "alt.txt").read_text(encoding="utf-8")
    with pytest.raises(BadInput, match="unknown format of charts 'jpg'"):
        write_figures(named, tmp_path, format="jpg")


def test_where_the_renderer_may_not_reserve_its_addresses_a_page_has_the_words_and_a_file_is_refused(
    monkeypatch, tmp_path
):
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (8_000_000_000, resource.RLIM_INFINITY))
    figure = Figure("x", "X", "Nurses <lean> & cooks do not.", alt.Chart(alt.Data(values=[{"a": 1}])).mark_bar())
    svg = inline_svg(figure)
    assert svg.startswith("<svg ")
    assert "Nurses &lt;lean&gt; &amp; cooks do not. (Not drawn: the renderer reserves 66 GB of addresses" in svg
    assert "ulimit -v allows 8 GB.)" in svg
    for format in FORMATS:
        with pytest.raises(TiltmeterError, match=r"no chart can be drawn: .* allows 8 GB: raise it"):
            write_figures([("x", figure)], tmp_path, format=format)
    assert list(tmp_path.iterdir()) == []
