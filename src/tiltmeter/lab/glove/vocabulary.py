"""The words of a corpus: told apart by the rules of its language, counted part by part, and numbered by frequency."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tiltmeter.stimuli.languages import Language
from tiltmeter.stimuli.mining.blocks import Tidier
from tiltmeter.stimuli.mining.corpus import Shard
from tiltmeter.stimuli.mining.records import RecordReader

#: More different words than this are cut back to those that came more than once, then more than twice, and so on.
_MOST_TYPES = 5_000_000


@dataclass(frozen=True, slots=True)
class TextRules:
    """How a corpus is read: by the rules of a language, and what is done about bytes that are no UTF-8."""

    language: Language
    errors: Literal["strict", "replace"]


def lines_of_words(text: str, speech: Language, tidy: Tidier) -> tuple[list[str], NDArray[np.int32]]:
    """The words of some records in small letters, and the number of the record that each stands in.

    >>> from tiltmeter.stimuli.languages import language
    >>> english = language("en")
    >>> words, lines = lines_of_words("The nurse's book.\\n\\nHe left!", english, Tidier(english))
    >>> words, lines.tolist()
    (['the', "nurse's", 'book', 'he', 'left'], [1, 1, 1, 3, 3])
    """
    rows = [
        # Line by line: one that is all ASCII is folded and cut much faster.
        [line[start:end] for start, end in speech.words(line)]
        for line in map(speech.fold, tidy(text).decode().split("\n"))
    ]
    lines = np.repeat(np.arange(len(rows), dtype=np.int32), np.fromiter(map(len, rows), np.int64, len(rows)))
    return [word for row in rows for word in row], lines


def blocks_of_words(rules: TextRules, shard: Shard) -> Iterator[tuple[list[str], NDArray[np.int32]]]:
    """The words of one part of a corpus, block by block, with the number of the record within its block."""
    tidy = Tidier(rules.language)
    for text, _, _ in RecordReader(shard, rules.errors).blocks():
        yield lines_of_words(text, rules.language, tidy)


def count_words(rules: TextRules, shard: Shard) -> dict[str, int]:
    """How often each word stands in one part of a corpus."""
    counts: Counter[str] = Counter()
    for words, _ in blocks_of_words(rules, shard):
        counts.update(words)
    return dict(counts)


def add_up(parts: Iterable[Mapping[str, int]]) -> Counter[str]:
    """The counts of all parts. They come in one order, so that which rare words fall away does not change."""
    total: Counter[str] = Counter()
    least = 1
    for part in parts:
        total.update(part)
        while len(total) > _MOST_TYPES:
            total = Counter({word: n for word, n in total.items() if n > least})
            least += 1
    return total


def numbered(counts: Mapping[str, int], *, min_count: int, most: int) -> dict[str, int]:
    """The words that come often enough, the most frequent first; equal ones by alphabet.

    >>> numbered({"b": 3, "a": 3, "rare": 1, "the": 9}, min_count=2, most=10)
    {'the': 9, 'a': 3, 'b': 3}
    """
    frequent = ((word, n) for word, n in counts.items() if n >= min_count)
    return dict(sorted(frequent, key=lambda item: (-item[1], item[0]))[:most])
