"""The text around a word: so many words of it, wherever in the text the word stands.

A text with fewer words has no such window; a window at the edge of a text is shifted, never shortened. A window that
holds the first word of its text also holds what stands before it, and so at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tiltmeter.stimuli.languages import Language
from tiltmeter.stimuli.mining.alphabet import Block
from tiltmeter.stimuli.mining.patterns import Hits
from tiltmeter.stimuli.mining.sought import Length
from tiltmeter.stimuli.mining.words import Places, Words


@dataclass(frozen=True, slots=True)
class Texts:
    """The text each hit may take its window from: a record or a sentence, by character and by word."""

    start: Places
    end: Places
    first: Places
    stop: Places

    def table(self) -> Places:
        return np.stack([self.start, self.end, self.first, self.stop])


def whole_records(block: Block, words: Words, lines: Places) -> Texts:
    """The whole record of each hit."""
    first = words.first_from(block.breaks)
    return Texts(block.breaks[lines] + 1, block.breaks[lines + 1], first[lines], first[lines + 1])


def sentences(block: Block, words: Words, lines: Places, hits: Hits, language: Language) -> Texts:
    """The sentence each hit begins in."""
    known: dict[int, Places] = {}
    found = np.empty((len(hits), 2), np.int64)
    for number, (line, start) in enumerate(zip(lines.tolist(), hits.start.tolist(), strict=True)):
        spans = known.get(line)
        if spans is None:
            begin, end = int(block.breaks[line]) + 1, int(block.breaks[line + 1])
            spans = np.array(language.sentences(block.text(begin, end)), np.int64).reshape(-1, 2) + begin
            known[line] = spans
        found[number] = spans[np.searchsorted(spans[:, 0], start, side="right") - 1]
    # A form of several words may run on into the next sentence; then that is part of its text.
    starts, ends = found[:, 0], np.maximum(found[:, 1], hits.end)
    return Texts(starts, ends, words.first_from(starts), words.first_from(ends))


def table_of(lengths: Sequence[Length], within: str) -> Places:
    """For each length: how many words, whether exactly so many, and whether of a record (0) or of a sentence (1)."""
    rows = [
        (
            -1 if length.kind == "sentence" else length.words,
            length.kind == "exactly",
            "sentence" in (within, length.kind),
        )
        for length in lengths
    ]
    return np.array(rows, np.int64)
