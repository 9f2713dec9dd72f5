"""The terms of ``lab/glove/loss.py`` for one pair or word at a time, as the papers write them: kernels must agree."""

from __future__ import annotations

import numpy as np

from tiltmeter.lab.glove.loss import weights
from tiltmeter.statistics.groups import Floats


def pair_loss(
    word: Floats, context: Floats, word_bias: float, context_bias: float, count: float, *, x_max: float, alpha: float
) -> tuple[float, Floats, Floats, float]:
    """One pair's part of J_G, and its gradient by the word, by the context, and by each of the two biases.

    >>> loss, by_word, by_context, by_bias = pair_loss(
    ...     np.array([1.0, 0.0]), np.array([0.5, 2.0]), 0.0, 0.0, 100.0, x_max=100.0, alpha=0.75)
    >>> round(loss, 3), by_word.round(3).tolist(), round(by_bias, 3)
    (8.426, [-2.053, -8.21], -4.105)
    """
    error = float(word @ context) + word_bias + context_bias - float(np.log(count))
    pull = float(weights(np.array(count), x_max=x_max, alpha=alpha)) * error
    return 0.5 * pull * error, pull * context, pull * word, pull


def neutral_step(vectors: Floats, directions: Floats, *, strength: float) -> Floats:
    """The proximal step of J_E: the part along the directions shrinks to 1 / (1 + strength) of what it was.

    >>> neutral_step(np.array([[4.0, 3.0]]), np.array([[1.0, 0.0]]), strength=1.0).tolist()
    [[2.0, 3.0]]
    """
    after: Floats = vectors - strength / (1 + strength) * (vectors @ directions.T) @ directions
    return after


def seed_step(reserved: Floats, corner: Floats, *, strength: float) -> Floats:
    """The proximal step of J_D: towards the group's corner.

    >>> seed_step(np.array([0.0]), np.array([1.0]), strength=3.0).tolist()
    [0.75]
    """
    after: Floats = (reserved + strength * corner) / (1 + strength)
    return after
