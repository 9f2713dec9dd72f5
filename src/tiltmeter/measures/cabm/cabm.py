"""CABM: its three features, the composite occupation score, its categories and how sure they are.

The features say how far an occupation leans by cosine, by co-occurrence and by its sentences. Group 1 is the one a
positive value leans to (he), group 2 the other (she).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiltmeter.errors import BadInput, unknown
from tiltmeter.measures.cabm.weighting import Weights, features_array, given_weights
from tiltmeter.measures.geometry import cosines, rows, unit, vanishes
from tiltmeter.statistics import Result
from tiltmeter.statistics.groups import Floats, as_floats, check_level, numbers


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
    """``zero``: the occupations never seen with one of the groups, whose value the smoothing decides.

    ``by_group`` is the PMI with each group, of which ``values`` are the differences, where that was asked for.
    """

    values: Floats
    zero: NDArray[np.bool_]
    by_group: tuple[Floats, Floats] | None = None


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


def pronoun_pmi_bias(counts_1: ArrayLike, counts_2: ArrayLike, *, smoothing: float = 0.5) -> PmiBias:
    """The mean over the pronouns w of group 1 of log2 p(w,o) / (p(w) p(o)), minus that of group 2, as published.

    ``counts_g`` has a row for each occupation and a column for each pronoun of group g (he, him, his). ``smoothing`` is
    added to every count. p(o) cancels. A sentence asks for a case (him or his) before it asks for a gender, and few
    sentences have each, so this varies with the grammar of the sentences; ``pmi_bias`` counts a group once.

    >>> pronoun_pmi_bias([[2, 2], [1, 1]], [[2], [4]], smoothing=0).values.round(3).tolist()
    [1.0, -1.0]
    >>> pronoun_pmi_bias([[3], [1]], [[1], [3]]).values.tolist() == pmi_bias([3, 1], [1, 3]).values.tolist()
    True
    >>> [side.round(3).tolist() for side in pronoun_pmi_bias([[2, 2], [1, 1]], [[2], [4]], smoothing=0).by_group]
    [[0.415, -0.585], [-0.585, 0.415]]
    """
    sides = [as_floats(counts, "counts must be a table, a row for each occupation") for counts in (counts_1, counts_2)]
    if any(side.ndim != 2 or not side.size for side in sides) or len(sides[0]) != len(sides[1]):
        raise BadInput("counts of pronouns need a row for each occupation and a column for each pronoun of the group")
    zero = np.any([(side == 0).any(axis=1) for side in sides], axis=0)
    if min(side.min() for side in sides) < 0 or (smoothing <= 0 and zero.any()) or smoothing < 0:
        raise BadInput(f"counts cannot be negative, and smoothing must be above 0 where one is 0, not {smoothing}")
    logs = [np.log2(side + smoothing) - np.log2((side + smoothing).sum(axis=0)) for side in sides]
    totals = np.sum([(side + smoothing).sum(axis=1) for side in sides], axis=0)
    expected = np.log2(totals / totals.sum())
    one, two = (log.mean(axis=1) - expected for log in logs)
    return PmiBias(one - two, zero, (one, two))


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


#: What features are divided by: their root mean square, or nothing.
Scaling = Literal["rms"] | None


@dataclasses.dataclass(frozen=True, slots=True)
class CabmResult(Result):
    """``categories``: 1 or 2 for the group leaned to, 0 for neither; ``contributions`` (n, 3) sum to ``scores``."""

    scores: Floats
    categories: NDArray[np.intp]
    contributions: Floats
    weights: Weights
    scale: Scaling
    threshold: float


@dataclasses.dataclass(frozen=True, slots=True)
class CabmIntervals(Result):
    """``too_close``: the interval reaches into another category, so the score does not decide between them."""

    result: CabmResult
    low: Floats
    high: Floats
    too_close: NDArray[np.bool_]
    level: float


def cabm(
    features: ArrayLike, weights: Weights | ArrayLike, *, scale: Scaling = None, threshold: float = 0.1
) -> CabmResult:
    """The weighted sum of the three features of each occupation, and its category at ±threshold.

    ``scale=None`` takes the features as they are (as published); ``"rms"`` divides each by its root mean square over
    the occupations, so that no feature counts more for being measured in larger units, and never centres them: zero
    keeps meaning "no lean". Positive: leans to group 1. With the published, unsigned context shift the score always
    leans to group 1 by some of it; with the signed one, exchanging the groups negates it.

    >>> found = cabm([[1.0, 0.2, 0.5], [-1.0, -0.2, 0.5]], [0.5, 0.25, 0.25])
    >>> found.scores.round(3).tolist(), found.categories.tolist()
    ([0.675, -0.425], [1, 2])
    """
    x = features_array(features)
    used = weights if isinstance(weights, Weights) else given_weights(weights)
    contributions = used.values * (x / scale_of(x, scale))
    scores = contributions.sum(axis=1)
    return CabmResult(scores, categories(scores, threshold), contributions, used, scale, threshold)


def with_intervals(
    features: ArrayLike,
    weights: Weights | ArrayLike,
    draws: ArrayLike,
    *,
    scale: Scaling = None,
    threshold: float = 0.1,
    level: float = 0.95,
) -> CabmIntervals:
    """The scores with percentile intervals over ``draws`` (B, n, 3), the features of resampled sentences.

    Weights and scale stay those of the features themselves: the interval tells what other sentences would
    have given, not what other occupations would have.

    >>> draws = [[[0.3, 0.0, 0.0]], [[0.5, 0.0, 0.0]], [[-0.2, 0.0, 0.0]]]
    >>> found = with_intervals([[0.4, 0.0, 0.0]], [1, 0, 0], draws)
    >>> found.result.categories.tolist(), found.too_close.tolist()
    ([1], [True])
    """
    result = cabm(features, weights, scale=scale, threshold=threshold)
    x = features_array(features)
    check_level(level)
    wanted = f"draws must be at least two finite arrays of features, each {x.shape}: (draws, occupations, 3)"
    drawn = as_floats(draws, wanted)
    if drawn.ndim != 3 or drawn.shape[1:] != x.shape or len(drawn) < 2 or not np.isfinite(drawn).all():
        raise BadInput(wanted)
    scores = (drawn / scale_of(x, scale)) @ result.weights.values
    low, high = np.quantile(scores, [(1 - level) / 2, (1 + level) / 2], axis=0)
    # A distance grows by resampling; an interval that leaves its own estimate out helps nobody.
    low, high = np.minimum(low, result.scores), np.maximum(high, result.scores)
    too_close = categories(low, threshold) != categories(high, threshold)
    return CabmIntervals(result, low, high, too_close, level)


def categories(scores: Floats, threshold: float) -> NDArray[np.intp]:
    """1 above the threshold, 2 below minus it, 0 between.

    >>> categories(np.array([0.3, 0.1, -0.2]), 0.1).tolist()
    [1, 0, 2]
    """
    if not (np.isfinite(threshold) and threshold >= 0):
        raise BadInput(f"a threshold is a number from 0 on, such as 0.1, not {threshold}")
    return np.where(scores > threshold, 1, np.where(scores < -threshold, 2, 0)).astype(np.intp)


def scale_of(features: Floats, scale: Scaling) -> Floats:
    """What each feature is divided by: 1, or its root mean square (1 for a feature that is 0 throughout).

    >>> scale_of(np.array([[3.0, 1.0, 0.0], [4.0, -1.0, 0.0]]), "rms").round(3).tolist()
    [3.536, 1.0, 1.0]
    """
    if scale is None:
        return np.ones(features.shape[1])
    if scale != "rms":
        raise unknown("scale", scale, ["rms"])
    size = np.sqrt((features**2).mean(axis=0))
    return np.where(size > 0, size, 1.0)
