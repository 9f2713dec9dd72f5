from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.lab.glove.formulas import neutral_step, pair_loss, seed_step
from tiltmeter.lab.glove.loss import corners, group_directions, weights


def test_a_pair_by_hand():
    # w·c = 2, biases .5 and -.25, ln 8 = 2.0794: error .1706; f(8) = (8/100)^.75 = .1504
    loss, by_word, by_context, by_bias = pair_loss(
        np.array([1.0, 2.0]), np.array([0.0, 1.0]), 0.5, -0.25, 8.0, x_max=100.0, alpha=0.75
    )
    error, f = 2 + 0.5 - 0.25 - np.log(8), 0.08**0.75
    assert loss == pytest.approx(0.5 * f * error**2)
    assert by_word.tolist() == pytest.approx([0.0, f * error])
    assert by_context.tolist() == pytest.approx([f * error, 2 * f * error])
    assert by_bias == pytest.approx(f * error)


@given(st.integers(0, 2**31), st.floats(0.1, 500))
def test_the_gradient_is_what_the_loss_changes_by(seed, count):
    rng = np.random.default_rng(seed)
    word, context = rng.normal(size=(2, 5))
    options = {"x_max": 100.0, "alpha": 0.75}
    _, by_word, by_context, by_bias = pair_loss(word, context, 0.3, -0.2, count, **options)
    h = 1e-5
    for place in range(5):
        step = np.eye(5)[place] * h
        up, down = (pair_loss(word + s, context, 0.3, -0.2, count, **options)[0] for s in (step, -step))
        assert (up - down) / (2 * h) == pytest.approx(by_word[place], rel=1e-4, abs=1e-6)
        up, down = (pair_loss(word, context + s, 0.3, -0.2, count, **options)[0] for s in (step, -step))
        assert (up - down) / (2 * h) == pytest.approx(by_context[place], rel=1e-4, abs=1e-6)
    up, down = (pair_loss(word, context, 0.3 + s, -0.2, count, **options)[0] for s in (h, -h))
    assert (up - down) / (2 * h) == pytest.approx(by_bias, rel=1e-4, abs=1e-6)


def test_weights_stop_at_one():
    assert weights(np.array([1.0, 10.0, 1000.0]), x_max=10.0, alpha=0.5).tolist() == pytest.approx([0.1**0.5, 1, 1])


@pytest.mark.parametrize("groups", [2, 3, 6, 13])
def test_corners_are_equally_far_from_each_other_and_from_the_middle(groups):
    made = corners(groups)
    cosines = made @ made.T
    expected = np.where(np.eye(groups, dtype=bool), 1.0, -1 / (groups - 1))
    np.testing.assert_allclose(cosines, expected, atol=1e-12)
    np.testing.assert_allclose(made.sum(axis=0), 0, atol=1e-12)


@given(st.integers(0, 2**31), st.floats(0.1, 100))
def test_a_neutral_step_minimises_what_it_claims(seed, strength):
    rng = np.random.default_rng(seed)
    directions = np.linalg.qr(rng.normal(size=(6, 2)))[0].T
    before = rng.normal(size=(1, 6))
    after = neutral_step(before, directions, strength=strength)

    def goal(vector):
        return 0.5 * strength * ((vector @ directions.T) ** 2).sum() + 0.5 * ((vector - before) ** 2).sum()

    for _ in range(10):
        assert goal(after) <= goal(after + rng.normal(size=(1, 6)) * 0.01) + 1e-12


def test_a_seed_step_minimises_what_it_claims():
    before, corner = np.array([0.2, -0.4]), np.array([1.0, 0.0])
    after = seed_step(before, corner, strength=2.0)
    # The gradient of strength/2 |w - corner|² + 1/2 |w - before|² is nothing there.
    np.testing.assert_allclose(2.0 * (after - corner) + (after - before), 0, atol=1e-12)


def test_directions_hold_how_groups_differ_in_words_in_contexts_and_in_both():
    rng = np.random.default_rng(0)
    words, contexts = ([rng.normal(size=(4, 10)) for _ in range(3)] for _ in range(2))
    found = group_directions(words, contexts)
    np.testing.assert_allclose(found @ found.T, np.eye(len(found)), atol=1e-10)
    for side in (words, contexts):
        apart = side[0].mean(axis=0) - side[2].mean(axis=0)
        np.testing.assert_allclose(apart @ found.T @ found, apart, atol=1e-10)
    assert len(found) == 6
