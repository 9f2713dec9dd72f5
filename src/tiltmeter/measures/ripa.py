"""RIPA: relational inner product association (Ethayarajh, Duvenaud & Hirst 2019)."""

from __future__ import annotations

import dataclasses

from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.measures.geometry import rows, unit, vanishes
from tiltmeter.statistics import Interval, Result, bootstrap_interval


@dataclasses.dataclass(frozen=True, slots=True)
class RipaResult(Result):
    """``score`` is the mean over words of ``by_word``, each a mean over the pairs."""

    score: float
    ci: Interval
    by_word: tuple[float, ...]
    n: int
    n_pairs: int


def ripa(words: ArrayLike, first: ArrayLike, second: ArrayLike, *, seed: int = 0) -> RipaResult:
    """Mean inner product of words with the relation vectors of pairs, (first - second) / |first - second|.

    Positive: words lean towards the first members of the pairs; 0 is level. The inner product keeps the
    length of the word's vector, as published: frequent words can weigh more. ci resamples words.

    >>> ripa([[2.0, 0.0], [0.0, 1.0]], [[1.0, 0.0]], [[-1.0, 0.0]]).by_word
    (2.0, 0.0)
    """
    w = rows("words", words, at_least=2)
    one, two = rows("first", first, like=w), rows("second", second, like=w)
    if one.shape != two.shape:
        raise BadInput(f"pairs need as many first as second members, not {len(one)} and {len(two)}")
    relation = one - two
    if any(vanishes(pair, member) for pair, member in zip(relation, one, strict=True)):
        raise BadInput("a pair has two identical vectors, so it names no relation")
    by_word = (w @ unit(relation).T).mean(axis=1)
    ci = bootstrap_interval(by_word, seed=seed)
    return RipaResult(float(by_word.mean()), ci, tuple(by_word.tolist()), len(w), len(one))
