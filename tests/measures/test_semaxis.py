"""SemAxis."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings

from tests.measures.vectors import BAD_VECTORS, FACTORS, cos, matrices, random_rows
from tiltmeter.errors import BadInput
from tiltmeter.measures import semaxis


def test_two_words_by_hand():
    # poles average to (1, 1) and (0, -2), not at unit length; axis (1, 3); cosines 1 / sqrt(10), 3 / sqrt(10)
    found = semaxis([[5.0, 0.0], [0.0, 2.0]], [[2.0, 0.0], [0.0, 2.0]], [[0.0, -2.0]])
    assert found.scores == pytest.approx((1 / math.sqrt(10), 3 / math.sqrt(10)))
    assert found.mean == pytest.approx(2 / math.sqrt(10))


@given(matrices(3), matrices(2), matrices(3), FACTORS)
@settings(max_examples=50)
def test_it_is_the_cosine_with_the_difference_of_the_poles(words, one, two, factor):
    axis = one.mean(0) - two.mean(0)
    assume(np.abs(axis).max() > 1e-3)
    found = semaxis(words * factor, one, two)
    assert found.scores == pytest.approx([cos(word, axis) for word in words], abs=1e-9)
    assert semaxis(words, two, one).mean == pytest.approx(-found.mean, abs=1e-9)


@pytest.mark.parametrize(("vectors", "message"), BAD_VECTORS)
def test_vectors_that_cannot_be_used_are_named(vectors, message):
    with pytest.raises(BadInput, match=f"pole 1: .*{message}"):
        semaxis(random_rows(3, 3), vectors, random_rows(2, 3))


def test_poles_with_one_average_have_no_axis():
    pole = [[0.1, 0.2], [0.2, 0.3], [0.4, 0.7]]
    with pytest.raises(BadInput, match="the same average"):
        semaxis([[1.0, 0.0]], pole, [pole[2], pole[0], pole[1]])


def test_swapping_the_poles_turns_the_sign_and_keeps_p():
    words, one, two = random_rows(12, seed=1) + 0.3, random_rows(6, seed=2) + 0.2, random_rows(5, seed=3)
    there, back = semaxis(words, one, two), semaxis(words, two, one)
    assert (back.mean, back.p_value) == pytest.approx((-there.mean, there.p_value))
    assert (back.ci.low, back.ci.high) == pytest.approx((-there.ci.high, -there.ci.low))


def test_the_test_is_of_the_mean_score():
    found = semaxis(random_rows(9, seed=1), random_rows(4, seed=2), random_rows(6, seed=3))
    assert found.test.value == pytest.approx(found.mean)
    matched = semaxis(
        random_rows(9, seed=1),
        random_rows(4, seed=2),
        random_rows(4, seed=3),
        partners=[(0, 3), (1, 2), (2, 1), (3, 0)],
    )
    assert matched.test.value == pytest.approx(matched.mean)
    assert len(matched.test.families) == 2


def test_partners_find_what_their_differences_share():
    axis = 0.6 * np.eye(20)[0]
    middles = 2 * random_rows(10, seed=4)
    words = random_rows(40, seed=5) + axis
    order = np.random.default_rng(6).permutation(10)
    one, two = middles + axis, (middles - axis)[order]
    matched = semaxis(words, one, two, partners=[(int(i), place) for place, i in enumerate(order)])
    assert matched.p_value < 0.01 < 10 * matched.p_value < semaxis(words, one, two).p_value


def test_words_of_one_pole_that_are_one_word_in_many_forms_are_no_evidence():
    words = random_rows(20, seed=7) + 1
    one = np.repeat(random_rows(2, seed=8) + 0.5, 6, axis=0) + 0.01 * random_rows(12, seed=9)
    found = semaxis(words, one, random_rows(12, seed=10))
    assert found.test.families[1] == 2
    apart = semaxis(words, one, random_rows(12, seed=10), families=[range(20), range(12), range(12)])
    assert apart.p_value < found.p_value


def test_a_single_word_has_a_score_and_no_finding():
    found = semaxis(random_rows(1), random_rows(3, seed=1), random_rows(3, seed=2))
    assert (found.p_value, found.ci.low, found.ci.high) == (1.0, -1.0, 1.0)
