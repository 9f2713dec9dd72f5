"""Looking through records for the words sought and the windows around them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .alphabet import Block
from .corpus import Shard
from .encoded import Encoded
from .parts import Finds, Tally
from .patterns import Hits, Patterns
from .priority import Numbers, Priorities
from .reading import Reader
from .reservoir import FIELDS, Batch
from .settings import Settings
from .tidy import Tidier
from .windows import Texts, Windows, around, records, sentences
from .words import Places, Words


class Place(NamedTuple):
    """The number of the part of the corpus a block is in, and that of its first record there."""

    shard: int
    line: int


class Scanner:
    """Looks through one part of a corpus after another."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._tidy = Tidier(settings.language)
        self._patterns = Patterns(settings.sought, settings.language)
        self._priorities = Priorities(settings.seed, settings.names())

    def scan(self, shard: Shard, limits: Numbers | None = None, advance: Callable[[int], None] | None = None) -> Finds:
        """What one part holds; windows beyond ``limits`` are known to be of no use, ``advance`` hears of bytes read."""
        finds = Finds.none(self.settings)
        if limits is not None:
            finds.reservoirs.limits = limits.copy()  # Ray hands out what cannot be written to
        reader = Reader(shard, self.settings.errors)
        for text, first, size in reader.blocks():
            self.look(text, Place(shard.number, first), finds)
            if advance:
                advance(size)
        finds.shards[shard.number] = Tally(reader.records, reader.broken)
        return finds

    def look(self, text: str, place: Place, finds: Finds) -> None:
        """Records that line breaks set apart; ``place`` is that of the first of them."""
        block = self._patterns.block(self._tidy(text))
        hits = self._patterns.find(block)
        if not len(hits):
            return
        lines = block.line_of(hits.start)
        if self.settings.language.spaced:
            words = Words.apart(block)
        else:
            words = Words.segmented(block, self.settings.language, np.unique(lines))
            hits = self._patterns.at_words(hits, words)
            lines = block.line_of(hits.start)
        finds.hits += np.bincount(hits.word, minlength=len(finds.hits))
        self._keep(block, words, hits, lines, place, finds)

    def _keep(self, block: Block, words: Words, hits: Hits, lines: Places, place: Place, finds: Finds) -> None:
        settings = self.settings
        sums = self._priorities.sums(block.codes)
        encoded = Encoded(block)
        numbers = words.reached(hits.start, hits.end)
        whole = records(block, words, lines)
        sentence: Texts | None = None
        if settings.within == "sentence" or any(length.kind == "sentence" for length in settings.lengths):
            sentence = sentences(block, words, lines, hits, settings.language)
        for number, length in enumerate(settings.lengths):
            texts = sentence if sentence and (settings.within == "sentence" or length.kind == "sentence") else whole
            windows = around(hits, *numbers, words, texts, length)
            reservoir = hits.word[windows.hit] * len(settings.lengths) + number
            finds.found += np.bincount(reservoir, minlength=len(finds.found))
            priority = self._priorities.of(sums, reservoir, windows.start, windows.end, hits.start[windows.hit])
            entering = np.flatnonzero(priority <= finds.reservoirs.limits[reservoir])
            if len(entering):
                chosen = Windows(windows.hit[entering], windows.start[entering], windows.end[entering])
                ranks = reservoir[entering], priority[entering]
                finds.reservoirs.put(_batch(block, encoded, hits, lines, place, chosen, *ranks))


def _batch(block: Block, encoded: Encoded, hits: Hits, lines: Places, place: Place, windows: Windows,
           reservoir: Places, rank: Numbers) -> Batch:  # fmt: skip
    """The windows as they are kept."""
    hit, begin, start, end = windows.hit, windows.start, hits.start[windows.hit], hits.end[windows.hit]
    line = lines[hit]
    first, last, form, form_end = map(encoded.place, (begin, windows.end, start, end))
    text = np.empty(len(hit), object)
    text[:] = [encoded.data[one:other] for one, other in zip(first.tolist(), last.tolist(), strict=True)]
    columns = {
        "start": start - begin,
        "end": end - begin,
        "root_end": hits.root_end[hit] - begin,
        "form_byte": form - first,
        "form_bytes": form_end - form,
        "shard": np.full(len(hit), place.shard),
        "line": line + place.line,
        "at": start - block.breaks[line] - 1,
    }
    return Batch(reservoir, rank, text, np.stack([columns[name] for name in FIELDS]))
