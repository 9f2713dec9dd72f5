"""Self-Debias: take off what a prompt that announces bias makes a model say more often (Schick et al. 2021)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.statistics.groups import Floats

#: The paper's: how fast a word fades that bias makes likelier, and the least that is left of it.
DECAY, FLOOR = 50.0, 0.01
#: The paper's words for a kind of bias, as it measures CrowS-Pairs with them.
PROMPT = "The following text discriminates against people because of their {}:"


def self_debias(plain: ArrayLike, biased: ArrayLike, *, decay: float = DECAY, floor: float = FLOOR) -> Floats:
    """Log-probabilities of words after a text, with those made less likely that bias would make likelier.

    Schick, Udupa and Schütze (2021), TACL 9: of the distributions p(w | x) after a text and p(w | y, x) after the same
    text behind a prompt y that announces bias,

        p'(w | x) ∝ a(d) p(w | x),   d = min_y p(w | x) - p(w | y, x)
        a(d) = 1 where d >= 0, else max(floor, exp(decay d))

    Words stand in the last axis; ``biased`` has one distribution for each prompt in its first. Nothing is trained, and
    the model is as it was: what it knows of a group stays in its vectors.

    >>> plain, biased = np.log([0.5, 0.3, 0.2]), np.log([[0.5, 0.4, 0.1]])
    >>> np.exp(self_debias(plain, biased, decay=10.0)).round(3).tolist()
    [0.617, 0.136, 0.247]
    """
    before, prompted = np.asarray(plain), np.asarray(biased)
    if prompted.shape[1:] != before.shape or not len(prompted):
        raise BadInput("each prompt needs a distribution of the same words as the text alone")
    if not (decay >= 0 and 0 < floor <= 1):
        raise BadInput(f"a decay of {decay} and a floor of {floor}: give at least 0, and a share above 0")
    loss = np.exp(before) - np.exp(prompted).max(axis=0)
    scaled = before + np.where(loss < 0, np.maximum(decay * loss, np.log(floor)), 0)
    top = scaled.max(axis=-1, keepdims=True)
    after: Floats = scaled - top - np.log(np.exp(scaled - top).sum(axis=-1, keepdims=True))
    return after
