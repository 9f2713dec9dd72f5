"""Words in many contexts each: checked, at unit length, and small enough to draw from quickly."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiltmeter.errors import BadInput
from tiltmeter.measures.geometry import rows, unit
from tiltmeter.statistics.groups import Floats

Small = NDArray[np.float32]


@dataclasses.dataclass(frozen=True, slots=True)
class Contexts:
    """The words of one set.

    ``rows`` holds the unit vectors of all contexts, word after word, counted from ``centre``. A difference of leans
    does not change with it, and single precision then keeps the digits in which the vectors differ: in a model
    whose vectors all point one way it would otherwise keep those they share. ``means`` is the mean unit vector of
    each word.
    """

    rows: Small
    counts: tuple[int, ...]
    means: Floats
    centre: Floats

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def starts(self) -> NDArray[np.intp]:
        """Where each word begins in ``rows``."""
        return np.cumsum((0, *self.counts[:-1]))


def contexts(name: str, words: Sequence[ArrayLike], *, like: Contexts | None = None, at_least: int = 1) -> Contexts:
    """Check the words of a set, one (contexts x dim) array each as wide as those of ``like``, and pack them.

    >>> contexts("X", [[[3.0, 4.0]], [[0.0, 2.0], [1.0, 0.0]]]).counts
    (1, 2)
    """
    try:
        n = len(words)
    except TypeError:
        raise BadInput(f"{name}: give a list with one (contexts x dim) array a word") from None
    if n < at_least:
        raise BadInput(f"{name}: needs at least {at_least} word(s), each with its contexts, and {n or 'none'} given")
    width, centre = (None, None) if like is None else (len(like.centre), like.centre)
    packed, means = [], []
    for place, word in enumerate(words):
        own = f"{name}, word {place}"
        checked = rows(own, word)
        if width is not None and checked.shape[1] != width:
            raise BadInput(f"{own}: vectors are {checked.shape[1]} wide, the others {width}")
        width, units = checked.shape[1], unit(checked)
        means.append(units.mean(axis=0))
        centre = means[0] if centre is None else centre
        packed.append((units - centre).astype(np.float32))
    assert centre is not None  # there is at least one word
    return Contexts(np.concatenate(packed), tuple(map(len, packed)), np.array(means), centre)


def scores(words: Sequence[ArrayLike], lean: Floats) -> list[Floats]:
    """s of every context of checked words, in double precision: equal scores stay equal.

    >>> scores([[[3.0, 4.0], [2.0, 0.0]]], np.array([1.0, -1.0]))[0].tolist()
    [-0.20000000000000007, 1.0]
    """
    return [unit(np.asarray(word, dtype=np.float64)) @ lean for word in words]
