from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.mitigation.planted_groups import planted, separable
from tiltmeter.errors import BadInput
from tiltmeter.mitigation import leace
from tiltmeter.mitigation.leace import shrunk


@given(st.integers(0, 50), st.integers(2, 4))
def test_groups_have_one_mean_afterwards_and_the_whole_keeps_its_own(seed, n_groups):
    rng = np.random.default_rng(seed)
    vectors, groups = rng.normal(size=(120, 6)), np.arange(120) % n_groups
    vectors += rng.normal(size=(n_groups, 6))[groups]
    after = leace(vectors, groups, shrink=False).apply(vectors)
    assert after.mean(axis=0) == pytest.approx(vectors.mean(axis=0))
    # What is below its tolerance is left where it is: a hundredth of an SD.
    for group in range(n_groups):
        assert after[groups == group].mean(axis=0) == pytest.approx(after.mean(axis=0), abs=0.08)


def test_hand_computed_in_one_direction():
    # Without covariance between the axes only the axis of the group is erased, to its mean.
    vectors = np.array([[1.0, 1.0], [1.0, -1.0], [5.0, 1.0], [5.0, -1.0]])
    after = leace(vectors, [0, 0, 1, 1], shrink=False).apply(vectors)
    assert after == pytest.approx(np.array([[3.0, 1.0], [3.0, -1.0], [3.0, 1.0], [3.0, -1.0]]))


def test_it_moves_vectors_less_than_the_projection_on_the_difference_of_means():
    vectors, groups = planted(1, n=2_000)
    vectors = vectors @ (np.eye(20) + 0.5 * np.random.default_rng(2).normal(size=(20, 20)))
    after = leace(vectors, groups, shrink=False).apply(vectors)
    difference = vectors[groups == 1].mean(axis=0) - vectors[groups == 0].mean(axis=0)
    g = difference / np.linalg.norm(difference)
    projected = vectors - ((vectors - vectors.mean(axis=0)) @ g)[:, None] * g
    assert ((after - vectors) ** 2).sum() < ((projected - vectors) ** 2).sum()


def test_held_out_words_cannot_be_told_apart():
    vectors, groups = planted(2, n=4_000)
    made = leace(vectors[:2_000], groups[:2_000])
    assert separable(vectors[2_000:], groups[2_000:]) > 0.9
    assert separable(made.apply(vectors[2_000:]), groups[2_000:]) == pytest.approx(0.5, abs=0.06)


def test_few_examples_are_no_reason_to_fail():
    vectors, groups = planted(1, n=12)
    assert np.isfinite(leace(vectors, groups).apply(vectors)).all()


def test_a_sphere_is_not_shrunk_further():
    assert shrunk(2 * np.eye(3), 10).tolist() == (2 * np.eye(3)).tolist()


@pytest.mark.parametrize(("labels", "message"), [(["a"] * 400, "two groups"), (["a", "b"], "a label for each")])
def test_bad_input_is_one_line(labels, message):
    with pytest.raises(BadInput, match=message):
        leace(planted(1)[0], labels)
