from __future__ import annotations

import dataclasses
import functools
import re

from tests.views.charts.drawn import READINGS, many
from tests.views.made import EVIL, cloze, d, lpbs, reading
from tiltmeter.readings import Poles
from tiltmeter.views.charts import Figure, inline_svg, of_reading, overview, to_png, to_svg


@functools.cache
def every_figure() -> list[Figure]:
    several = [
        reading("own:one", "career", d(0.9, p=0.2), published=d(0.7, p=0.01), repair="Words are the unit."),
        reading("own:one", "science", d(0.5)),
        reading("own:two", "science", d(0.2)),
        cloze("noun", 0.5, 0.1),
        cloze("combined", 0.6, 0.2),
    ]
    points = [(0.1 * n, -0.05 * n) for n in range(6)]
    one = [*of_reading(several[0]), *of_reading(lpbs({f"S{n}": points for n in range(1, 6)}))]
    return [*overview(several), *one, *overview(many(9))]


def test_the_registry_gives_what_applies_and_names_no_two_alike():
    names = [figure.name for figure in overview(READINGS)]
    assert names == ["effects", "grid", "agreement-1", "agreement-2"]
    assert overview([]) == []
    assert [figure.name for figure in of_reading(lpbs({"": [(0.1, 0.2), (0.0, 0.1)]}))] == ["prior", "items"]
    assert of_reading(dataclasses.replace(READINGS[0], items=())) == []


def test_every_chart_becomes_svg_and_a_picture_and_has_words():
    figures = every_figure()
    assert {figure.name for figure in figures} == {
        "effects", "shares", "grid", "published-values", "published-p-values", "contexts", "agreement-1",
        "agreement-models", "items", "prior",
    }  # fmt: skip
    for figure in {figure.name: figure for figure in figures}.values():
        figure.chart.to_dict()  # checked against the grammar
        svg = to_svg(figure.chart)
        assert svg.startswith("<svg")
        assert not re.search(r"NaN|undefined|<script|null", svg)
        assert to_png(figure.chart, scale=1).startswith(b"\x89PNG")
        # Wide enough to be read, narrow enough for half a page.
        assert float(re.search(r'width="([\d.]+)"', svg)[1]) <= 700, figure.name
        assert figure.title
        assert figure.alt.endswith(".")
        assert re.search(r"\d", figure.alt)


def test_markup_in_names_and_words_is_text_in_every_chart():
    spoilt = [
        dataclasses.replace(
            each,
            title=f"{EVIL} {each.id}",
            model=f"{EVIL} {each.model}",
            poles=Poles(EVIL, EVIL),
            items=tuple(dataclasses.replace(item, unit=f"{EVIL} {item.unit}", group=EVIL) for item in each.items),
        )
        for each in [*READINGS, cloze("noun", 0.5, 0.1)]
    ]
    for figure in [*overview(spoilt), *of_reading(spoilt[0])]:
        svg = inline_svg(figure)
        assert "<script" not in svg
        assert "&lt;script&gt;" in svg
        assert "\\1" in svg  # nothing of it was taken for a pattern
