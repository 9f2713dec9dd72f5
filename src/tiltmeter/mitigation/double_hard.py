"""Double-hard debiasing: a direction of word frequency goes first, then that of the pairs (Wang et al. 2020)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.measures.geometry import rows
from tiltmeter.measures.gonen_goldberg import cluster_bias
from tiltmeter.mitigation.eraser import Eraser, WordVectors, subspace


def double_hard(
    pairs: Sequence[WordVectors],
    vocabulary: ArrayLike,
    *,
    leaning: tuple[ArrayLike, ArrayLike],
    keep: WordVectors | None = None,
    components: int = 4,
    component: int | None = None,
    seed: int = 0,
) -> Eraser:
    """Centre, take one principal component of the vocabulary away, and then the direction of the pairs.

    Wang, Lin, Rajani, McCann, Ordonez and Xiong (2020), ACL, algorithm 1, with mu the mean and u_i the components of
    the vocabulary, g the direction of the pairs:

        w' = w - mu - (u_i·w) u_i,   w'' = w' - (g·w') g

    Of the first ``components`` the one is taken for which the words in ``leaning``, those that lean most to each side,
    fall apart least into two clusters (``measures.cluster_bias``); or ``component``, counted from 0. Words of the pairs
    and in ``keep`` go through the first step only: they must stay in one space with the rest.

    >>> rng = np.random.default_rng(0)
    >>> words = rng.normal(size=(50, 6))
    >>> pair = {"he": [1.0, 0, 0, 0, 0, 0], "she": [-1.0, 0, 0, 0, 0, 0]}
    >>> double_hard([pair], words, leaning=(words[:9], words[9:18])).rank
    2
    """
    known = rows("vocabulary", vocabulary, at_least=2)
    direction = subspace([list(pair.values()) for pair in pairs], rank=1, unit_length=False)
    mean = known.mean(axis=0)
    most = min(components, known.shape[1], len(known) - 1)
    if most < 1 or not 0 <= (component or 0) < known.shape[1]:
        raise BadInput(f"there is no component {component} of {len(known)} words x {known.shape[1]}")
    # Of the covariance: it is as wide as the vectors, however many words there are.
    axes = np.linalg.eigh(np.cov(known, rowvar=False))[1].T[::-1]
    erase_group = Eraser.projection(direction)

    def without(place: int) -> Eraser:
        return dataclasses.replace(Eraser.projection(axes[place : place + 1]), shift=-mean)

    def separable(place: int) -> float:
        one, two = (without(place).then(erase_group).apply(rows("leaning", some)) for some in leaning)
        return cluster_bias(one, two, seed=seed).accuracy

    first = without(min(range(most), key=separable) if component is None else component)
    stay = {**(keep or {}), **{word: vector for pair in pairs for word, vector in pair.items()}}
    replaced = {word: first.apply(rows(word, [vector]))[0] for word, vector in stay.items()}
    return dataclasses.replace(first.then(erase_group), replaced=replaced)
