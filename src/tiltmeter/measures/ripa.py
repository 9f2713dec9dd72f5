"""RIPA: relational inner product association (Ethayarajh, Duvenaud & Hirst 2019)."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.measures.geometry import TWO_UNNAMED, Families, kin_along, rows, unit, vanishes
from tiltmeter.statistics import Interval, Result
from tiltmeter.statistics.two_way import TwoWay, mean_of_table


@dataclasses.dataclass(frozen=True, slots=True)
class RipaResult(Result):
    """``score`` is the mean over words of ``by_word``, each a mean over the pairs.

    ``p_value`` and ``ci`` generalise over words and pairs; ``test`` has both sides.
    """

    score: float
    p_value: float
    ci: Interval
    by_word: tuple[float, ...]
    n: int
    n_pairs: int
    test: TwoWay


def ripa(words: ArrayLike, first: ArrayLike, second: ArrayLike, *, families: Families = TWO_UNNAMED) -> RipaResult:
    """Mean inner product of words with the relation vectors of pairs, (first - second) / |first - second|.

    Positive: words lean towards the first members of the pairs; 0 is level. The inner product keeps the
    length of the word's vector, as published: frequent words can weigh more. p and ci: would it hold for other words
    and other pairs? Families of words and of pairs count once (see ``statistics.two_way``).

    Args:
        words: vectors of the words.
        first, second: vectors of the two sides of the pairs.
        families: names of the families of the words and of the pairs; None: found from the vectors.

    >>> ripa([[2.0, 0.0], [0.0, 1.0]], [[1.0, 0.0]], [[-1.0, 0.0]]).by_word
    (2.0, 0.0)
    """
    w = rows("words", words, at_least=2)
    one, two = rows("first", first, like=w), rows("second", second, like=w)
    if one.shape != two.shape:
        raise BadInput(f"pairs need as many first as second members, not {len(one)} and {len(two)}")
    if any(vanishes(pair, member) for pair, member in zip(one - two, one, strict=True)):
        raise BadInput("a pair has two identical vectors, so it names no relation")
    relation = unit(one - two)
    table = w @ relation.T
    by_word = table.mean(axis=1)
    bound = float(np.linalg.norm(w, axis=1).mean())
    test = mean_of_table(table, *kin_along(unit(w), relation, families), bound=bound)
    return RipaResult(
        float(by_word.mean()), test.p_value, test.ci, tuple(by_word.tolist()), len(w), len(relation), test
    )
