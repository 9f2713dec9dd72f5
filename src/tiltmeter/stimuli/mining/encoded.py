"""Pieces of a block of text as UTF-8: smaller than strings, and they go to a file as they are."""

from __future__ import annotations

import numpy as np

from .alphabet import Block
from .words import Places


class Encoded:
    """A block as bytes, and the place of each of its characters in them."""

    def __init__(self, block: Block) -> None:
        self.data = block.text.encode()
        self._wide = np.zeros(0, np.int64)
        if block.codes.dtype != np.uint8:
            self._wide = np.flatnonzero(block.codes > 0x7F)
        codes = block.codes[self._wide]
        self._more = np.append(0, np.cumsum(1 + (codes > 0x7FF) + (codes > 0xFFFF), dtype=np.int64))

    def place(self, positions: Places) -> Places:
        """The byte each character begins at."""
        if not len(self._wide):
            return positions
        shifted: Places = positions + self._more[np.searchsorted(self._wide, positions)]
        return shifted
