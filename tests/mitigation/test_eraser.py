from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tiltmeter.errors import BadInput
from tiltmeter.measures import bias_direction
from tiltmeter.mitigation import Eraser, subspace

WIDTH = 5
FLOATS = st.floats(-5, 5, width=32)


def orthonormal(seed: int, rank: int) -> np.ndarray:
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(WIDTH, rank)))[0].T


@given(arrays(np.float64, (3, WIDTH), elements=FLOATS), st.integers(0, 99), st.integers(1, WIDTH))
def test_a_projection_takes_its_directions_away_and_does_so_once(vectors, seed, rank):
    directions = orthonormal(seed, rank)
    once = Eraser.projection(directions).apply(vectors)
    assert np.abs(once @ directions.T).max() < 1e-9
    assert Eraser.projection(directions).apply(once) == pytest.approx(once)


@given(arrays(np.float64, (3, WIDTH), elements=FLOATS), st.integers(0, 99))
def test_one_map_after_another_is_one_map(vectors, seed):
    rng = np.random.default_rng(seed)
    first, second = (
        Eraser(rng.normal(size=(WIDTH, 2)), rng.normal(size=(2, WIDTH)), rng.normal(size=WIDTH)) for _ in range(2)
    )
    both = first.then(second)
    assert both.rank == 4
    assert both.apply(vectors) == pytest.approx(second.apply(first.apply(vectors)), abs=1e-8)


def test_the_map_is_one_line_of_numpy():
    eraser = Eraser.projection([[0.6, 0.8]])
    v = np.array([[1.0, 2.0]])
    assert eraser.apply(v) == pytest.approx(v - (v @ eraser.left) @ eraser.right + eraser.shift)
    assert eraser.apply(v)[0] == pytest.approx([1 - 2.2 * 0.6, 2 - 2.2 * 0.8])


def test_single_precision_stays_single_precision():
    assert Eraser.projection([[1.0, 0.0]]).apply(np.ones((2, 2), dtype=np.float32)).dtype == np.float32


def test_words_of_their_own_keep_their_vector():
    eraser = Eraser(np.eye(2)[:, :1], np.eye(2)[:1], np.zeros(2), replaced={"she": np.array([9.0, 9.0])})
    assert eraser.apply_to_words(["he", "she"], [[1.0, 2.0], [1.0, 2.0]]).tolist() == [[0.0, 2.0], [9.0, 9.0]]


def test_vectors_of_another_width_are_refused():
    with pytest.raises(BadInput, match="3 wide, those that the method was fitted on 2"):
        Eraser.projection([[1.0, 0.0]]).apply([[1.0, 2.0, 3.0]])


def test_the_first_direction_of_pairs_is_that_of_the_measure():
    rng = np.random.default_rng(0)
    one, two = rng.normal(size=(2, 7, WIDTH))
    assert subspace(list(zip(one, two, strict=True)), rank=1)[0] == pytest.approx(bias_direction(one, two))


@pytest.mark.parametrize("rank", [0, 3])
def test_a_rank_that_the_words_cannot_give_is_refused(rank):
    with pytest.raises(BadInput, match=f"a rank of {rank} is too high or too low: 2 sets of words give 1 to 2"):
        subspace([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], [[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]]], rank=rank)


def test_words_that_do_not_differ_are_refused():
    with pytest.raises(BadInput, match="do not differ"):
        subspace([[[1.0, 0.0], [2.0, 0.0]]], rank=1)
