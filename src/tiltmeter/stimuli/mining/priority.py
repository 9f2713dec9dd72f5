"""A number for each window by which a uniform sample is drawn: the windows with the smallest numbers are kept.

The number depends on the seed, the word, the length, the text of the window and the place of the word in it, and on
nothing else. So the same window has the same number wherever it stands, and the sample is the same whatever the order
of the files and the number of workers. Hashing every window on its own would take longer than everything else
together; a polynomial in the character codes gives the hash of any window from two entries of one running hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tiltmeter.stimuli.mining.alphabet import Block

Numbers = npt.NDArray[np.uint64]
_BITS = 64


class Priorities:
    """Numbers of windows; ``names`` has one text for each reservoir, e.g. its word and length.

    ``keys`` are different for each reservoir; ``powers`` are those of the polynomial's base.
    """

    def __init__(self, seed: int, names: Sequence[str]) -> None:
        self._base = np.uint64(_key(seed, "base") | 1)
        self.keys = np.array([_key(seed, name) for name in names], np.uint64)
        self.powers = np.ones(1, np.uint64)

    def running_hash(self, block: Block) -> Numbers:
        """The hash of a block up to each character, from which the numbers of all windows in it follow."""
        from tiltmeter.stimuli.mining.kernels import running_hash

        length = len(block.kinds)
        while len(self.powers) <= length:
            next_power = np.uint64(pow(int(self._base), len(self.powers), 1 << _BITS))
            self.powers = np.concatenate([self.powers, self.powers * next_power])
        hashes: Numbers = running_hash(np.frombuffer(block.data, np.uint8), length, self._base)
        return hashes


def _key(seed: int, name: str) -> int:
    return int.from_bytes(hashlib.blake2b(f"{seed}\n{name}".encode(), digest_size=_BITS // 8).digest(), "little")
