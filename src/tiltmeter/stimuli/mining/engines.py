"""Looking through records for words and the windows of text around them, and who does that work.

A window holds so many words, wherever in the text its word stands. A text with fewer words has no such window; a window
at the edge of a text is shifted, never shortened. A window that holds the first word of its text also holds what stands
before it, and so at the end. The text of a word is its record, with those before and after it where windows may reach
across, or its sentence.

The work is done by this process, a pool of processes, or a Ray cluster. What comes out is the same.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from tiltmeter import cluster
from tiltmeter.stimuli.languages import Language
from tiltmeter.stimuli.mining.blocks import Block, Hashes, Places, Tidier
from tiltmeter.stimuli.mining.corpus import Shard
from tiltmeter.stimuli.mining.finds import FIELDS, Finds, Tally, Windows
from tiltmeter.stimuli.mining.form_finder import FormFinder, Hits, WordSpans
from tiltmeter.stimuli.mining.mining_settings import MiningSettings
from tiltmeter.stimuli.mining.records import RecordReader

_BITS = 64
#: How many characters of windows are taken out of a block at a time.
_AT_ONCE = 1 << 25


class Scanner:
    """Looks through one part of a corpus after another."""

    def __init__(self, settings: MiningSettings) -> None:
        self.settings = settings
        self._tidy = Tidier(settings.language)
        self._finder = FormFinder(settings.words, settings.language)
        self._ranks = Ranks(settings.seed, [f"{word.text}\n{n}" for word in settings.words for n in settings.lengths])
        # For each length: how many words, whether exactly so many, and whether of a record (0) or of a sentence (1).
        rows = [
            (length.words, length.kind == "exactly", "sentence" in (settings.within, length.kind))
            for length in settings.lengths
        ]
        self._lengths = np.array(rows, np.int64)

    def scan(self, shard: Shard, limits: Hashes, advance: Callable[[int], None] = lambda _: None) -> Finds:
        """What one part holds, without windows beyond ``limits``, the largest rank of use in each reservoir.

        ``advance`` is told how many bytes were read.
        """
        finds = Finds.none(self.settings)
        finds.reservoirs.limits = limits.copy()  # Ray hands out what cannot be written to
        reader = RecordReader(shard, self.settings.errors)
        blocks = reader.blocks()
        if self.settings.joins(shard.file.kind):
            for text, first, size, around in _with_neighbours(blocks):
                self.look(text, finds, shard=shard.number, line=first, around=around)
                advance(size)
        else:
            for text, first, size in blocks:
                self.look(text, finds, shard=shard.number, line=first)
                advance(size)
        finds.shards[shard.number] = Tally(reader.records, reader.broken)
        return finds

    def look(self, text: str, finds: Finds, *, shard: int, line: int, around: tuple[str, str] | None = None) -> None:
        """Records of a part that line breaks set apart; ``line`` is the number of the first of them there.

        ``around`` are the records before and after them, where windows may reach across.
        """
        from tiltmeter.stimuli.mining import kernels

        reach = int(around is not None)
        block = self._finder.block(self._tidy("\n".join([around[0], text, around[1]]) if around else text))
        words, hits = self._finder.find(block)
        if reach:  # what is found in a neighbour is found again where that is at home
            home = block.line_of(hits.start)
            hits = hits.take(np.flatnonzero((home > 0) & (home < len(block.breaks) - 2)))
            line -= 1
        if not len(hits):
            return
        lines = block.line_of(hits.start)
        if not self.settings.language.spaced:
            neighbours = np.unique(lines + np.arange(-reach, reach + 1)[:, None])
            words = WordSpans.segmented(block, self.settings.language, neighbours)
            hits = hits.take(np.flatnonzero(np.isin(hits.start, words.starts) & np.isin(hits.end, words.ends)))
            lines = block.line_of(hits.start)
        finds.hits += np.bincount(hits.word, minlength=len(finds.hits))
        # Of the record of each hit: its start and end, its first word and the one after its last.
        first = words.first_from(block.breaks)
        begin, end = lines, lines + 1
        if reach:  # an empty neighbour would leave nothing but a space
            filled = np.diff(block.breaks) > 1
            begin, end = begin - filled[lines - 1], end + filled[lines + 1]
        texts = [np.stack([block.breaks[begin] + 1, block.breaks[end], first[begin], first[end]])]
        if self._lengths[:, 2].any():
            texts.append(_sentences(block, words, lines, hits, self.settings.language))
        windows, rank, counts = kernels.windows(
            np.stack([hits.word, hits.start, hits.end, *words.reached(hits.start, hits.end)]),
            (words.starts, words.ends), np.stack(texts), self._lengths,
            self._ranks.running_hash(block), self._ranks.powers, self._ranks.keys, finds.reservoirs.limits,
        )  # fmt: skip
        finds.windows += counts
        # Long windows a few at a time: of a text of a million words, each may be the middle of one.
        pieces = np.cumsum(windows[2] - windows[1]) // _AT_ONCE
        for chosen in np.split(np.arange(len(rank)), np.flatnonzero(np.diff(pieces)) + 1):
            some = chosen[rank[chosen] <= finds.reservoirs.limits[windows[3, chosen]]]
            if len(some):
                entering = _columns(block, hits, lines, windows[:, some], rank[some], shard=shard, line=line)
                finds.reservoirs.add(entering)


class Ranks:
    """A number for each window by which a uniform sample is drawn: the windows with the smallest numbers are kept.

    The number depends on the seed, the word, the length, the text of the window and the place of the word in it, and on
    nothing else. So the same window has the same number wherever it stands, and the sample is the same whatever the
    order of the files and the number of workers. Hashing every window on its own would take longer than everything
    else together; a polynomial in the character codes gives the hash of any window from two entries of one running
    hash.

    ``names`` has one text for each reservoir, e.g. its word and length; ``keys`` are different for each reservoir;
    ``powers`` are those of the polynomial's base.
    """

    def __init__(self, seed: int, names: Sequence[str]) -> None:
        self._base = np.uint64(_key(seed, "base") | 1)
        self.keys = np.array([_key(seed, name) for name in names], np.uint64)
        self.powers = np.ones(1, np.uint64)

    def running_hash(self, block: Block) -> Hashes:
        """The hash of a block up to each character, from which the numbers of all windows in it follow."""
        from tiltmeter.stimuli.mining.kernels import running_hash

        length = len(block.kinds)
        while len(self.powers) <= length:
            next_power = np.uint64(pow(int(self._base), len(self.powers), 1 << _BITS))
            self.powers = np.concatenate([self.powers, self.powers * next_power])
        hashes: Hashes = running_hash(np.frombuffer(block.data, np.uint8), length, self._base)
        return hashes


def _with_neighbours(blocks: Iterator[tuple[str, int, int]]) -> Iterator[tuple[str, int, int, tuple[str, str]]]:
    """Blocks of records, each with the record before its first and the one after its last.

    >>> list(_with_neighbours(iter([("a\\nb", 1, 4), ("c", 3, 2)])))
    [('a\\nb', 1, 4, ('', 'c')), ('c', 3, 2, ('b', ''))]
    """
    before, now = "", next(blocks, None)
    while now is not None:
        after = next(blocks, None)
        yield *now, (before, after[0].partition("\n")[0] if after else "")
        before, now = now[0].rpartition("\n")[2], after


def _key(seed: int, name: str) -> int:
    return int.from_bytes(hashlib.blake2b(f"{seed}\n{name}".encode(), digest_size=_BITS // 8).digest(), "little")


def _sentences(block: Block, words: WordSpans, lines: Places, hits: Hits, language: Language) -> Places:
    """Of the sentence each hit begins in: its start and end, its first word and the one after its last."""
    spans_of: dict[int, Places] = {}
    spans = np.empty((len(hits), 2), np.int64)
    for number, (line, start) in enumerate(zip(lines.tolist(), hits.start.tolist(), strict=True)):
        if line not in spans_of:
            begin, end = int(block.breaks[line]) + 1, int(block.breaks[line + 1])
            spans_of[line] = np.array(language.sentences(block.text(begin, end)), np.int64).reshape(-1, 2) + begin
        spans[number] = spans_of[line][np.searchsorted(spans_of[line][:, 0], start, side="right") - 1]
    # A form of several words may run on into the next sentence; then that is part of its text.
    starts, ends = spans[:, 0], np.maximum(spans[:, 1], hits.end)
    return np.stack([starts, ends, words.first_from(starts), words.first_from(ends)])


def _columns(
    block: Block, hits: Hits, lines: Places, windows: Places, rank: Hashes, *, shard: int, line: int
) -> Windows:
    """The windows as they are kept."""
    hit, begin, stop, reservoir = windows
    start, end, record = hits.start[hit], hits.end[hit], lines[hit]
    first, last, form, form_end = map(block.byte, (begin, stop, start, end))
    text = np.empty(len(hit), object)
    places = zip(first.tolist(), last.tolist(), strict=True)
    text[:] = [block.data[one:other].replace(b"\n", b" ") for one, other in places]
    columns = {
        "start": start - begin, "end": end - begin, "root_end": hits.root_end[hit] - begin,
        "form_byte": form - first, "form_bytes": form_end - form,
        "shard": np.full(len(hit), shard), "line": record + line, "at": start - block.breaks[record] - 1,
    }  # fmt: skip
    return Windows(reservoir, rank, text, np.stack([columns[name] for name in FIELDS]))


Limits = Callable[[], Hashes]
Advance = Callable[[int], None]
Done = Iterator[tuple[Shard, bytes]]
#: In a worker: what it scans with.
_scanner: Scanner | None = None


def in_this_process(settings: MiningSettings, shards: Sequence[Shard], limits: Limits, advance: Advance) -> Done:
    """One part after another, in this process."""
    scanner = Scanner(settings)
    for shard in shards:
        yield shard, scanner.scan(shard, limits(), advance).to_bytes()


def in_a_pool(
    settings: MiningSettings, shards: Sequence[Shard], limits: Limits, advance: Advance, *, workers: int
) -> Done:
    """Parts shared out to processes of this machine."""
    handed_out = ((shard, limits()) for shard in shards)
    for (shard, _), content in cluster.in_a_pool(_scan, settings, handed_out, workers=workers):
        yield shard, content
        advance(shard.size)


def on_ray(
    settings: MiningSettings, shards: Sequence[Shard], limits: Limits, advance: Advance, *, workers: int,
    address: str | None,
) -> Done:  # fmt: skip
    """Parts shared out to a Ray cluster; one whose worker dies is done again by another."""
    handed_out = ((shard, limits()) for shard in shards)
    with cluster.connected(workers=workers, address=address) as ray:
        for (shard, _), content in ray.share_out(_scan, settings, handed_out):
            yield shard, content
            advance(shard.size)


def _scan(settings: MiningSettings, item: tuple[Shard, Hashes]) -> bytes:
    global _scanner
    if _scanner is None or settings != _scanner.settings:
        _scanner = Scanner(settings)
    return _scanner.scan(*item).to_bytes()
