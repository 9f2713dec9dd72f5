"""SemAxis: words on an axis between two poles (An, Kwak & Ahn 2018)."""

from __future__ import annotations

import dataclasses

from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.measures.geometry import rows, unit, vanishes
from tiltmeter.statistics import Result


@dataclasses.dataclass(frozen=True, slots=True)
class SemAxisResult(Result):
    """One score a word, in the order given."""

    scores: tuple[float, ...]
    mean: float


def semaxis(words: ArrayLike, pole_1: ArrayLike, pole_2: ArrayLike) -> SemAxisResult:
    """cos(w, mean of pole 1 - mean of pole 2). Positive: nearer to pole 1; 0 is level.

    The poles are averaged as they are, not at unit length, as published.

    >>> semaxis([[1.0, 1.0], [0.0, 2.0]], [[2.0, 0.0]], [[-2.0, 0.0]]).scores[1]
    0.0
    """
    w = rows("words", words)
    one, two = rows("pole 1", pole_1, like=w), rows("pole 2", pole_2, like=w)
    axis = one.mean(0) - two.mean(0)
    if vanishes(axis, one):
        raise BadInput("the two poles have the same average, so there is no axis between them")
    scores = unit(w) @ unit(axis)
    return SemAxisResult(tuple(scores.tolist()), float(scores.mean()))
