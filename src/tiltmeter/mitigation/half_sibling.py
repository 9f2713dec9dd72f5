"""Half-sibling regression: what words that say a group explain of other words is taken away (Yang & Feng 2020)."""

from __future__ import annotations

import dataclasses

import numpy as np

from tiltmeter.errors import BadInput
from tiltmeter.measures.geometry import rows
from tiltmeter.mitigation.eraser import Eraser, WordVectors


def half_sibling(words: WordVectors, *, alpha: float = 60.0) -> Eraser:
    """Regress every other word on the words that say a group, over the dimensions, and keep the rest.

    Yang and Feng (2020), A causal inference method for reducing gender bias in word embedding relations, AAAI. With D
    the words of the groups as columns and V the others, a ridge regression with penalty ``alpha`` gives

        W = (DᵀD + alpha I)⁻¹ Dᵀ V,   V' = V - D W

    which is one linear map of each vector, v' = v - D (DᵀD + alpha I)⁻¹ Dᵀ v: new words need no new regression. The
    words of the groups themselves stay as they are. The penalty counts in squared lengths of vectors: the paper's 60
    suits vectors of length 5 or so, and does next to nothing to unit vectors.

    >>> half_sibling({"he": [2.0, 0.0]}, alpha=4.0).apply([[1.0, 1.0]]).tolist()
    [[0.5, 1.0]]
    """
    if not 0 <= alpha < np.inf:
        raise BadInput(f"alpha must be a number from 0 on, not {alpha}")
    if not words:
        raise BadInput("half-sibling regression needs words that say a group, and none are left")
    say_group = rows("words", list(words.values()))
    gram = say_group @ say_group.T + alpha * np.eye(len(say_group))
    if np.linalg.cond(gram) > 1e12:
        raise BadInput("the words that say a group depend on one another: give fewer words, or an alpha above 0")
    nothing = np.zeros(say_group.shape[1])
    eraser = Eraser(say_group.T, np.asarray(np.linalg.solve(gram, say_group), dtype=float), nothing)
    return dataclasses.replace(eraser, replaced=dict(zip(words, say_group, strict=True)))
