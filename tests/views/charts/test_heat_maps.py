from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.stats import spearmanr

from tests.views.charts.drawn import READINGS, many, rows
from tests.views.made import reading, share, words
from tiltmeter.readings import DISTANCE, Estimate
from tiltmeter.views.charts import agreement_over_items, agreement_over_models, grid


def test_the_grid_brings_statistics_to_one_scale():
    distance = reading("own:two", "mac", Estimate("mean cosine distance", 0.7, DISTANCE))
    mixed = [*READINGS, reading("own:two", "cloze", share(0.74)), distance]
    found = {(row["model"], row["measured"][9:]): row.get("d") for row in rows(grid(mixed), "says", "text")}
    assert found["own:one", "career"] == 0.9
    assert found["own:two", "cloze"] == pytest.approx(0.5006, abs=1e-3)
    assert found["own:two", "mac"] is None
    assert grid(READINGS[:2]) is None
    assert grid(mixed).keeps_colours


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
