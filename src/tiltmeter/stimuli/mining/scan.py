"""Looking through records for the words sought and the windows around them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tiltmeter.stimuli.mining.alphabet import Block
from tiltmeter.stimuli.mining.corpus import Shard
from tiltmeter.stimuli.mining.parts import Finds, Tally
from tiltmeter.stimuli.mining.patterns import Hits, Patterns
from tiltmeter.stimuli.mining.priority import Numbers, Priorities
from tiltmeter.stimuli.mining.records import Reader
from tiltmeter.stimuli.mining.reservoir import FIELDS, Batch
from tiltmeter.stimuli.mining.settings import Settings
from tiltmeter.stimuli.mining.tidy import Tidier
from tiltmeter.stimuli.mining.windows import sentences, table_of, whole_records
from tiltmeter.stimuli.mining.words import Places, Words


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
        self._lengths = table_of(settings.lengths, settings.within)

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
        words, hits = self._patterns.find(block)
        if not len(hits):
            return
        lines = block.line_of(hits.start)
        if not self.settings.language.spaced:
            words = Words.segmented(block, self.settings.language, np.unique(lines))
            hits = self._patterns.at_words(hits, words)
            lines = block.line_of(hits.start)
        finds.hits += np.bincount(hits.word, minlength=len(finds.hits))
        windows, rank, counts = self._windows(block, words, hits, lines, finds.reservoirs.limits)
        finds.found += counts
        if len(rank):
            finds.reservoirs.put(_batch(block, hits, lines, place, windows, rank))

    def _windows(
        self, block: Block, words: Words, hits: Hits, lines: Places, limits: Numbers
    ) -> tuple[Places, Numbers, Places]:
        """Windows that may enter their reservoirs, as ``kernels.windows`` gives them."""
        from tiltmeter.stimuli.mining.kernels import windows

        texts = [whole_records(block, words, lines)]
        if self._lengths[:, 2].any():
            texts.append(sentences(block, words, lines, hits, self.settings.language))
        found: tuple[Places, Numbers, Places] = windows(
            np.stack([hits.word, hits.start, hits.end, *words.reached(hits.start, hits.end)]),
            (words.starts, words.ends),
            np.stack([each.table() for each in texts]),
            self._lengths,
            self._priorities.running_hash(block),
            self._priorities.powers,
            self._priorities.keys,
            limits,
        )
        return found


def _batch(block: Block, hits: Hits, lines: Places, place: Place, windows: Places, rank: Numbers) -> Batch:
    """The windows as they are kept."""
    hit, begin, stop, reservoir = windows
    start, end, line = hits.start[hit], hits.end[hit], lines[hit]
    first, last, form, form_end = map(block.byte, (begin, stop, start, end))
    text = np.empty(len(hit), object)
    text[:] = [block.data[one:other] for one, other in zip(first.tolist(), last.tolist(), strict=True)]
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
