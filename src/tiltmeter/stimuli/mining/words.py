"""Where the words of many records stand: the same as ``Language.words`` says of each, found for all of them at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from tiltmeter.stimuli.languages import Language
from tiltmeter.stimuli.mining.alphabet import Block

Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Words:
    """Character offsets of the words in a block, in order."""

    starts: Places
    ends: Places

    @classmethod
    def segmented(cls, block: Block, language: Language, lines: Places) -> Self:
        """The words of some records of a text whose words only a segmenter can tell."""
        spans = [
            (start + one, start + other)
            for start, end in zip((block.breaks[lines] + 1).tolist(), block.breaks[lines + 1].tolist(), strict=True)
            for one, other in language.words(block.text(start, end))
        ]
        starts, ends = np.array(spans, np.int64).reshape(-1, 2).T.copy()
        return cls(starts, ends)

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
