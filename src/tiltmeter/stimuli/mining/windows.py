"""The text around a word: so many words of it, wherever in the text the word stands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..languages import Language
from .alphabet import Block
from .patterns import Hits
from .sought import Length
from .words import Places, Words


@dataclass(frozen=True, slots=True)
class Windows:
    """Where windows begin and end in a block; ``hit`` is the number of the hit each is around."""

    hit: Places
    start: Places
    end: Places


@dataclass(frozen=True, slots=True)
class Texts:
    """The text each hit may take its window from: a record or a sentence, by character and by word."""

    start: Places
    end: Places
    first: Places
    stop: Places


def records(block: Block, words: Words, lines: Places) -> Texts:
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
            spans = np.array(language.sentences(block.text[begin:end]), np.int64).reshape(-1, 2) + begin
            known[line] = spans
        found[number] = spans[np.searchsorted(spans[:, 0], start, side="right") - 1]
    # A form of several words may run on into the next sentence; then that is part of its text.
    starts, ends = found[:, 0], np.maximum(found[:, 1], hits.end)
    return Texts(starts, ends, words.first_from(starts), words.first_from(ends))


def around(hits: Hits, first: Places, last: Places, words: Words, texts: Texts, length: Length) -> Windows:
    """The windows of one length around hits that reach from word ``first`` to word ``last``.

    A text with fewer words has none; a window at the edge of a text is shifted, never shortened. A window that holds
    the first word of its text also holds what stands before it, and so at the end.
    """
    if length.kind != "exactly":
        least = length.words if length.kind == "more" else -1
        hit = np.flatnonzero(texts.stop - texts.first > least)
        return Windows(hit, texts.start[hit], texts.end[hit])
    taken = last - first + 1
    hit = np.flatnonzero((texts.stop - texts.first >= length.words) & (taken <= length.words))
    before = (length.words - taken[hit]) // 2
    begin = np.clip(first[hit] - before, texts.first[hit], texts.stop[hit] - length.words)
    stop = begin + length.words
    start = np.where(begin == texts.first[hit], texts.start[hit], words.starts[begin])
    end = np.where(stop == texts.stop[hit], texts.end[hit], words.ends[stop - 1])
    # The signs of a form such as C++ or .NET are no part of a word, but of the form.
    return Windows(hit, np.minimum(start, hits.start[hit]), np.maximum(end, hits.end[hit]))
