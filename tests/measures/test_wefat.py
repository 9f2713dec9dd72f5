"""Single words: NAS and WEFAT."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, reject, settings

from tests.measures.vectors import BAD_VECTORS, FACTORS, cos, matrices, random_rows
from tiltmeter.errors import BadInput
from tiltmeter.measures import nas, wefat


def test_one_word_by_hand():
    # cosines 1 and .707107 with A, 0 and 0 with B: means .853553 and 0; all: mean .426777,
    # squares 1 + .5 - 4 * .426777^2 = .771447; SD sqrt(.771447 / 3) = .507098; .853553 / .507098 = 1.683210
    found = nas([[1.0, 0.0]], [[1.0, 0.0], [1.0, 1.0]], [[0.0, 1.0], [0.0, 2.0]])
    assert found.scores[0] == pytest.approx(1.683210, abs=1e-6)
    # SD sqrt(.771447 / 4) = .439160
    population = nas([[1.0, 0.0]], [[1.0, 0.0], [1.0, 1.0]], [[0.0, 1.0], [0.0, 2.0]], ddof=0)
    assert population.scores[0] == pytest.approx(1.943604, abs=1e-6)


@given(matrices(3), matrices(3), matrices(3), FACTORS)
@settings(max_examples=50)
def test_scores_are_their_definition_whatever_the_lengths(words, a, b, factor):
    try:
        found = nas(words * factor, a * factor, b)
    except BadInput:
        reject()
    for word, score in zip(words, found.scores, strict=True):
        near_a, near_b = [cos(word, v) for v in a], [cos(word, v) for v in b]
        if np.std(near_a + near_b) > 1e-6:
            expected = (np.mean(near_a) - np.mean(near_b)) / np.std(near_a + near_b, ddof=1)
            assert score == pytest.approx(expected, abs=1e-6)
        assert abs(score) <= 2
    assert found.mean == pytest.approx(np.mean(found.scores))


def test_swapping_the_attributes_turns_the_sign():
    words, a, b = random_rows(4, seed=1), random_rows(5, seed=2), random_rows(6, seed=3)
    assert nas(words, b, a).scores == pytest.approx([-score for score in nas(words, a, b).scores])
    assert wefat(words, b, a).p_values == pytest.approx(wefat(words, a, b).p_values)


def test_p_permutes_the_attribute_words():
    words, a, b = random_rows(2, seed=1), random_rows(4, seed=2), random_rows(4, seed=3)
    found = wefat(words, a, b, alternative="greater")
    assert found.effect_sizes == nas(words, a, b).scores
    for word, p_value in zip(words, found.p_values, strict=True):
        theirs = scipy.stats.permutation_test(
            ([cos(word, v) for v in a], [cos(word, v) for v in b]),
            lambda x, y, axis: np.mean(x, axis) - np.mean(y, axis),
            vectorized=True,
            n_resamples=np.inf,
            alternative="greater",
        )
        assert p_value == pytest.approx(theirs.pvalue)


def test_a_property_that_the_vectors_tell_is_found():
    rng = np.random.default_rng(0)
    share = rng.uniform(-0.5, 0.5, size=30)
    words = np.stack([share, np.sqrt(1 - share**2), np.zeros(30)], axis=1)
    a, b = (side * np.array([1.0, 0.0, 0.0]) + 0.1 * rng.normal(size=(8, 3)) for side in (1, -1))
    found = wefat(words, a, b, property=share)
    assert found.correlation is not None
    assert found.correlation.r > 0.9
    assert wefat(words, a, b).correlation is None


def test_occupations_correlate_with_the_share_of_women_as_published(data_folder, read_word2vec):
    folder = data_folder("caliskan_glove")
    sets = json.loads((folder / "tests.json").read_text())["WEFAT1"]["target"]
    vectors = read_word2vec(folder / "glove.840B.300d.weat-words.vec")
    with (data_folder("winogender") / "occupations-stats.tsv").open() as stream:
        women = {row["occupation"]: float(row["bls_pct_female"]) for row in csv.DictReader(stream, delimiter="\t")}
    careers, female, male = (
        [vectors[word] for word in sets[name]] for name in ("Careers", "FemaleAttributes", "MaleAttributes")
    )
    found = wefat(careers, female, male, property=[women[word] for word in sets["Careers"]]).correlation
    # Caliskan et al. 2017, figure 1: 50 occupations, Pearson's correlation .90, p < 10^-18
    assert (found.n, round(found.r, 2)) == (50, 0.90)
    assert found.p_value < 1e-18


@pytest.mark.parametrize(("vectors", "message"), BAD_VECTORS)
def test_vectors_that_cannot_be_used_are_named(vectors, message):
    for measure in (nas, wefat):
        with pytest.raises(BadInput, match=message):
            measure(random_rows(2, 3), vectors, random_rows(4, 3, seed=1))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda w: nas(w, w[:1], w[1:2]), "at least three"),
        (lambda w: nas(w[:1], [[1.0] * 20] * 2, [[2.0] * 20] * 2), "all scores are the same"),
        (lambda w: wefat(w, w[:3], w[3:], ddof=2), "ddof must be 0 or 1"),
        (lambda w: wefat(w, w[:3], w[3:], alternative="grater"), "did you mean 'greater'"),
        (lambda w: wefat(w, w[:3], w[3:], permutations=0), "permutations must be at least 1"),
        (lambda w: wefat(w, w[:3], w[3:], property=[1.0, 2.0]), "same length"),
        (lambda w: wefat(w, w[:3], w[3:], property=[float("nan")] * 6), "NaN"),
    ],
)
def test_input_that_cannot_be_used_is_named(call, message):
    with pytest.raises(BadInput, match=message):
        call(random_rows(6))


def test_the_test_is_of_the_published_correlation_and_turns_with_the_attributes():
    rng = np.random.default_rng(1)
    words, a, b, values = (
        rng.normal(size=(12, 20)),
        rng.normal(size=(5, 20)),
        rng.normal(size=(6, 20)),
        rng.normal(size=12),
    )
    found, back = wefat(words, a, b, property=values), wefat(words, b, a, property=values)
    assert found.test.value == pytest.approx(found.correlation.r)
    assert (back.test.value, back.test.p_value) == pytest.approx((-found.test.value, found.test.p_value))
    assert found.test.p_value >= max(found.test.by_words, found.test.by_others)
    assert wefat(words, a, b).test is None


def test_copies_of_words_and_attributes_are_no_evidence():
    rng = np.random.default_rng(2)
    words, a, b, values = (
        rng.normal(size=(10, 20)),
        rng.normal(size=(5, 20)),
        rng.normal(size=(5, 20)),
        rng.normal(size=10),
    )
    once = wefat(words, a, b, property=values, ddof=0, permutations=1)
    copied = wefat(
        *(np.repeat(vectors, 3, axis=0) for vectors in (words, a, b)),
        property=np.repeat(values, 3),
        ddof=0,
        permutations=1,
    )
    assert copied.test.families == once.test.families == (10, 5, 5)
    assert copied.test.p_value == pytest.approx(once.test.p_value)
    assert copied.correlation.p_value < once.correlation.p_value


def test_words_in_clusters_and_arbitrary_attributes_are_seldom_a_finding():
    # Clusters of 4 share a direction and a property; attributes are arbitrary.
    rng = np.random.default_rng(3)
    runs, found, published = 200, 0, 0
    for _ in range(runs):
        words = np.repeat(rng.normal(size=(8, 30)), 4, axis=0) + rng.normal(size=(32, 30))
        values = np.repeat(rng.normal(size=8), 4) + 0.5 * rng.normal(size=32)
        result = wefat(words, *rng.normal(size=(2, 6, 30)), property=values, permutations=1)
        found, published = found + (result.test.p_value <= 0.05), published + (result.correlation.p_value <= 0.05)
    # 200 runs at .05 give 10 with an SD of 3.1.
    assert found / runs <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / runs)
    assert published / runs > 0.12


def test_matched_attributes_are_compared_within_their_pairs():
    rng = np.random.default_rng(4)
    share = rng.uniform(-1, 1, size=40)
    axis = np.eye(20)[0]
    words = rng.normal(size=(40, 20)) + 3 * np.outer(share, axis)
    middles = 2 * rng.normal(size=(8, 20))
    matched = wefat(
        words, middles + axis, middles - axis, property=share, partners=[(i, i) for i in range(8)], permutations=1
    )
    apart = wefat(words, middles + axis, middles - axis, property=share, permutations=1)
    assert matched.correlation == apart.correlation
    assert matched.test.value == pytest.approx(apart.test.value)
    assert matched.test.by_others < 0.01
    assert matched.test.by_others < apart.test.by_others
