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
