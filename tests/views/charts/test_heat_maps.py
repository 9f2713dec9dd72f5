from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.stats import spearmanr

from tests.views.charts.drawn import READINGS, many, rows
from tests.views.made import d, reading, share, words
from tiltmeter.readings import DISTANCE, Correction, Estimate
from tiltmeter.views.charts import agreement_over_items, agreement_over_models, grid, inline_svg
from tiltmeter.views.charts.shades import Shade, least_contrast


def test_the_grid_brings_statistics_to_one_scale():
    distance = reading("own:two", "mac", Estimate("mean cosine distance", 0.7, DISTANCE))
    mixed = [*READINGS, reading("own:two", "cloze", share(0.74)), distance]
    found = {(row["model"], row["measured"][9:]): row.get("d") for row in rows(grid(mixed), "says", "text")}
    assert found["own:one", "career"] == 0.9
    assert found["own:two", "cloze"] == pytest.approx(0.5006, abs=1e-3)
    assert found["own:two", "mac"] is None
    assert grid(READINGS[:2]) is None


def test_every_row_of_the_grid_says_which_way_its_colour_points():
    figure = grid(READINGS)
    assert [(row["lines"], row["way"]) for row in rows(figure, "way", "top") if "state" not in row] == [
        (["Title of career"], ["men → career"]),
        (["Title of science"], ["men → career"]),
    ]
    svg = inline_svg(figure)
    for word in ("clear", "undecided", "◄ the other way round", "as the words say ►", "large"):
        assert f">{word}</text>" in svg
    assert figure.alt == (
        "Heat map of 2 models and 2 probes, 4 readings: 2 clear, 2 undecided. Most clear leans are on own:one (1); the "
        "largest is Title of career on own:two, men → career, women → family (1.20 [0.90, 1.50])."
    )


def test_colour_fades_with_doubt_and_level_has_none():
    states = {"clear": (0.9, 0.3, 0.001), "suggestive": (0.9, 0.3, 0.03), "undecided": (0.9, 1.2, 0.4)}
    shown = [reading("own:one", id, d(value, half=half, p=p)) for id, (value, half, p) in states.items()]
    shown.append(reading("own:two", "level", d(0.01, half=0.1, p=0.9)))
    corrected = [
        dataclasses.replace(each, correction=Correction(min(1.0, 3 * each.effect.p_value), 3)) for each in shown
    ]
    opacity = {row["state"]: row["opacity"] for row in rows(grid(corrected), "opacity", "text")}
    assert opacity["clear"] > opacity["suggestive"] > opacity["undecided"] > opacity["level"] == 0


def test_the_text_of_every_cell_can_be_read_on_a_light_page_and_on_a_dark_one():
    values = [sign * (0.1 + 0.2 * n) for n in range(6) for sign in (-1, 1)]
    p_values = (0.001, 0.03, 0.4)
    shown = [
        dataclasses.replace(
            reading(f"own:{n}", f"{value:.1f}", d(value, half=1.5, p=p)), correction=Correction(min(1.0, 3 * p), 3)
        )
        for n, p in enumerate(p_values)
        for value in values
    ]
    cells = rows(grid(shown), "fill", "opacity", "ink", "text")
    assert len(cells) == 36
    for cell in cells:
        assert least_contrast(Shade(cell["fill"], cell["opacity"], cell["ink"])) >= 4.5, cell


def test_agreement_over_words_is_a_rank_correlation():
    base = READINGS[0]
    reverse = tuple(item._replace(value=-item.value) for item in base.items)
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
        dataclasses.replace(base, id=id, title=id, items=words([(str(n), float(x)) for n, x in enumerate(xs)]))
        for id, xs in (("a", one), ("b", two))
    ]
    (figure,) = agreement_over_items(readings)
    assert rows(figure, "rho")[0]["rho"] == pytest.approx(spearmanr(one, two).statistic, abs=1e-12)
    same = dataclasses.replace(readings[1], items=tuple(item._replace(value=1.0) for item in readings[1].items))
    assert agreement_over_items([readings[0], same]) == []  # a measure that says the same of all ranks nothing


def test_agreement_over_models_needs_eight_of_them():
    assert agreement_over_models(many(7)) is None
    (pair,) = rows(agreement_over_models(many(8)), "rho")
    assert pair["rho"] == pytest.approx(1.0)
