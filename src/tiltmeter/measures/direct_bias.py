"""Direct and indirect bias along a direction (Bolukbasi et al. 2016)."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.measures.geometry import rows, unit, vanishes
from tiltmeter.statistics import Interval, Result
from tiltmeter.statistics.families import as_labels, spread_of_mean
from tiltmeter.statistics.groups import Floats, Units, as_floats
from tiltmeter.statistics.two_way import student_interval


@dataclasses.dataclass(frozen=True, slots=True)
class DirectBiasResult(Result):
    """``score`` is the mean of |cos|^strictness; ``by_word`` the signed cosines.

    There is no p-value. A size is above 0 along any direction, and relabelling cannot say how large it would be by
    chance: the principal component of pairs stays the same when the words of a pair change places, and pairs made anew
    of the same words differ in the same direction. ``ripa`` tests a lean along pairs, ``same`` a size along groups.
    """

    score: float
    ci: Interval
    by_word: tuple[float, ...]
    strictness: float
    n: int


def bias_direction(first: ArrayLike, second: ArrayLike) -> Floats:
    """The direction in which pairs (he, she), (man, woman), ... differ: first principal component.

    Each pair of unit vectors is centred on its own middle. Points towards the first members.

    >>> bias_direction([[1.0, 0.1], [1.0, 0.0]], [[-1.0, 0.1], [-1.0, 0.0]]).round(3).tolist()
    [1.0, 0.0]
    """
    one = unit(rows("first", first))
    two = unit(rows("second", second, like=one))
    if one.shape != two.shape:
        raise BadInput(f"pairs need as many first as second members, not {len(one)} and {len(two)}")
    half = (one - two) / 2
    if vanishes(half, one):
        raise BadInput("the pairs do not differ, so they give no direction")
    axis = np.linalg.svd(np.concatenate([half, -half]), full_matrices=False)[2][0]
    towards_first: Floats = axis if (half @ axis).sum() >= 0 else -axis
    return towards_first


def direct_bias(
    words: ArrayLike, direction: ArrayLike, *, strictness: float = 1.0, families: Units | None = None
) -> DirectBiasResult:
    """Mean |cos(w, direction)|^strictness over words that should be neutral.

    0: no word leans; lower is better. Unsigned, so chance alone gives more than 0 (about
    sqrt(2 / (pi * dimensions)) for random directions). ci: Student's t over words, whose ``families`` count once.

    >>> direct_bias([[1.0, 0.0], [0.0, 1.0], [3.0, 4.0]], [1.0, 0.0]).score.__round__(4)
    0.5333
    """
    w = rows("words", words, at_least=2)
    axis = _one("direction", direction, like=w)
    if not 0 <= strictness < np.inf:
        raise BadInput(f"strictness must be a number from 0 on, got {strictness}")
    by_word = unit(w) @ axis
    # As published, with strictness 0 a word counts as 1 unless it does not lean at all.
    strengths = np.where(by_word == 0, 0.0, np.abs(by_word) ** strictness)
    spread = spread_of_mean(strengths, as_labels(families, len(w)))
    ci = student_interval(spread, lowest=0.0, highest=1.0)
    return DirectBiasResult(float(strengths.mean()), ci, tuple(by_word.tolist()), strictness, len(w))


def indirect_bias(word: ArrayLike, other: ArrayLike, direction: ArrayLike) -> float:
    """How much of the similarity of two words comes from the direction.

    beta = (w.v - cos(w_perp, v_perp)) / w.v for unit vectors, perp with the direction removed. 0: none of
    it; 1: all of it; negative: removing the direction brings them closer.

    >>> indirect_bias([0.6, 0.8, 0.0], [0.6, 0.0, 0.8], [1.0, 0.0, 0.0])
    1.0
    """
    w = _one("word", word)
    v, g = _one("other", other, like=w[None]), _one("direction", direction, like=w[None])
    similarity = float(w @ v)
    w_perp, v_perp = w - (w @ g) * g, v - (v @ g) * g
    lengths = float(np.linalg.norm(w_perp) * np.linalg.norm(v_perp))
    if abs(similarity) < 1e-12 or lengths < 1e-12:
        raise BadInput("indirect bias is not defined: the words are orthogonal, or one lies along the direction")
    return (similarity - float(w_perp @ v_perp) / lengths) / similarity


def _one(name: str, vector: ArrayLike, *, like: Floats | None = None) -> Floats:
    """A single checked vector at length 1."""
    matrix = np.atleast_2d(as_floats(vector, f"{name}: must be one vector of numbers"))
    if len(matrix) != 1:
        raise BadInput(f"{name}: must be one vector, not {len(matrix)}")
    return unit(rows(name, matrix, like=like)[0])
