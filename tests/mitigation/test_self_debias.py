from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiltmeter.errors import BadInput
from tiltmeter.mitigation import self_debias


def distributions(seed: int, *shape: int) -> np.ndarray:
    return np.log(np.random.default_rng(seed).dirichlet(np.ones(shape[-1]), size=shape[:-1]))


def test_by_hand():
    # The second word is .1 likelier behind the prompt: e^(-10 x .1) of it is left, and all add up to 1 again.
    after = np.exp(self_debias(np.log([0.5, 0.3, 0.2]), np.log([[0.5, 0.4, 0.1]]), decay=10.0))
    left = np.array([0.5, 0.3 * np.exp(-1), 0.2])
    np.testing.assert_allclose(after, left / left.sum())


def test_of_several_prompts_the_one_that_adds_most_counts():
    plain = np.log([0.5, 0.3, 0.2])
    one, two = np.log([0.5, 0.4, 0.1]), np.log([0.3, 0.2, 0.5])
    after = np.exp(self_debias(plain, [one, two], decay=10.0))
    left = np.array([0.5, 0.3 * np.exp(-1), 0.2 * np.exp(-3)])
    np.testing.assert_allclose(after, left / left.sum())


def test_something_is_always_left():
    after = np.exp(self_debias(np.log([0.5, 0.5]), np.log([[1 - 1e-9, 1e-9]]), decay=1e6, floor=0.01))
    np.testing.assert_allclose(after, np.array([0.005, 0.5]) / 0.505)


@given(st.integers(0, 2**31), st.floats(0, 200))
def test_it_stays_a_distribution_and_only_what_bias_adds_loses(seed, decay):
    plain, biased = distributions(seed, 4, 12), distributions(seed + 1, 2, 4, 12)
    after = self_debias(plain, biased, decay=decay)
    np.testing.assert_allclose(np.exp(after).sum(axis=-1), 1)
    fine = np.exp(plain) >= np.exp(biased).max(axis=0)
    assert (after[fine] >= plain[fine] - 1e-9).all()


def test_a_prompt_that_changes_nothing_changes_nothing():
    plain = distributions(0, 3, 9)
    np.testing.assert_allclose(self_debias(plain, plain[None]), plain, atol=1e-12)


def test_other_shapes_and_settings_are_refused():
    with pytest.raises(BadInput, match="same words"):
        self_debias(np.zeros(3), np.zeros((1, 4)))
    with pytest.raises(BadInput, match="a decay of -1"):
        self_debias(np.log([0.5, 0.5]), np.log([[0.5, 0.5]]), decay=-1.0)
