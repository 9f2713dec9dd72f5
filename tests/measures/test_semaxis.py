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
