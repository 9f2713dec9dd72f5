"""Relational inner product association."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings

from tests.measures.vectors import BAD_VECTORS, matrices, random_rows
from tiltmeter.errors import BadInput
from tiltmeter.measures import ripa


def test_three_words_and_two_pairs_by_hand():
    # relations (1, 0) and (0, 1); products 2 0, 0 1, 3 4; means 1, .5, 3.5; mean 5/3
    found = ripa([[2.0, 0.0], [0.0, 1.0], [3.0, 4.0]], [[1.0, 0.0], [0.0, 2.0]], [[-1.0, 0.0], [0.0, -1.0]])
    assert found.by_word == pytest.approx((1.0, 0.5, 3.5))
    assert found.score == pytest.approx(5 / 3)
    assert (found.n, found.n_pairs) == (3, 2)


@given(matrices(3), matrices(2), matrices(2))
@settings(max_examples=20)
def test_it_is_the_mean_inner_product_with_unit_relations(words, first, second):
    assume(np.abs(first - second).max(axis=1).min() > 1e-3)
    found = ripa(words, first, second)
    relations = [(a - b) / np.linalg.norm(a - b) for a, b in zip(first, second, strict=True)]
    expected = [np.mean([word @ relation for relation in relations]) for word in words]
    assert found.by_word == pytest.approx(expected, abs=1e-9)
    assert ripa(words, second, first).score == pytest.approx(-found.score, abs=1e-9)
    assert ripa(5 * words, first, second).score == pytest.approx(5 * found.score, abs=1e-9)


def test_words_planted_along_the_relation_are_ordered():
    first, second = random_rows(1, seed=1), random_rows(1, seed=2)
    words = random_rows(8, seed=3)
    scores = [ripa(words + push * (first - second), first, second).score for push in (-1.0, 0.0, 1.0)]
    assert scores == sorted(scores)
    assert scores[0] < 0 < scores[2]


@pytest.mark.parametrize(("vectors", "message"), BAD_VECTORS)
def test_vectors_that_cannot_be_used_are_named(vectors, message):
    with pytest.raises(BadInput, match=f"words: .*{message}" if "wide" not in message else message):
        ripa(vectors, random_rows(2, 3), random_rows(2, 3, seed=1))


def test_pairs_that_name_no_relation_are_an_error():
    with pytest.raises(BadInput, match="not 2 and 3"):
        ripa(random_rows(2), random_rows(2), random_rows(3))
    with pytest.raises(BadInput, match="two identical vectors"):
        ripa(random_rows(2), random_rows(2), random_rows(2))
    with pytest.raises(BadInput, match="at least 2"):
        ripa(random_rows(1), random_rows(2), random_rows(2, seed=1))


def test_swapping_the_sides_of_all_pairs_turns_the_sign_and_keeps_p():
    words, first, second = random_rows(12, seed=1) + 0.3, random_rows(6, seed=2) + 0.2, random_rows(6, seed=3)
    there, back = ripa(words, first, second), ripa(words, second, first)
    assert back.score == pytest.approx(-there.score)
    assert back.p_value == pytest.approx(there.p_value)
    assert (back.ci.low, back.ci.high) == pytest.approx((-there.ci.high, -there.ci.low))


def test_copies_of_words_and_pairs_are_no_evidence():
    words, first, second = random_rows(8, seed=1) + 0.4, random_rows(5, seed=2) + 0.4, random_rows(5, seed=3)
    once = ripa(words, first, second)
    copied = ripa(np.repeat(words, 3, axis=0), np.repeat(first, 3, axis=0), np.repeat(second, 3, axis=0))
    assert copied.test.families == once.test.families == (8, 5)
    assert copied.p_value == pytest.approx(once.p_value)
    named = [[i // 3 for i in range(24)], [i // 3 for i in range(15)]]
    by_name = ripa(
        np.repeat(words, 3, axis=0), np.repeat(first, 3, axis=0), np.repeat(second, 3, axis=0), families=named
    )
    assert by_name.p_value == pytest.approx(once.p_value)


def test_a_planted_lean_is_found_along_pairs_that_share_a_direction():
    axis = np.eye(20)[0]
    middles = random_rows(8, seed=4)
    first, second = middles + 2 * axis, middles - 2 * axis
    found = ripa(random_rows(30, seed=5) + axis, first, second)
    assert found.p_value < 0.001
    assert 1.0 in found.ci
    assert ripa(random_rows(30, seed=5), first, second).p_value > 0.05


@pytest.mark.parametrize("mean", [0.5, 2.0])
def test_arbitrary_pairs_are_seldom_a_finding_however_surely_words_lie_along_them(mean):
    # All words share a large part, so along any pair their mean is known well, and means nothing.
    rng = np.random.default_rng(6)
    runs, found, by_words = 200, 0, 0
    for _ in range(runs):
        common = mean * rng.normal(size=30)
        test = ripa(rng.normal(size=(20, 30)) + common, *rng.normal(size=(2, 8, 30))).test
        found, by_words = found + (test.p_value <= 0.05), by_words + (test.by_words <= 0.05)
    # 200 runs at .05 give 10 with an SD of 3.1.
    assert found / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)
    assert by_words / runs > (0.6 if mean > 1 else 0.25)
