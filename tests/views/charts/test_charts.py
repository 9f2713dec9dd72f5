from __future__ import annotations

import dataclasses
import functools
import json
import re
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr

from tests.views.made import EVIL, cloze, d, lpbs, reading, share
from tiltmeter.errors import BadInput
from tiltmeter.readings import Reading
from tiltmeter.views.charts import (
    Figure,
    agreement_over_items,
    agreement_over_models,
    effects,
    grid,
    inline_svg,
    of_reading,
    overview,
    prior,
    published_p_values,
    published_values,
    shares,
    to_pdf,
    to_png,
    to_svg,
    write_figures,
)
from tiltmeter.views.charts import (
    cloze as contexts,
)
from tiltmeter.views.charts import (
    drivers as items,
)

READINGS = [
    reading("own:one", "career", d(0.9)),
    reading("own:one", "science", d(-0.3, p=0.4), leans="no clear lean", strength="small"),
    reading("own:two", "career", d(1.2)),
    reading("own:two", "science", d(0.1, p=0.8), leans="no clear lean", strength="negligible"),
]


def rows(figure: Figure, *with_fields: str) -> list[dict[str, Any]]:
    """The rows of data that have all these fields."""
    found = figure.chart.to_dict()["datasets"].values()
    return [row for each in found for row in each if set(with_fields) <= set(row)]


def marks(figure: Figure) -> set[str]:
    """The kinds of marks anywhere in the chart."""
    found = set(re.findall(r'"mark": \{"type": "(\w+)"', json.dumps(figure.chart.to_dict())))
    return found | set(re.findall(r'"mark": \{[^{}]*"type": "(\w+)"', json.dumps(figure.chart.to_dict())))


def many(models: int) -> list[Reading]:
    return [reading(f"own:{n}", id, d(n / 10)) for n in range(models) for id in ("career", "science")]


@functools.cache
def every_figure() -> list[Figure]:
    several = [
        reading("own:one", "career", d(0.9, p=0.2), published=d(0.7, p=0.01), correction="Words are the unit."),
        reading("own:one", "science", d(0.5)),
        reading("own:two", "science", d(0.2)),
        cloze("noun", 0.5, 0.1),
        cloze("combined", 0.6, 0.2),
    ]
    points = [(0.1 * n, -0.05 * n) for n in range(6)]
    one = [*of_reading(several[0]), *of_reading(lpbs({f"S{n}": points for n in range(1, 6)}))]
    return [*overview(several), *one, *overview(many(9))]


def test_effects_hold_the_numbers_of_the_readings():
    figure = effects(READINGS)
    found = rows(figure, "value", "low")
    assert [(r["model"], r["measured"], r["value"], r["low"], r["high"]) for r in found] == [
        ("own:one", "Title of career", 0.9, pytest.approx(0.6), pytest.approx(1.2)),
        ("own:two", "Title of career", 1.2, pytest.approx(0.9), pytest.approx(1.5)),
        ("own:one", "Title of science", -0.3, pytest.approx(-0.6), pytest.approx(0.0)),
        ("own:two", "Title of science", 0.1, pytest.approx(-0.2), pytest.approx(0.4)),
    ]
    assert [row["clear"] for row in found] == [True, True, False, False]
    assert marks(figure) == {"rect", "rule", "point", "text"}
    assert figure.alt == (
        "Effect sizes of 2 models: 4 readings, 2 of them a clear lean; farthest from level is Title of career on "
        "own:two, 1.20 [0.90, 1.50]."
    )


def test_the_bands_begin_at_the_sizes_of_cohen():
    sides = {(row["from"], row["to"]) for row in rows(effects(READINGS), "from", "to")}
    assert sides == {(-0.5, -0.2), (0.2, 0.5), (-0.8, -0.5), (0.5, 0.8), (-2.0, -0.8), (0.8, 2.0)}


def test_what_is_clear_follows_the_corrected_p_values():
    found = rows(effects(READINGS, adjusted=[0.2, 1.0, 0.01, None]), "value", "low")
    assert {(row["model"], row["measured"][9:]): row["clear"] for row in found} == {
        ("own:one", "career"): False,
        ("own:one", "science"): False,
        ("own:two", "career"): True,
        ("own:two", "science"): True,  # a reading without a test has said itself whether it is clear
    }


def test_one_model_has_its_leans_in_words_and_several_a_legend():
    words = [row["words"] for row in rows(effects(READINGS[:2]), "words")]
    assert words == ["men → career, women → family", "no clear lean"]
    assert rows(effects(READINGS), "words") == []
    assert "legend" in json.dumps(effects(READINGS).chart.to_dict()["layer"])


def test_a_model_has_one_colour_in_all_charts():
    mixed = [READINGS[0], reading("own:two", "cloze", share(0.7)), reading("own:one", "pairs", share(0.6))]
    for figure, looks in (
        (effects(mixed), {"own:one": "#0072B2"}),
        (shares(mixed), {"own:one": "#0072B2", "own:two": "#D55E00"}),
    ):
        spec = json.dumps(figure.chart.to_dict())
        assert json.dumps({"domain": list(looks), "range": list(looks.values())}) in spec


def test_of_many_models_each_is_a_point_without_an_interval():
    figure = effects(many(6))
    assert len(rows(figure, "value", "model")) == 12
    assert "low:Q" not in figure.chart.to_json()
    assert '"x2"' in effects(many(5)).chart.to_json()
    assert not re.search(r'"field": "low"', figure.chart.to_json())


def test_the_axis_reaches_as_far_as_the_widest_interval():
    for shown, end in ((READINGS, 2.0), ([reading(effect=d(2.4, half=0.8))], 3.5)):
        assert f'"domain": [-{end}, {end}]' in json.dumps(effects(shown).chart.to_dict())


def test_shares_are_level_at_one_half_and_are_no_effect_sizes():
    found = [reading(id="cloze", effect=share(0.7), strength="")]
    assert effects(found) is None
    assert '"domain": [0.0, 1.0]' in json.dumps(shares(found).chart.to_dict())
    # Cohen's h of .5 is a share of .74.
    assert any(row["to"] == pytest.approx(0.8586780454) for row in rows(shares(found), "from", "to"))
    assert shares(READINGS) is None


def test_readings_of_one_title_have_rows_of_their_own():
    twice = [READINGS[0], dataclasses.replace(READINGS[0], id="again")]
    assert [row["measured"] for row in rows(effects(twice), "value", "low")] == [
        "Title of career (career)",
        "Title of career (again)",
    ]


def test_the_grid_brings_statistics_to_one_scale():
    mixed = [*READINGS, reading("own:two", "cloze", share(0.74)), reading("own:two", "mac", d(0.7))]
    mixed[-1] = dataclasses.replace(
        mixed[-1], effect=dataclasses.replace(mixed[-1].effect, name="mean cosine distance")
    )
    found = {(row["model"], row["measured"][9:]): row.get("d") for row in rows(grid(mixed), "says", "text")}
    assert found["own:one", "career"] == 0.9
    assert found["own:two", "cloze"] == pytest.approx(0.5006, abs=1e-3)
    assert found["own:two", "mac"] is None
    assert grid(READINGS[:2]) is None
    assert grid(mixed).keeps_colours


def test_items_are_sorted_and_their_ends_are_in_the_words():
    figure = items(READINGS[0])
    assert [(row["label"], row["value"]) for row in rows(figure, "label", "value")] == [
        ("he", 0.4),
        ("him", 0.2),
        ("son", 0.1),
        ("aunt", 0.05),
        ("boy", -0.1),
        ("girl", -0.2),
        ("her", -0.3),
        ("she", -0.4),
    ]
    assert "from he (+0.40) to she (-0.40)" in figure.alt
    assert marks(figure) == {"rule", "point", "text"}


def test_of_many_items_both_ends_are_drawn_and_the_rest_is_counted():
    some = tuple({"word": f"word {n}", "group": "all", "lean": n / 10} for n in range(100))
    figure = items(dataclasses.replace(READINGS[0], items=some))
    shown = [row["label"] for row in rows(figure, "label", "value")]
    assert shown == [f"word {n}" for n in [*range(99, 79, -1), *range(19, -1, -1)]]
    assert "60 in the middle are not drawn" in json.dumps(figure.chart.to_dict()["title"])


def test_the_prior_has_a_panel_for_each_structure():
    points = [(0.1, 0.4), (-0.2, 0.3)]
    figure = prior(lpbs({"S1": points, "S2": points}))
    spec = figure.chart.to_dict()
    assert spec["facet"]["field"] == "structure"
    assert spec["facet"]["sort"] == ["S1", "S2"]
    assert [(r["prior"], r["corrected"], r["structure"]) for r in rows(figure, "prior")] == [
        (0.1, 0.4, "S1"),
        (-0.2, 0.3, "S1"),
        (0.1, 0.4, "S2"),
        (-0.2, 0.3, "S2"),
    ]
    assert "S1 prior -0.05, corrected +0.35" in figure.alt


def test_a_crowd_of_items_is_counted_in_cells():
    figure = prior(lpbs({"S1": [(n / 1000, -n / 1000) for n in range(400)], "S2": [(0.01, 0.01)] * 300}))
    counted = rows(figure, "items")
    assert sum(row["items"] for row in counted if row["structure"] == "S1") == 400
    assert [row["items"] for row in counted if row["structure"] == "S2"] == [300]
    assert marks(figure) == {"rect"}


def test_contexts_show_the_published_share_beside_the_corrected():
    figure = contexts([cloze("combined", 0.5, 0.2), cloze("noun", 0.6, 0.1)])
    assert {(r["context"], r["form"]): r["share"] for r in rows(figure, "share", "form")} == {
        ("combined", "as published"): 0.2,
        ("combined", "corrected"): 0.5,
        ("noun", "as published"): 0.1,
        ("noun", "corrected"): 0.6,
    }
    assert "noun 10% as published and 60% corrected" in figure.alt
    assert contexts(READINGS) is None


def test_published_numbers_are_drawn_where_they_differ():
    same = reading(id="same", effect=d(0.5), published=d(0.5, p=0.0001))
    other = reading(id="other", effect=d(0.5, p=0.2), published=d(0.9, p=0.01))
    figure = published_values([same, other])
    assert [(r["published"], r["corrected"]) for r in rows(figure, "published")] == [(0.9, 0.5)]
    p = published_p_values([same, other])
    assert [(r["published"], r["corrected"]) for r in rows(p, "published")] == [(0.01, 0.2), (0.0001, 0.001)]
    assert "1 of them are below 0.05 only as published" in p.alt
    assert published_values([same]) is None


def test_agreement_over_words_is_a_rank_correlation():
    base = READINGS[0]
    reverse = tuple({**row, "lean": -row["lean"]} for row in base.items)
    few = tuple(base.items[:3])
    (figure,) = agreement_over_items(
        [
            base,
            dataclasses.replace(base, id="b", title="B", items=reverse),
            dataclasses.replace(base, id="c", title="C", items=few),
        ]
    )
    (pair,) = rows(figure, "rho")
    assert pair["rho"] == pytest.approx(-1.0)
    assert "over 8 words" in figure.alt


def test_the_rank_correlation_is_scipys_with_ties_too():
    base, rng = READINGS[0], np.random.default_rng(0)
    one, two = rng.integers(0, 6, 30), rng.integers(0, 6, 30)
    readings = [
        dataclasses.replace(
            base, id=id, title=id, items=tuple({"word": str(n), "lean": float(x)} for n, x in enumerate(xs))
        )
        for id, xs in (("a", one), ("b", two))
    ]
    (figure,) = agreement_over_items(readings)
    assert rows(figure, "rho")[0]["rho"] == pytest.approx(spearmanr(one, two).statistic, abs=1e-12)
    same = dataclasses.replace(readings[1], items=tuple({**row, "lean": 1.0} for row in readings[1].items))
    assert agreement_over_items([readings[0], same]) == []  # a measure that says the same of all ranks nothing


def test_agreement_over_models_needs_eight_of_them():
    assert agreement_over_models(many(7)) is None
    (pair,) = rows(agreement_over_models(many(8)), "rho")
    assert pair["rho"] == pytest.approx(1.0)


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


def test_markup_in_names_and_words_is_text_in_every_chart():
    spoilt = [
        dataclasses.replace(
            each,
            title=f"{EVIL} {each.id}",
            model=f"{EVIL} {each.model}",
            leans=EVIL,
            items=tuple({**row, "word": f"{EVIL} {row['word']}", "group": EVIL} for row in each.items),
        )
        for each in [*READINGS, cloze("noun", 0.5, 0.1)]
    ]
    for figure in [*overview(spoilt), *of_reading(spoilt[0])]:
        svg = inline_svg(figure)
        assert "<script" not in svg
        assert "&lt;script&gt;" in svg
        assert "\\1" in svg  # nothing of it was taken for a pattern


def test_charts_are_written_as_files_with_their_words(tmp_path):
    named = [("own:one ../../career", effects(READINGS)), ("own:one //career", items(READINGS[0]))]
    written = write_figures(named, tmp_path, format="svg")
    assert [path.name for path in written] == ["own-one-career.svg", "own-one-career-2.svg"]
    assert all(path.parent == tmp_path for path in written)
    assert "own-one-career.svg: Effect sizes of 2 models" in (tmp_path / "alt.txt").read_text(encoding="utf-8")
    with pytest.raises(BadInput, match="unknown format of charts 'jpg'"):
        write_figures(named, tmp_path, format="jpg")


def test_a_chart_becomes_a_page_of_a_paper():
    assert to_pdf(items(READINGS[0]).chart).startswith(b"%PDF")
