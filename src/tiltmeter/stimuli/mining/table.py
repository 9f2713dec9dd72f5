"""A byte for every character, from a table that learns each one when it first meets it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

Kinds = npt.NDArray[np.uint8]

#: No table may give a character this byte.
UNSEEN = 255
_CHARACTERS, _ASCII = 0x110000, 0x80


class CharacterTable:
    """``kind`` says the byte of a character; asking it for all 1.1 million of them would take a second.

    >>> CharacterTable(lambda character: int(character.isalpha())).look_up(np.array([ord("é"), ord("=")])).tolist()
    [1, 0]
    """

    def __init__(self, kind: Callable[[str], int]) -> None:
        self._kind = kind
        self.kinds = np.full(_CHARACTERS, UNSEEN, np.uint8)
        self.learn(range(_ASCII))

    def look_up(self, codes: npt.NDArray[np.int64]) -> Kinds:
        """The byte of each character."""
        kinds = self.kinds.take(codes)
        if (unseen := kinds == UNSEEN).any():
            self.learn(np.unique(codes[unseen]).tolist())
            kinds = self.kinds.take(codes)
        return kinds

    def learn(self, codes: Iterable[int]) -> None:
        """Ask for the bytes of some characters."""
        for code in codes:
            self.kinds[code] = self._kind(chr(code))
