from __future__ import annotations

import numpy as np
import pytest

from tests.planted import SIZE
from tests.probes.words.planted_pairs import JOBS, alternating, model
from tiltmeter import probe


def test_cluster_bias_finds_the_groups_again_only_where_words_cluster_by_their_lean():
    separate = probe("cluster_bias", model(alternating(size=0.9)), cache=False)
    assert separate.effect.value == 1.0
    assert separate.leans == "groups separate"
    # Words cluster by something else that has nothing to do with their lean.
    other = np.eye(SIZE, dtype=np.float32)[1]
    mixed = model(alternating(size=0.1))
    for i, word in enumerate(JOBS):
        mixed[word] = mixed[word] + 3 * other * (1 if i % 4 < 2 else -1)
    reading = probe("cluster_bias", mixed, cache=False)
    assert reading.effect.value == 0.5
    assert reading.leans == "no clear lean"
    assert reading.verdict.state == "undecided"
    assert reading.effect.level == 0.5


def test_cluster_bias_leaves_no_word_out_of_an_odd_list():
    vectors = model(alternating(size=0.9))
    del vectors[JOBS[0]]
    reading = probe("cluster_bias", vectors, cache=False)
    assert reading.n_items == len(reading.items) == len(JOBS) - 1
    assert [left.what for left in reading.left_out] == [f"'{JOBS[0]}' (occupations)"]


def test_neighbour_bias_shows_where_words_stand_among_their_like():
    vectors = model(alternating(size=0.9))
    reading = probe("neighbour_bias", vectors, cache=False)
    assert reading.effect.value > 0.9
    assert reading.leans == "neighbours share the lean"
    assert {item.columns["neighbour_share"] for item in reading.items} == {0.0, 1.0}
    leans = [item.value for item in reading.items]
    shares = [item.columns["neighbour_share"] for item in reading.items]
    assert reading.effect.value == pytest.approx(np.corrcoef(leans, shares)[0, 1])
    level = probe("neighbour_bias", model(alternating(size=0.01)), cache=False)
    assert level.leans == "no clear lean"
    assert level.verdict.state == "undecided"


@pytest.mark.parametrize("kind", ["cluster_bias", "neighbour_bias"])
def test_the_published_test_stands_beside_the_one_against_deals(kind):
    # Noise alone: neighbours in it share every lean, the published test says so, and it means nothing.
    rng = np.random.default_rng(1)
    vectors = model(alternating(size=0.2))
    sheet = rng.normal(size=(3, SIZE))
    for word in JOBS:
        vectors[word] = (rng.normal(size=3) @ sheet + 0.2 * rng.normal(size=SIZE)).astype(np.float32)
    reading = probe(kind, vectors, cache=False)
    assert reading.published is not None
    assert (reading.published.alternative, reading.effect.alternative) == ("two-sided", "greater")
    assert "dealt to the two sides at random" in reading.plain_words
    if kind == "neighbour_bias":
        assert reading.published.p_value < 0.001 < 0.05 < reading.effect.p_value
        assert reading.leans == "no clear lean"
