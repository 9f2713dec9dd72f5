from __future__ import annotations

import dataclasses
import functools
import re
import zlib
from collections.abc import Sequence
from importlib.resources import files

import altair as alt
import numpy as np
import pytest

from tests.planted import vector
from tests.reference import reference_model
from tests.views.cabm_reading import measured
from tests.views.charts.cabm.test_cabm import NAMES as CABM
from tests.views.charts.drawn import READINGS, many
from tests.views.charts.test_by_group import religion
from tests.views.charts.test_relations import labour
from tests.views.made import EVIL, cloze, d, lpbs, reading
from tests.views.made import audit as audit_of
from tiltmeter import audit
from tiltmeter.compare import compare
from tiltmeter.readings import STATES, Poles, Reading
from tiltmeter.readings.studies import ContextLength, LengthCurve, LengthPoint
from tiltmeter.run.suite import load_suite
from tiltmeter.statistics import Interval
from tiltmeter.views.charts import (
    FORMATS,
    Figure,
    by_group,
    dumbbells,
    inline_svg,
    interval,
    of_reading,
    overview,
    prior,
    relation,
    to_svg,
)
from tiltmeter.views.charts.cabm import cabm_figures
from tiltmeter.views.charts.lab import context_lengths
from tiltmeter.views.charts.shades import PAGES, contrast, shade


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
    crowd = [(0.01 * n, 0.02 * (n % 17)) for n in range(150)]
    one = [*of_reading(several[0]), *of_reading(lpbs({f"S{n}": points for n in range(1, 6)})), prior(lpbs({"": crowd}))]
    study = ContextLength((LengthCurve("own:one", "ceat", tuple(map(_length, ("9", "25", ">75"))), None, ""),))
    more = [relation(labour()), by_group(religion()), context_lengths(study)]
    more += dumbbells(compare(audit_of(*READINGS[:2]), audit_of(*READINGS[2:])).pairs)
    return [*overview(several), *one, *more, *overview(many(9)), *cabm_figures(measured())]


def _length(length: str) -> LengthPoint:
    return LengthPoint(length, 0.4, Interval(0.1, 0.7, 0.95, "given"), 0.02, 0.5, 0.001, 10, 100)


def test_the_registry_gives_what_applies_and_names_no_two_alike():
    names = [figure.name for figure in overview(READINGS)]
    assert names == ["grid", "effects", "agreement-1", "agreement-2"]
    assert overview([]) == []
    assert [figure.name for figure in of_reading(lpbs({"": [(0.1, 0.2), (0.0, 0.1)]}))] == ["prior", "items"]
    assert of_reading(dataclasses.replace(READINGS[0], items=())) == []


def test_every_chart_becomes_svg_and_a_picture_and_has_words():
    figures = every_figure()
    assert {figure.name for figure in figures} == {
        "effects", "shares", "grid", "published-values", "published-p-values", "contexts", "agreement-1",
        "agreement-models", "items", "prior", "relation", "groups", "context-length", "dumbbells-1",
        *(f"cabm-{name}" for name in CABM),
    }  # fmt: skip
    for figure in {figure.name: figure for figure in figures}.values():
        figure.chart.to_dict()  # checked against the grammar
        svg = to_svg(figure.chart)
        assert svg.startswith("<svg")
        assert not re.search(r"NaN|undefined|<script|null", svg)
        assert FORMATS["png"](figure.chart).startswith(b"\x89PNG")
        # Narrow enough for a telephone, where two thirds of it fit a page of 342 pixels.
        assert float(re.search(r'width="([\d.]+)"', svg)[1]) <= 342 / 0.66, figure.name
        assert figure.title
        assert figure.alt.endswith(".")
        assert re.search(r"\d", figure.alt)


def test_the_words_of_no_chart_say_positive_for_a_group():
    for figure in every_figure():
        words = [figure.alt, *re.findall(r"<(?:text|title|tspan)[^>]*>([^<]*)<", inline_svg(figure))]
        assert not [text for text in words if re.search("positive|negative|above level|below level", text)], figure.name


def test_every_colour_of_a_chart_can_be_seen_on_a_dark_page():
    """The page gives it a counterpart, or it stands out from both papers as it is."""
    css = (files("tiltmeter.views") / "templates" / "page.css").read_text(encoding="utf-8")
    for figure in every_figure():
        svg = inline_svg(figure)
        for kind, colour in set(re.findall(r'(fill|stroke)="(#[0-9a-fA-F]{6}|white)"', svg)):
            turned = f'.turns [{kind}="{colour}"]' in css
            # Behind the number of a cell, or in it: what that asks for is tested with the shades.
            cell = colour in {look.fill for look in SHADES} | {look.ink for look in SHADES}
            assert turned or cell or all(contrast(colour, paper) >= 2.1 for paper, _ in PAGES), (figure.name, colour)


#: The looks of all cells that are not as dark as the page.
SHADES = [shade(step, sign, state) for step in range(4) for sign in (-1, 1) for state in STATES]


def test_markup_in_names_and_words_is_text_in_every_chart():
    spoilt = [
        dataclasses.replace(
            each,
            title=f"{EVIL} {each.id}",
            model=f"{EVIL} {each.model}",
            poles=Poles(EVIL, EVIL),
            items=tuple(item._replace(unit=f"{EVIL} {item.unit}", group=EVIL) for item in each.items),
        )
        for each in [*READINGS, cloze("noun", 0.5, 0.1)]
    ]
    for figure in [*overview(spoilt), *of_reading(spoilt[0])]:
        svg = inline_svg(figure)
        assert "<script" not in svg
        assert "&lt;script&gt;" in svg
        assert "\\1" in svg  # nothing of it was taken for a pattern


class Vectors:
    """A model that has a vector for every word and text, with a lean that is the item's own."""

    def embed_words(self, words: Sequence[str]) -> list[np.ndarray]:
        return [vector(word, (zlib.crc32(word.encode()) % 100 - 50) / 100) for word in words]

    embed_texts = embed_words


@functools.cache
def default_suite() -> dict[str, Reading]:
    """A reading of every probe of the default suite, by its id: from planted vectors, or from a masked model."""
    suite = load_suite("default")
    vectors = audit(Vectors(), suite=suite, permutations=100, cache=False, progress=False)
    measured = {reading.id: reading for reading in vectors.readings}
    rest = dataclasses.replace(suite, probes=tuple(probe for probe in suite.probes if probe.id not in measured))
    masked = audit(f"hf:{reference_model(0.9)}", suite=rest, permutations=100, cache=False, progress=False)
    return measured | {reading.id: reading for reading in masked.readings}


@pytest.mark.parametrize("id", [probe.id for probe in load_suite("default").probes])
def test_a_reading_of_every_probe_of_the_default_suite_shows_a_chart(id):
    reading = default_suite()[id]
    chart = reading.chart()
    assert isinstance(chart, alt.TopLevelMixin)
    chart.to_dict()  # checked against the grammar
    svg = to_svg(chart)
    assert svg.startswith("<svg")
    assert not re.search(r"NaN|undefined|null", svg)
    # It is one that the report shows: of this reading, of its contexts, or of its effect where it has no items.
    figures = [*of_reading(reading), *overview([reading]), interval(reading)]
    assert chart.to_dict() in [figure.chart.to_dict() for figure in figures]


def test_the_kind_of_chart_follows_what_the_reading_has():
    several = {"items": READINGS[0], "interval": dataclasses.replace(READINGS[0], items=())}
    several |= {"contexts": cloze("noun", 0.5, 0.1), "prior": lpbs({"S1": [(0.1, 0.2), (0.3, -0.1)]})}
    for name, each in several.items():
        figures = {figure.name: figure for figure in [*overview([each]), *of_reading(each), interval(each)]}
        assert each.chart().to_dict() == figures[name].chart.to_dict(), name
