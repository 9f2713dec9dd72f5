"""SemAxis: words on an axis between two poles (An, Kwak & Ahn 2018)."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.measures.geometry import (
    THREE_UNNAMED,
    Families,
    Partners,
    all_matched,
    kin_along,
    kin_between,
    pair_families,
    rows,
    unit,
    vanishes,
)
from tiltmeter.statistics import Interval, Result
from tiltmeter.statistics.groups import Floats
from tiltmeter.statistics.two_way import TwoWay, difference_of_poles, mean_of_table


@dataclasses.dataclass(frozen=True, slots=True)
class SemAxisResult(Result):
    """One score a word, in the order given, and their mean.

    ``p_value`` and ``ci`` of the mean generalise over words and the words of the poles; ``test`` has both sides.
    """

    scores: tuple[float, ...]
    mean: float
    p_value: float
    ci: Interval
    test: TwoWay


def semaxis(
    words: ArrayLike,
    pole_1: ArrayLike,
    pole_2: ArrayLike,
    *,
    partners: Partners = (),
    families: Families = THREE_UNNAMED,
) -> SemAxisResult:
    """cos(w, mean of pole 1 - mean of pole 2). Positive: nearer to pole 1; 0 is level.

    The poles are averaged as they are, not at unit length, as published. p and ci of the mean: would it hold for other
    words, and for other words at the poles?

    Args:
        words: vectors of the words.
        pole_1, pole_2: vectors of the words of the two poles.
        partners: matched words (she, he) as places in the two poles; used where they are all matched.
        families: names of the families of the words and of the two poles' words; None: found from the vectors.

    >>> semaxis([[1.0, 1.0], [0.0, 2.0]], [[2.0, 0.0]], [[-2.0, 0.0]]).scores[1]
    0.0
    """
    w = rows("words", words)
    one, two = rows("pole 1", pole_1, like=w), rows("pole 2", pole_2, like=w)
    axis = one.mean(0) - two.mean(0)
    if vanishes(axis, one):
        raise BadInput("the two poles have the same average, so there is no axis between them")
    scores = unit(w) @ unit(axis)
    test = on_axis(unit(w), one, two, partners=partners, families=families)
    return SemAxisResult(tuple(scores.tolist()), float(scores.mean()), test.p_value, test.ci, test)


def on_axis(words: Floats, one: Floats, two: Floats, *, partners: Partners, families: Families) -> TwoWay:
    """The mean place of words, at unit length, on the axis between two poles, over words and the words of the poles.

    The place of a word is a mean over the words of the first pole less one over those of the second, w.p / |axis|: the
    table of these products holds all there is to vary.
    """
    length = float(np.linalg.norm(one.mean(axis=0) - two.mean(axis=0)))
    if all_matched(partners, one, two):
        first, second = np.array(partners).T
        differences = one[first] - two[second]
        kin = kin_along(words, differences, pair_families(partners, families))
        return mean_of_table(words @ differences.T / length, *kin, bound=1.0)
    table = words @ np.concatenate([one, two]).T / length
    return difference_of_poles(table, *kin_between(words, unit(one), unit(two), families), bound=1.0)
