"""Where the words of many records stand: the same as ``Language.words`` says of each, found for all of them at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from ..languages import Language
from .alphabet import GAP, Block

Places = npt.NDArray[np.int64]
_APOSTROPHES = "'’"
_APOSTROPHE, _CURLED = map(ord, _APOSTROPHES)


@dataclass(frozen=True, slots=True)
class Words:
    """Character offsets of the words in a block, in order."""

    starts: Places
    ends: Places

    @classmethod
    def apart(cls, block: Block) -> Self:
        """The words of a text in which other characters set them apart."""
        inside = block.kinds != GAP
        changes = np.flatnonzero(inside[1:] != inside[:-1]) + 1
        starts, ends = _without_bare_marks(block, changes[0::2], changes[1::2])
        if not any(each in block.text for each in _APOSTROPHES):
            return cls(starts, ends)
        # An apostrophe between two letters is part of the word.
        between = block.codes[ends[:-1]]
        apart = (starts[1:] - ends[:-1] > 1) | ((between != _APOSTROPHE) & (between != _CURLED))
        return cls(starts[np.append(True, apart)], ends[np.append(apart, True)])

    @classmethod
    def segmented(cls, block: Block, language: Language, lines: Places) -> Self:
        """The words of some records of a text whose words only a segmenter can tell."""
        spans = [
            (start + one, start + other)
            for start, end in zip((block.breaks[lines] + 1).tolist(), block.breaks[lines + 1].tolist(), strict=True)
            for one, other in language.words(block.text[start:end])
        ]
        places = np.array(spans, np.int64).reshape(-1, 2)
        return cls(places[:, 0], places[:, 1])

    def reached(self, starts: Places, ends: Places) -> tuple[Places, Places]:
        """The numbers of the first and the last word of stretches of text with a word in each."""
        first = np.searchsorted(self.starts, starts, side="right") - 1
        first += (first < 0) | (self.ends[first] <= starts)  # a form such as .NET begins before its word
        last = first.copy()
        longer = np.flatnonzero(ends > self.ends[first])  # most are one word
        last[longer] = np.searchsorted(self.starts, ends[longer] - 1, side="right") - 1
        return first, last

    def first_from(self, positions: Places) -> Places:
        """The number of the first word that starts at each position or after it."""
        return np.searchsorted(self.starts, positions)


def _without_bare_marks(block: Block, starts: Places, ends: Places) -> tuple[Places, Places]:
    """Runs of word characters, without those that hold no letter and no digit."""
    bare = ~block.letters[block.kinds[starts]]
    doubtful = np.flatnonzero(bare)
    if not len(doubtful):
        return starts, ends
    for run, start, end in zip(doubtful, starts[doubtful].tolist(), ends[doubtful].tolist(), strict=True):
        bare[run] = not any(map(str.isalnum, block.text[start:end]))
    return starts[~bare], ends[~bare]
