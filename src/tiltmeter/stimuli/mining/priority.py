"""A number for each window by which a uniform sample is drawn: the windows with the smallest numbers are kept.

The number depends on the seed, the word, the length, the text of the window and the place of the word in it, and on
nothing else. So the same window has the same number wherever it stands, and the sample is the same whatever the order
of the files and the number of workers. Hashing every window on its own would take longer than everything else
together; a polynomial in the character codes gives the hash of any window from two entries of one running sum.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .table import Codes
from .words import Places

Numbers = npt.NDArray[np.uint64]
_BITS = 64


class Priorities:
    """Numbers of windows; ``names`` has one text for each reservoir, e.g. its word and length."""

    def __init__(self, seed: int, names: Sequence[str]) -> None:
        base = _key(seed, "base") | 1  # odd, so that it has an inverse
        self._base, self._inverse = base, pow(base, -1, 1 << _BITS)
        self._keys = np.array([_key(seed, name) for name in names], np.uint64)
        self._up, self._down = _powers(self._base, 1), _powers(self._inverse, 1)
        self._sums = np.zeros(2, np.uint64)

    def sums(self, codes: Codes) -> Numbers:
        """Running sums of a text, from which the numbers of all windows in it follow; good until the next text."""
        n = len(codes)
        if len(self._up) < n:
            self._up, self._down = _powers(self._base, 2 * n), _powers(self._inverse, 2 * n)
            self._sums = np.zeros(2 * n + 1, np.uint64)
        sums = self._sums[: n + 1]
        np.multiply(codes, self._up[:n], out=sums[1:], dtype=np.uint64)
        np.cumsum(sums[1:], out=sums[1:])
        return sums

    def of(self, sums: Numbers, reservoir: Places, start: Places, end: Places, form: Places) -> Numbers:
        """The numbers of windows from ``start`` to ``end`` in which the word begins at ``form``."""
        text = (sums[end] - sums[start]) * self._down[start]
        place = (form - start).astype(np.uint64) << np.uint64(32) | (end - start).astype(np.uint64)
        return _mix(_mix(text ^ self._keys[reservoir]) + _mix(place))


def _powers(base: int, n: int) -> Numbers:
    powers = np.full(n, base, np.uint64)
    powers[0] = 1
    return np.multiply.accumulate(powers)


def _key(seed: int, name: str) -> int:
    return int.from_bytes(hashlib.blake2b(f"{seed}\n{name}".encode(), digest_size=_BITS // 8).digest(), "little")


def _mix(x: Numbers) -> Numbers:
    """The finaliser of SplitMix64 (Steele et al. 2014): one to one, and every bit depends on every other."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
