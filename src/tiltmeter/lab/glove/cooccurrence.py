"""Who stands near whom: pairs of words counted part by part, then put together block by block.

The words are dealt into ``BLOCKS`` by their number. The pairs of two blocks are put together, shuffled and stored as a
file of their own, so that memory holds a hundredth of all pairs at a time, and training can work on blocks that share
no word side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiltmeter.files import write_atomically
from tiltmeter.lab.glove.loss import weights
from tiltmeter.lab.glove.vocabulary import TextRules, blocks_of_words
from tiltmeter.stimuli.mining.corpus import Shard

BLOCKS = 16
#: Word, context, ln X and f(X) of a pair, as they lie on disk.
ENTRY = np.dtype([("word", "<i4"), ("context", "<i4"), ("target", "<f4"), ("weight", "<f4")])
Entries = NDArray[Any]
#: Places of the hash table, and how many of them may be taken before it is emptied.
_SLOTS, _ROOM = 1 << 22, 3 << 20
_PAIRS, _STARTS = ("first", "second", "sum"), "starts"
Keys = NDArray[np.int64]
Sums = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PairCount:
    """How pairs are counted: of which words, and how far apart."""

    rules: TextRules
    numbers: Mapping[str, int]
    window: int


def count_pairs(how: PairCount, shard: Shard) -> bytes:
    """Each pair of one part of a corpus with the sum of 1 / distance, by the blocks of the two words.

    A word outside the vocabulary is as if it were not there; a pair does not reach beyond its record.
    """
    from safetensors.numpy import save

    from tiltmeter.lab.glove import kernels

    size = len(how.numbers)
    keys, sums = np.full(_SLOTS, -1, np.int64), np.zeros(_SLOTS)
    done: list[tuple[Keys, Sums]] = []
    taken = 0
    for words, lines in blocks_of_words(how.rules, shard):
        every = np.fromiter((how.numbers.get(word, -1) for word in words), np.int32, len(words))
        at, numbers, lines = 0, every[every >= 0], lines[every >= 0]
        while at < len(numbers):
            at, more = kernels.count_pairs(numbers, lines, at, how.window, size, keys, sums, _ROOM - taken)
            taken += more
            if at < len(numbers):
                done.append(_emptied(keys, sums))
                taken = 0
    done.append(_emptied(keys, sums))
    pairs, total = added_up(*(np.concatenate(parts) for parts in zip(*done, strict=True)))
    first, second = np.divmod(pairs, size)
    bucket = bucket_of(first, second)
    order = np.argsort(bucket, kind="stable")
    columns = (first.astype(np.int32), second.astype(np.int32), total.astype(np.float32))
    content: dict[str, NDArray[Any]] = dict(zip(_PAIRS, (column[order] for column in columns), strict=True))
    content[_STARTS] = np.searchsorted(bucket[order], np.arange(BLOCKS * BLOCKS + 1))
    packed: bytes = save(content)
    return packed


def _emptied(keys: Keys, sums: Sums) -> tuple[Keys, Sums]:
    """What a hash table holds, by key; it is empty afterwards."""
    places = np.flatnonzero(keys >= 0)
    places = places[np.argsort(keys[places])]
    held = keys[places], sums[places]
    keys[places], sums[places] = -1, 0.0
    return held


def added_up(keys: Keys, sums: Sums) -> tuple[Keys, Sums]:
    """Each key once, with the sum of all that it had, added in the order in which they came.

    >>> [some.tolist() for some in added_up(np.array([7, 3, 7]), np.array([1.0, 5.0, 0.5]))]
    [[3, 7], [5.0, 1.5]]
    """
    if not len(keys):
        return keys, sums
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    starts = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    total: Sums = np.add.reduceat(sums[order].astype(float), starts)
    return ordered[starts], total


def bucket_of(first: NDArray[Any], second: NDArray[Any]) -> Keys:
    """The number of the two blocks that the words of a pair are of, whichever of them comes first."""
    one, two = first % BLOCKS, second % BLOCKS
    bucket: Keys = np.minimum(one, two) * BLOCKS + np.maximum(one, two)
    return bucket


def buckets() -> list[tuple[int, int]]:
    """All pairs of blocks, the smaller first."""
    return [(one, two) for one in range(BLOCKS) for two in range(one, BLOCKS)]


def put_together(
    parts: Sequence[Path], one: int, two: int, folder: Path, *, size: int, x_max: float, alpha: float, seed: int
) -> int:
    """The pairs of two blocks from all parts, shuffled, as files for training; says how many entries there are.

    A pair is an entry both ways: each word is the context of the other.
    """
    first, second, sums = (np.concatenate(columns) for columns in zip(*_read(parts, one * BLOCKS + two), strict=True))
    pairs, counts = added_up(first.astype(np.int64) * size + second, sums)
    word, context = np.divmod(pairs, size)
    turned = (word % BLOCKS != one) if one != two else np.zeros(len(word), bool)
    word, context = np.where(turned, context, word), np.where(turned, word, context)
    # A word beside itself is counted from both sides, as every pair is.
    counts = np.where(word == context, 2 * counts, counts)
    ways = [(one, two, word, context, counts), (two, one, context, word, counts)]
    if one == two:
        apart = word != context
        both = [np.concatenate([x, y[apart]]) for x, y in ((word, context), (context, word), (counts, counts))]
        ways = [(one, one, both[0], both[1], both[2])]
    total = 0
    for row, column, words, contexts, values in ways:
        entries = np.empty(len(words), ENTRY)
        entries["word"], entries["context"] = words, contexts
        entries["target"], entries["weight"] = np.log(values), weights(values, x_max=x_max, alpha=alpha)
        order = np.random.default_rng([seed, row, column]).permutation(len(entries))
        write_atomically(block_file(folder, row, column), entries[order].tobytes())
        total += len(entries)
    return total


def block_file(folder: Path, row: int, column: int) -> Path:
    return folder / f"block-{row:02}-{column:02}.bin"


def read_block(folder: Path, row: int, column: int) -> Entries:
    return np.fromfile(block_file(folder, row, column), ENTRY)


def _read(parts: Sequence[Path], bucket: int) -> Iterator[list[NDArray[Any]]]:
    """What each part holds of a pair of blocks; no more of it is read."""
    from safetensors import safe_open

    yield [np.zeros(0, kind) for kind in (np.int32, np.int32, np.float32)]
    for path in parts:
        with safe_open(path, framework="numpy") as file:
            start, stop = file.get_slice(_STARTS)[bucket : bucket + 2].tolist()
            if start < stop:  # its slices cannot be empty
                yield [file.get_slice(name)[start:stop] for name in _PAIRS]
