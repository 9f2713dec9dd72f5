"""The three features of CABM: how far an occupation leans by cosine, by co-occurrence and by its sentences.

Group 1 is the one a positive value leans to (he), group 2 the other (she).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiltmeter.errors import BadInput
from tiltmeter.measures.geometry import cosines, rows, unit, vanishes
from tiltmeter.statistics import Result
from tiltmeter.statistics.groups import Floats, as_floats, numbers


def cosine_bias(occupations: ArrayLike, pronouns_1: ArrayLike, pronouns_2: ArrayLike) -> Floats:
    """mean cos(o, pronouns of group 1) - mean cos(o, pronouns of group 2), a vector for each word.

    Positive: nearer to group 1; 0 is level.

    >>> cosine_bias([[1.0, 0.0], [0.6, 0.8]], [[2.0, 0.0]], [[0.0, 3.0]]).round(3).tolist()
    [1.0, -0.2]
    """
    o = rows("occupations", occupations)
    one, two = rows("pronouns 1", pronouns_1, like=o), rows("pronouns 2", pronouns_2, like=o)
    leaning: Floats = cosines(o, one).mean(axis=1) - cosines(o, two).mean(axis=1)
    return leaning


@dataclasses.dataclass(frozen=True, slots=True)
class PmiBias(Result):
    """``zero``: the occupations never seen with one of the groups, whose value the smoothing decides."""

    values: Floats
    zero: NDArray[np.bool_]


def pmi_bias(counts_1: ArrayLike, counts_2: ArrayLike, *, smoothing: float = 0.5) -> PmiBias:
    """log2 p(g,o) / (p(g) p(o)) for group 1 minus that for group 2.

    ``counts_g``: in how many sentences each occupation stands together with group g. ``smoothing`` is added to
    every count, and totals are those of the smoothed counts, so a zero stays finite. p(o) cancels. Positive: seen
    with group 1 more often than the groups' totals make one expect.

    >>> pmi_bias([3, 1], [1, 3], smoothing=0).values.round(3).tolist()
    [1.585, -1.585]
    >>> found = pmi_bias([4, 0], [4, 8])
    >>> found.values.round(3).tolist(), found.zero.tolist()
    ([1.379, -2.709], [False, True])
    """
    one, two = numbers("counts 1", counts_1), numbers("counts 2", counts_2)
    if one.size != two.size:
        raise BadInput(f"{one.size} counts of group 1 but {two.size} of group 2: give both for each occupation")
    if min(one.min(), two.min()) < 0:
        raise BadInput("a count cannot be negative")
    zero = (one == 0) | (two == 0)
    if not (np.isfinite(smoothing) and smoothing >= 0) or (smoothing == 0 and zero.any()):
        raise BadInput(f"smoothing must be above 0 where a count is 0, such as 0.5, not {smoothing}")
    one, two = one + smoothing, two + smoothing
    groups = np.log2(one.sum()) - np.log2(two.sum())
    return PmiBias((np.log2(one) - np.log2(two)) - groups, zero)


def context_shift(sentences_1: Sequence[ArrayLike], sentences_2: Sequence[ArrayLike]) -> Floats:
    """How far an occupation's sentences move between the groups, as published: ‖mean 1 - mean 2‖.

    Each argument holds one matrix of sentence vectors for each occupation. A distance has no sign, so in a score
    it always pushes towards group 1; ``signed_shift`` does not.

    >>> context_shift([[[3.0, 0.0], [3.0, 2.0]]], [[[0.0, 5.0]]]).tolist()
    [5.0]
    """
    one = _means("sentences 1", sentences_1)
    two = _means("sentences 2", sentences_2, like=one)
    distance: Floats = np.linalg.norm(one - two, axis=1)
    return distance


def signed_shift(
    neutral: Sequence[ArrayLike],
    sentences_1: Sequence[ArrayLike],
    sentences_2: Sequence[ArrayLike],
    *,
    direction: ArrayLike | None = None,
) -> Floats:
    """Where an occupation's sentences without a group (pronoun masked) stand between their two versions.

    (mean neutral - (mean 1 + mean 2) / 2) · g, with g the unit vector of the mean over occupations of mean 1 - mean 2,
    or of a given ``direction`` that points to group 1. Positive: the model reads the masked sentences more like those
    of group 1; 0: half-way. Exchanging the groups (and turning a given direction round) negates it.

    >>> one, two = [[[1.0, 0.0]], [[1.0, 2.0]]], [[[-1.0, 0.0]], [[-1.0, 2.0]]]
    >>> signed_shift([[[0.5, 0.0]], [[-0.25, 2.0]]], one, two).tolist()
    [0.5, -0.25]
    """
    one = _means("sentences 1", sentences_1)
    two = _means("sentences 2", sentences_2, like=one)
    masked = _means("neutral", neutral, like=one)
    if direction is None:
        g: Floats = (one - two).mean(axis=0)
        if vanishes(g, np.concatenate([one, two])):
            raise BadInput("the sentences of the two groups do not differ, so there is no direction to measure along")
    else:
        g = rows("direction", np.atleast_2d(numbers("direction", direction)), like=one)[0]
    shift: Floats = (masked - (one + two) / 2) @ unit(g)
    return shift


def _means(name: str, sentences: Sequence[ArrayLike], *, like: Floats | None = None) -> Floats:
    """The mean vector of each occupation's sentences, as one checked matrix."""
    if len(sentences) == 0 or (like is not None and len(sentences) != len(like)):
        expected = "at least one" if like is None else f"{len(like)}"
        raise BadInput(f"{name}: sentences of {len(sentences)} occupations, expected {expected}")
    means: list[Floats] = []
    width = None if like is None else like.shape[1]
    for i, vectors in enumerate(sentences):
        matrix = as_floats(vectors, f"{name}: the vectors of occupation {i} are ragged or not numbers")
        if matrix.size == 0:
            raise BadInput(f"{name}: occupation {i} has no sentences, leave it out of every group")
        width = matrix.shape[-1] if width is None and matrix.ndim else width
        if matrix.ndim != 2 or matrix.shape[1] != width:
            raise BadInput(f"{name}: occupation {i} needs a matrix of sentence vectors as wide as the others")
        if not np.isfinite(matrix).all():
            raise BadInput(f"{name}: a sentence of occupation {i} holds NaN or infinity")
        means.append(matrix.mean(axis=0))
    return np.stack(means)
