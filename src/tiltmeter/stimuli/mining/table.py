"""A byte for every character of a text, from a table that learns each character when it first meets it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Codes = npt.NDArray[np.uint8] | npt.NDArray[np.uint32]
Kinds = npt.NDArray[np.uint8]

#: No table may give a character this byte.
UNSEEN = 255
_CHARACTERS = 0x110000


class CharacterTable:
    """``kind`` says the byte of a character; asking it for all 1.1 million of them would take a second.

    >>> codes, kinds = CharacterTable(lambda character: int(character.isalpha())).look_up("é=1")
    >>> codes.tolist(), kinds.tolist()
    ([233, 61, 49], [1, 0, 0])
    """

    def __init__(self, kind: Callable[[str], int]) -> None:
        self._kind = kind
        self._table = np.full(_CHARACTERS, UNSEEN, np.uint8)
        self._table[:128] = [kind(chr(code)) for code in range(128)]
        self._ascii = bytes(self._table[:256])

    def look_up(self, text: str) -> tuple[Codes, Kinds]:
        """The number and the byte of each character."""
        if text.isascii():
            data = text.encode("ascii")
            return np.frombuffer(data, np.uint8), np.frombuffer(data.translate(self._ascii), np.uint8)
        codes = np.frombuffer(text.encode("utf-32-le"), np.uint32)
        kinds = self._table.take(codes)
        if kinds.max() == UNSEEN:
            for code in np.unique(codes[kinds == UNSEEN]).tolist():
                self._table[code] = self._kind(chr(code))
            kinds = self._table.take(codes)
        return codes, kinds
