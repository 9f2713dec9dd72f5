"""Cosine, PMI and context features of occupations."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tests.measures.vectors import BAD_VECTORS, cos, matrices, random_rows
from tiltmeter.errors import BadInput
from tiltmeter.measures import context_shift, cosine_bias, pmi_bias, signed_shift

COUNTS = arrays(np.int64, 6, elements=st.integers(0, 1000))


def sentence_lists(seed: int, occupations: int = 4, width: int = 5) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(rng.integers(1, 6), width)) for _ in range(occupations)]


def test_cosine_bias_is_the_mean_cosine_to_he_him_his_minus_that_to_she_her_hers():
    occupations, he, she = random_rows(5, seed=1), random_rows(3, seed=2), random_rows(2, seed=3)
    by_hand = [np.mean([cos(o, p) for p in he]) - np.mean([cos(o, p) for p in she]) for o in occupations]
    assert cosine_bias(occupations, he, she) == pytest.approx(by_hand, abs=1e-12)


@given(matrices(4), matrices(3), matrices(2))
def test_exchanging_the_groups_negates_the_cosine_bias_exactly(occupations, he, she):
    assert (cosine_bias(occupations, he, she) == -cosine_bias(occupations, she, he)).all()


@pytest.mark.parametrize(("bad", "says"), BAD_VECTORS)
def test_bad_vectors_are_refused_in_one_line(bad, says):
    with pytest.raises(BadInput, match=says):
        cosine_bias(random_rows(4, 3), bad, random_rows(4, 3))


def test_pmi_bias_is_the_difference_of_the_two_published_logarithms():
    one, two = np.array([8.0, 2.0, 5.0]), np.array([1.0, 6.0, 3.0])
    total = (one + two).sum()
    by_hand = [
        math.log2((a / total) / (one.sum() / total * (a + b) / total))
        - math.log2((b / total) / (two.sum() / total * (a + b) / total))
        for a, b in zip(one, two, strict=True)
    ]
    assert pmi_bias(one, two, smoothing=0).values == pytest.approx(by_hand, abs=1e-12)


def test_smoothing_adds_the_same_to_every_count():
    one, two = [8, 0, 5], [1, 6, 3]
    smoothed = pmi_bias(np.add(one, 0.5), np.add(two, 0.5), smoothing=0)
    found = pmi_bias(one, two)
    assert found.values == pytest.approx(smoothed.values)
    assert found.zero.tolist() == [False, True, False]
    assert not smoothed.zero.any()


@given(COUNTS, COUNTS)
def test_pmi_is_finite_whatever_the_counts_and_exchanging_the_groups_negates_it_exactly(one, two):
    found, exchanged = pmi_bias(one, two), pmi_bias(two, one)
    assert np.isfinite(found.values).all()
    assert (found.zero == ((one == 0) | (two == 0))).all()
    assert (found.values == -exchanged.values).all()


def test_an_even_split_has_no_pmi_bias_however_often_an_occupation_occurs():
    assert pmi_bias([1, 10, 400], [2, 20, 800], smoothing=0).values == pytest.approx([0, 0, 0], abs=1e-12)


@pytest.mark.parametrize(
    ("one", "two", "smoothing", "says"),
    [
        ([1, 2], [1], 0.5, "2 counts of group 1 but 1"),
        ([1, -2], [1, 1], 0.5, "negative"),
        ([1, 0], [1, 1], 0, "smoothing must be above 0"),
        ([1, 1], [1, 1], -1, "smoothing"),
        ([1, 1], [1, 1], math.nan, "smoothing"),
        ([1, math.nan], [1, 1], 0.5, "NaN"),
        ([], [], 0.5, "at least one"),
    ],
)
def test_counts_that_cannot_be_are_refused(one, two, smoothing, says):
    with pytest.raises(BadInput, match=says):
        pmi_bias(one, two, smoothing=smoothing)


def test_the_published_context_shift_is_the_distance_of_the_means_and_has_no_sign():
    one, two = sentence_lists(1), sentence_lists(2)
    by_hand = [math.dist(a.mean(axis=0), b.mean(axis=0)) for a, b in zip(one, two, strict=True)]
    assert context_shift(one, two) == pytest.approx(by_hand)
    assert (context_shift(one, two) == context_shift(two, one)).all()
    assert (context_shift(one, two) > 0).all()


@pytest.mark.parametrize("place", [-1.0, -0.3, 0.0, 0.4, 1.0])
def test_the_signed_shift_says_where_the_masked_sentence_stands_between_its_two_versions(place):
    axis = np.array([0.6, 0.8, 0.0])
    frames = random_rows(4, 3, seed=5)
    one, two = [[frame + 2 * axis] for frame in frames], [[frame - 2 * axis] for frame in frames]
    neutral = [[frame + 2 * place * axis] for frame in frames]
    assert signed_shift(neutral, one, two) == pytest.approx([2 * place] * 4, abs=1e-12)
    assert signed_shift(neutral, one, two, direction=7 * axis) == pytest.approx([2 * place] * 4, abs=1e-12)


def test_the_signed_shift_by_hand_with_several_sentences_and_a_movement_off_the_direction():
    one, two = [[[2.0, 1.0], [4.0, 3.0]], [[1.0, 0.0]]], [[[-1.0, 2.0]], [[-3.0, 1.0], [-1.0, -1.0]]]
    # means (3, 2), (1, 0) and (-1, 2), (-2, 0): differences (4, 0), (3, 0), so the direction is (1, 0)
    assert signed_shift([[[1.5, 9.0]], [[0.0, 0.0], [-2.0, 5.0]]], one, two).tolist() == [0.5, -0.5]


@given(st.integers(0, 10_000))
def test_exchanging_the_groups_negates_the_signed_shift_exactly(seed):
    neutral, one, two = (sentence_lists(seed + i) for i in range(3))
    found = signed_shift(neutral, one, two)
    assert (found == -signed_shift(neutral, two, one)).all()
    assume(np.abs(found).max() > 0)
    axis = random_rows(1, 5, seed=seed)[0]
    assert (signed_shift(neutral, one, two, direction=axis) == -signed_shift(neutral, two, one, direction=-axis)).all()


@pytest.mark.parametrize(
    ("one", "two", "says"),
    [
        ([], [], "0 occupations, expected at least one"),
        ([[[1.0, 2.0]]], [], "0 occupations, expected 1"),
        ([[[1.0, 2.0]], []], [[[1.0, 2.0]]] * 2, "sentences 1: occupation 1 has no sentences"),
        ([[[1.0, 2.0]]], [[[1.0]]], "as wide as the others"),
        ([[[1.0, 2.0]], [[1.0]]], [[[1.0, 2.0]]] * 2, "occupation 1 .* as wide"),
        ([[1.0, 2.0]], [[[1.0, 2.0]]], "needs a matrix"),
        ([5.0], [[[1.0, 2.0]]], "needs a matrix"),
        ([[[1.0, 2.0], [1.0]]], [[[1.0, 2.0]]], "ragged"),
        ([[[1.0, math.inf]]], [[[1.0, 2.0]]], "occupation 0 holds NaN or infinity"),
    ],
)
def test_sentences_that_cannot_be_used_name_the_occupation(one, two, says):
    with pytest.raises(BadInput, match=says):
        context_shift(one, two)


def test_groups_whose_sentences_do_not_differ_give_no_direction():
    same = sentence_lists(3)
    with pytest.raises(BadInput, match="do not differ"):
        signed_shift(same, same, same)
