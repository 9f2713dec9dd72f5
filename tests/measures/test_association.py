"""Association of sentence sets: words as units, by hand and beside the published statistics."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, reject, settings

from tests.measures.vectors import AWAY, BAD_VECTORS, TOWARDS, leaning, matrices, random_rows
from tiltmeter.errors import BadInput
from tiltmeter.measures import association, weat

SCORES_1, SCORES_2 = [1.0, 0.2, 0.2, -0.2], [-1.0, -0.2, -0.2, 0.2]
UNITS = {"units_1": ["he", "he", "man", "man"], "units_2": ["she", "she", "woman", "woman"]}


def test_two_words_of_two_sentences_by_hand():
    found = association(leaning(SCORES_1), leaning(SCORES_2), TOWARDS, AWAY, **UNITS)
    # means .3 and -.3; all eight about 0: 2 * (1 + .04 + .04 + .04) = 2.24; d = .6 / sqrt(2.24 / 7) = 1.06066
    assert found.effect_size == pytest.approx(1.0606602, abs=1e-6)
    assert found.score == pytest.approx(0.6)
    # within: 2 * (.49 + .01 + .01 + .25) = 1.52; Cohen's d = .6 / sqrt(1.52 / 6) = 1.19208
    assert found.cohens_d == pytest.approx(1.1920791, abs=1e-6)
    # words: .6, 0 against -.6, 0. Differences: .6 twice, 0 twice, -.6 twice: four of six are as extreme
    assert found.p_value == pytest.approx(4 / 6)
    assert (found.n, found.n_units, found.exact) == (8, 4, True)


def test_the_published_p_takes_every_sentence_for_independent():
    found = association(leaning(SCORES_1), leaning(SCORES_2), TOWARDS, AWAY, **UNITS)
    everything = np.array([round(10 * score) for score in SCORES_1 + SCORES_2])
    sums = [everything[list(chosen)].sum() for chosen in itertools.combinations(range(8), 4)]
    extreme = sum(abs(total) >= 12 for total in sums)
    assert found.published.p_value == pytest.approx(extreme / 70)
    assert found.published.effect_size == pytest.approx(found.effect_size)
    assert found.published.n == 8


@given(matrices(4), matrices(3), matrices(2), matrices(2))
@settings(max_examples=30)
def test_without_units_it_is_weat(x, y, a, b):
    try:
        words = weat(x, y, a, b)
        sentences = association(x, y, a, b)
    except BadInput:
        reject()
    assert sentences.effect_size == pytest.approx(words.effect_size)
    assert sentences.p_value == words.p_value
    assert sentences.ci == words.ci


def test_copies_of_a_sentence_add_no_evidence():
    x, y = random_rows(6, seed=1), random_rows(6, seed=2) + 0.3
    a, b = random_rows(5, seed=3), random_rows(5, seed=4)
    once = association(x, y, a, b)
    units = np.repeat(np.arange(6), 30)
    copied = association(np.repeat(x, 30, 0), np.repeat(y, 30, 0), a, b, units_1=units, units_2=units)
    assert copied.p_value == pytest.approx(once.p_value)
    assert copied.published.p_value < 0.2 * once.p_value
    assert copied.ci.high - copied.ci.low == pytest.approx(once.ci.high - once.ci.low, rel=0.1)


def test_a_word_with_more_sentences_counts_no_more():
    few = association(
        leaning([0.4, 0.2]), leaning([0.0, -0.2]), TOWARDS, AWAY, units_1=["he", "man"], units_2=["she", "woman"]
    )
    many = association(
        leaning([0.4, 0.4, 0.4, 0.4, 0.2]),
        leaning([0.0, -0.2]),
        TOWARDS,
        AWAY,
        units_1=["he"] * 4 + ["man"],
        units_2=["she", "woman"],
    )
    assert many.score == pytest.approx(few.score) == pytest.approx(0.4)
    # as published the mean over group 1 is .36
    assert many.published.effect_size * np.std([0.4] * 4 + [0.2, 0.0, -0.2], ddof=1) == pytest.approx(0.46)


def test_a_planted_bias_has_the_right_sign_and_order():
    rng = np.random.default_rng(0)
    words_1, words_2 = rng.normal(0, 0.05, size=(2, 11, 1))
    noise_1, noise_2 = rng.normal(0, 0.1, size=(2, 11, 20))
    units = np.repeat(np.arange(11), 20)

    def planted(gap):
        x, y = (words_1 + noise_1 + gap).ravel(), (words_2 + noise_2).ravel()
        return association(leaning(x), leaning(y), TOWARDS, AWAY, units_1=units, units_2=units)

    found = [planted(gap) for gap in (-0.2, 0.0, 0.1, 0.2)]
    effects = [each.effect_size for each in found]
    assert effects == sorted(effects)
    assert found[0].ci.high < 0 < found[3].ci.low
    assert found[1].p_value > 0.05
    assert found[3].p_value < 0.001


@pytest.mark.parametrize(("vectors", "message"), BAD_VECTORS)
def test_vectors_that_cannot_be_used_are_named(vectors, message):
    with pytest.raises(BadInput, match=message):
        association(random_rows(4, 3), vectors, random_rows(2, 3, seed=1), random_rows(2, 3, seed=2))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({**UNITS, "units_1": ["he"] * 4}, "at least two different words"),
        ({**UNITS, "units_1": ["he"]}, "4 scores but 1 units"),
        ({"units_1": UNITS["units_1"]}, "of both groups of targets, or of neither"),
        ({"alternative": "lesser"}, "did you mean 'less'"),
        ({"ddof": 2}, "ddof must be 0 or 1"),
        ({"permutations": 0}, "permutations must be at least 1"),
    ],
)
def test_options_that_make_no_sense_are_named(options, message):
    with pytest.raises(BadInput, match=message):
        association(leaning(SCORES_1), leaning(SCORES_2), TOWARDS, AWAY, **options)


def test_scores_without_variation_are_an_error():
    with pytest.raises(BadInput, match="all scores are the same"):
        association(leaning([0.1] * 3), leaning([0.1] * 3), TOWARDS, AWAY)
    with pytest.raises(BadInput, match="do not vary within the groups"):
        association(leaning([0.1] * 3), leaning([0.2] * 3), TOWARDS, AWAY)
