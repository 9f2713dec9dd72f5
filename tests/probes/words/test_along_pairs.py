from __future__ import annotations

import numpy as np
import pytest

from tests.planted import SIZE, stacked, vector
from tiltmeter import measures, probe
from tiltmeter.stimuli import group, pairs

JOBS = group("occupations.all").texts
PAIRS = pairs("gender.definitional")


def couples() -> dict[str, np.ndarray]:
    """The two words of a pair differ in the axis alone; the first is at +."""
    found = {}
    for one, two in PAIRS.pairs:
        found[one], found[two] = vector(one, 0.6), vector(one, 0.6)
        found[two] = found[two] * np.where(np.arange(SIZE) == 0, -1, 1).astype(np.float32)
    return found


def model(leans: list[float]) -> dict[str, np.ndarray]:
    return {word: vector(word, lean) for word, lean in zip(JOBS, leans, strict=True)} | couples()


def alternating(lean: float = 0.0, size: float = 0.2) -> list[float]:
    return [lean + size * (-1) ** i for i in range(len(JOBS))]


def sides(vectors: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    return stacked(vectors, [one for one, _ in PAIRS.pairs]), stacked(vectors, [two for _, two in PAIRS.pairs])


@pytest.mark.parametrize(
    ("lean", "leans", "says"),
    [
        (0.3, "occupations → female", "lean to female"),
        (-0.3, "occupations → male", "lean to male"),
        (0.0, "no clear lean", "lean neither way clearly"),
    ],
)
def test_ripa_names_the_side_of_the_pairs_that_words_were_made_to_lean_to(lean, leans, says):
    vectors = model(alternating(lean))
    reading = probe("ripa", vectors, cache=False)
    direct = measures.ripa(stacked(vectors, JOBS), *sides(vectors))
    assert (reading.effect.value, reading.effect.ci) == (direct.score, direct.ci)
    assert reading.effect.value == pytest.approx(lean, abs=1e-6)
    assert reading.leans == leans
    assert says in reading.plain_words
    assert [item["inner_product"] for item in reading.items] == list(direct.by_word)


def test_direct_bias_is_the_mean_size_of_the_lean_and_names_the_words_at_the_ends():
    leans = [0.01 * i - 0.29 for i in range(len(JOBS))]
    vectors = model(leans)
    reading = probe("direct-bias", vectors, cache=False)
    axis = measures.bias_direction(*sides(vectors))
    assert reading.effect.value == measures.direct_bias(stacked(vectors, JOBS), axis).score
    assert reading.effect.value == pytest.approx(np.mean(np.abs(leans)), abs=1e-6)
    assert f"Most to female: {JOBS[-1]}; most to male: {JOBS[0]}." in reading.plain_words
    assert [item["cosine"] for item in reading.items] == pytest.approx(leans, abs=1e-6)
    assert probe("direct-bias", model([0.0] * len(JOBS)), cache=False).effect.value == pytest.approx(0, abs=1e-6)


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
    assert "do not clearly fall" in reading.plain_words
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
    assert {item["neighbour_share"] for item in reading.items} == {0.0, 1.0}
    leans = [item["lean"] for item in reading.items]
    shares = [item["neighbour_share"] for item in reading.items]
    assert reading.effect.value == pytest.approx(np.corrcoef(leans, shares)[0, 1])
    level = probe("neighbour_bias", model(alternating(size=0.01)), cache=False)
    assert level.leans == "no clear lean"
    assert "does not clearly show" in level.plain_words


def test_a_pair_with_an_unknown_word_is_dropped_whole():
    vectors = model(alternating(0.3))
    del vectors["she"]
    reading = probe("ripa", vectors, cache=False)
    left = [each for each in reading.left_out if each.what.startswith("pair")]
    assert [(each.what, "'she' is out of vocabulary" in each.reason) for each in left] == [("pair she/he", True)]
    kept = [pair for pair in PAIRS.pairs if "she" not in pair]
    direct = measures.ripa(
        stacked(vectors, JOBS),
        stacked(vectors, [one for one, _ in kept]),
        stacked(vectors, [two for _, two in kept]),
    )
    assert reading.effect.value == direct.score
