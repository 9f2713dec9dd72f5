"""RAN: words are pushed away from neighbours that they share a bias with (Kumar et al. 2020)."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.measures.geometry import rows, unit
from tiltmeter.mitigation.eraser import Eraser, WordVectors
from tiltmeter.statistics.groups import Floats

#: Words that are moved at once: their neighbours' vectors must fit into memory.
_BLOCK = 256
_DECAY_1, _DECAY_2, _SMALL = 0.9, 0.999, 1e-8


def ran(
    words: WordVectors,
    vocabulary: ArrayLike,
    direction: ArrayLike,
    *,
    theta: float = 0.05,
    neighbours: int = 100,
    weights: tuple[float, float, float] = (1 / 3, 1 / 3, 1 / 3),
    rate: float = 0.01,
    steps: int = 300,
) -> Eraser:
    """New vectors of some words, by repulsion, attraction and neutralisation.

    Kumar, Bhotia, Kumar and Chakraborty (2020), Nurse is closer to woman than surgeon?, TACL. With g the direction of
    the pairs and S those of the ``neighbours`` nearest words of the vocabulary whose indirect bias with w is above
    ``theta`` (``measures.indirect_bias``), minimise over w'

        F = λ₁ mean_S |cos(w', n)| + λ₂ |cos(w', w) - 1| / 2 + λ₃ |cos(w', g)|

    from w'= w by so many ``steps`` of Adam. Only these words change; all others keep the vector that they have. WEFE
    1.0.1 returns another vector than the one that it minimises F for, since two arguments change places in it.

    >>> made = ran({"nurse": [0.6, 0.8]}, [[0.5, 0.9], [0.9, 0.5]], [1.0, 0.0], weights=(0.0, 0.0, 1.0), neighbours=1)
    >>> abs(made.replaced["nurse"][0]).round(2).item()
    0.0
    """
    if not words:
        raise BadInput("RAN changes the words it is given, and none are left")
    pool = unit(rows("vocabulary", vocabulary))
    start = unit(rows("words", list(words.values()), like=pool))
    axis = unit(rows("direction", np.atleast_2d(np.asarray(direction, dtype=float)), like=pool)[0])
    if not 1 <= neighbours <= len(pool):
        raise BadInput(f"RAN looks at {neighbours} neighbours, and the vocabulary has {len(pool)} words: give fewer")
    moved = [
        _moved(start[at : at + _BLOCK], pool, axis, theta, neighbours, weights, rate, steps)
        for at in range(0, len(start), _BLOCK)
    ]
    nothing = Eraser(np.zeros((pool.shape[1], 0)), np.zeros((0, pool.shape[1])), np.zeros(pool.shape[1]), True)
    return dataclasses.replace(nothing, replaced=dict(zip(words, np.concatenate(moved), strict=True)))


def _moved(
    start: Floats,
    pool: Floats,
    axis: Floats,
    theta: float,
    k: int,
    weights: tuple[float, float, float],
    rate: float,
    steps: int,
) -> Floats:
    near, repel = _repulsion_sets(start, pool, axis, theta, k)
    counts = np.maximum(repel.sum(axis=1, keepdims=True), 1)
    w, first, second = start.copy(), np.zeros_like(start), np.zeros_like(start)
    for step in range(1, steps + 1):
        lengths = np.linalg.norm(w, axis=1, keepdims=True)
        along = w / lengths
        # d cos(w, n) / dw = (n - cos(w, n) ŵ) / |w|, so each term is a sum of vectors and a part along w.
        cos_near = np.einsum("wd,wkd->wk", along, near)
        pull = weights[0] * np.sign(cos_near) * repel / counts
        towards = np.einsum("wk,wkd->wd", pull, near) - weights[1] / 2 * start
        cos_axis = along @ axis
        towards += weights[2] * np.sign(cos_axis)[:, None] * axis
        gradient = (towards - (towards * along).sum(axis=1, keepdims=True) * along) / lengths
        first = _DECAY_1 * first + (1 - _DECAY_1) * gradient
        second = _DECAY_2 * second + (1 - _DECAY_2) * gradient**2
        size = np.sqrt(second / (1 - _DECAY_2**step)) + _SMALL
        w = w - rate * first / (1 - _DECAY_1**step) / size
    return unit(w)


def _repulsion_sets(start: Floats, pool: Floats, axis: Floats, theta: float, k: int) -> tuple[Floats, Floats]:
    """The k nearest words of each word, itself not among them, and which of them it shares a bias with."""
    similar = start @ pool.T
    similar[similar > 1 - 1e-6] = -np.inf
    places = np.argpartition(-similar, min(k, similar.shape[1] - 1), axis=1)[:, :k]
    shared = np.take_along_axis(similar, places, axis=1)
    near = pool[places]
    across = [vectors - (vectors @ axis)[..., None] * axis for vectors in (start, near)]
    one, two = (vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12) for vectors in across)
    usable = np.isfinite(shared) & (np.abs(shared) > 1e-12)
    bias = (shared - np.einsum("wd,wkd->wk", one, two)) / np.where(usable, shared, 1.0)
    return near, ((bias > theta) & usable).astype(float)
