"""Checked vectors and the lean of words."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given

from tests.measures.vectors import BAD_VECTORS, FACTORS, cos, matrices
from tiltmeter.errors import BadInput
from tiltmeter.measures.geometry import average, cosines, leans, rows, unit


def test_the_worked_example_of_the_association_text():
    # .2*.3 + .5*.4 + .1*.2 = .28; lengths sqrt(.30) and sqrt(.29); .28 / sqrt(.087) = .9492889
    found = cosines(rows("u", [[0.2, 0.5, 0.1]]), rows("v", [[0.3, 0.4, 0.2]]))
    assert found[0, 0] == pytest.approx(0.9492889, abs=1e-7)


@given(matrices(3), matrices(2))
def test_cosines_are_their_definition(x, y):
    expected = [[cos(u, v) for v in y] for u in x]
    np.testing.assert_allclose(cosines(x, y), expected, atol=1e-12)


@given(matrices(4), matrices(3), matrices(2), FACTORS)
def test_leans_are_the_difference_of_mean_cosines(words, a, b, factor):
    assume(np.abs(unit(a).mean(0) - unit(b).mean(0)).max() > 1e-6)
    expected = [np.mean([cos(w, v) for v in a]) - np.mean([cos(w, v) for v in b]) for w in words]
    np.testing.assert_allclose(leans(words * factor, a, b), expected, atol=1e-12)


def test_attributes_with_one_average_cannot_pull():
    a = np.random.default_rng(0).normal(size=(5, 3))
    with pytest.raises(BadInput, match="the same average"):
        leans(a, a, a[::-1])


@pytest.mark.parametrize(("vectors", "message"), BAD_VECTORS)
def test_vectors_that_cannot_be_used_are_named(vectors, message):
    with pytest.raises(BadInput, match=message) as caught:
        rows("X", vectors, like=np.ones((1, 3)))
    assert str(caught.value).startswith("X: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("vectors", [None, {"he": 1.0}, 3.0, np.ones((2, 2, 2))])
def test_what_is_no_matrix_is_an_error(vectors):
    with pytest.raises(BadInput, match="X: "):
        rows("X", vectors)


def test_vectors_that_cancel_out_have_no_average():
    with pytest.raises(BadInput, match="cancel out"):
        average("X", np.array([[0.1, 0.2], [0.2, 0.1], [-0.3, -0.3]]))
