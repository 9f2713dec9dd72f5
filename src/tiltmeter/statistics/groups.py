"""Two groups of scores in which words, not observations, are the unit.

Everything the two-group statistics need of a word is the mean and the mean square of its scores, and
how many there are. A word seen once (WEAT) and a word seen in ninety sentences (SEAT, association) are
then one case, and every statistic counts words the same way.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiltmeter.errors import BadInput

Floats = NDArray[np.float64]


@dataclasses.dataclass(frozen=True, slots=True)
class Group:
    """One group of scores, summed up by unit."""

    means: Floats
    squares: Floats
    observations: int

    @property
    def n(self) -> int:
        return len(self.means)

    def around(self, centre: float) -> Group:
        """The same scores counted from a centre: squares of large, close scores would lose their digits."""
        means = self.means - centre
        return Group(means, np.maximum(self.squares - self.means**2, 0.0) + means**2, self.observations)


def numbers(name: str, values: ArrayLike) -> Floats:
    """Values as a checked list of at least one finite number.

    >>> numbers("scores", [1, 2]).tolist()
    [1.0, 2.0]
    """
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadInput(f"{name} must be a plain list of numbers") from None
    if found.ndim != 1 or found.size == 0:
        raise BadInput(f"{name} must be a list of at least one number")
    if not np.isfinite(found).all():
        raise BadInput(f"{name} holds NaN or infinity: every value must be a finite number")
    return found


def by_unit(scores: ArrayLike, units: Sequence[Hashable] | NDArray[Any] | None = None) -> Group:
    """Sum scores up by unit; without units each score is its own.

    >>> by_unit([1.0, 3.0, 5.0], ["he", "he", "man"]).means.tolist()
    [2.0, 5.0]
    """
    values = numbers("a group of scores", scores)
    if units is None:
        return Group(values, values**2, values.size)
    if len(units) != values.size:
        raise BadInput(f"{values.size} scores but {len(units)} units: name one unit per score")
    order: dict[Hashable, int] = {}
    index = np.array([order.setdefault(unit, len(order)) for unit in units])
    counts = np.bincount(index)
    return Group(
        np.bincount(index, values) / counts,
        np.bincount(index, values**2) / counts,
        values.size,
    )
