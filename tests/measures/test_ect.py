"""The embedding coherence test."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, reject, settings

from tests.measures.vectors import BAD_VECTORS, cos, matrices, random_rows
from tiltmeter.errors import BadInput
from tiltmeter.measures import ect


def attributes_at(near_x, near_y):
    """Unit vectors with given cosines to the first and the second axis."""
    near_x, near_y = np.array(near_x), np.array(near_y)
    return np.stack([near_x, near_y, np.sqrt(1 - near_x**2 - near_y**2)], axis=1)


def test_four_attributes_by_hand():
    # X ranks them 1 2 3 4, Y 2 1 4 3: 1 - 6 * (1 + 1 + 1 + 1) / (4 * 15) = .6
    attributes = attributes_at([0.1, 0.2, 0.3, 0.4], [0.2, 0.1, 0.4, 0.3])
    found = ect([[1.0, 0.0, 0.0]], [[0.0, 2.0, 0.0]], attributes)
    assert found.score == pytest.approx(0.6)
    assert found.similarities_x == pytest.approx((0.1, 0.2, 0.3, 0.4))
    assert found.similarities_y == pytest.approx((0.2, 0.1, 0.4, 0.3))
    assert found.n == 4


def test_the_same_order_is_1_and_the_opposite_minus_1():
    same = attributes_at([0.1, 0.2, 0.3, 0.4], [0.2, 0.3, 0.5, 0.6])
    opposite = attributes_at([0.1, 0.2, 0.3, 0.4], [0.6, 0.5, 0.3, 0.2])
    x, y = [[1.0, 0.0, 0.0]], [[0.0, 1.0, 0.0]]
    assert ect(x, y, same).score == pytest.approx(1.0)
    assert ect(x, y, opposite).score == pytest.approx(-1.0)


@given(matrices(2), matrices(3), matrices(6))
@settings(max_examples=5)
def test_it_is_spearmans_correlation_of_cosines_with_the_averages(x, y, attributes):
    try:
        found = ect(x, y, attributes)
    except BadInput:
        reject()
    near_x, near_y = ([cos(group.mean(0), a) for a in attributes] for group in (x, y))
    # cosines that tie but for rounding may be ranked either way
    if min(np.diff(np.sort(near_x)).min(), np.diff(np.sort(near_y)).min()) > 1e-9:
        assert found.score == pytest.approx(scipy.stats.spearmanr(near_x, near_y).statistic)
    assert -1 <= found.score <= 1.0000001


def test_groups_that_differ_more_agree_less():
    attributes, base = random_rows(30, seed=1), random_rows(6, seed=2)
    shift = random_rows(1, seed=3)
    scores = [ect(base + step * shift, base - step * shift, attributes).score for step in (0.0, 0.3, 1.0, 3.0)]
    assert scores == sorted(scores, reverse=True)
    assert scores[0] == pytest.approx(1.0)
    assert scores[-1] < 0


@pytest.mark.parametrize(("vectors", "message"), BAD_VECTORS)
def test_vectors_that_cannot_be_used_are_named(vectors, message):
    with pytest.raises(BadInput, match=f"attributes: .*{message}"):
        ect(random_rows(3, 3), random_rows(3, 3, seed=1), vectors)


def test_what_has_no_order_is_an_error():
    with pytest.raises(BadInput, match="at least 4"):
        ect(random_rows(3, 3), random_rows(3, 3, seed=1), random_rows(3, 3, seed=2))
    with pytest.raises(BadInput, match="X: the vectors cancel out"):
        ect([[1.0, 0.0], [-1.0, 0.0]], [[1.0, 1.0]], random_rows(4, 2))
    with pytest.raises(BadInput, match="does not vary"):
        ect([[1.0, 0.0]], [[0.0, 1.0]], [[1.0, 1.0]] * 4)
