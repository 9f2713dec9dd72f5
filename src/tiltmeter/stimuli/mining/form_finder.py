"""All forms of all words, looked for at once in a block of records, and where the words of the block stand."""

from __future__ import annotations

import itertools
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Self

import numpy as np
import numpy.typing as npt
from ahocorasick_rs import BytesAhoCorasick, Implementation

from tiltmeter.stimuli.languages import Language, is_word_character
from tiltmeter.stimuli.mining.blocks import APOSTROPHE, MARK, Alphabet, Block, Places
from tiltmeter.stimuli.mining.mining_settings import LexiconWord


@dataclass(frozen=True, slots=True)
class WordSpans:
    """Character offsets of the words in a block, in order: the same as ``Language.words`` gives for each record."""

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


@dataclass(frozen=True, slots=True)
class Hits:
    """Where words stand in a block: which, from where to where, and where the root ends."""

    word: Places
    start: Places
    end: Places
    root_end: Places

    def __len__(self) -> int:
        return len(self.word)

    def take(self, chosen: Places) -> Self:
        return type(self)(self.word[chosen], self.start[chosen], self.end[chosen], self.root_end[chosen])


class FormFinder:
    """Finds every occurrence of every word; each word on its own, so that no other word can hide it."""

    def __init__(self, words: Sequence[LexiconWord], language: Language) -> None:
        self._alphabet = Alphabet((form for word in words for form in _spellings(word.forms)), language)
        takers = self._takers(words)
        self._forms = list(takers)
        kinds = [self._alphabet.encode(form) for form in self._forms]
        whole = np.array([all(map(is_word_character, form)) for form in self._forms])
        # Where words are set apart, a form of word characters alone is a whole run of them; others may overlap.
        simple = whole & language.spaced
        self._simple, self._others = np.flatnonzero(simple), np.flatnonzero(~simple)
        self._runs = RunIndex([kinds[number] for number in self._simple])
        self._spaced = language.spaced
        patterns = [kinds[number] for number in self._others]
        self._automaton = BytesAhoCorasick(patterns, implementation=Implementation.DFA) if patterns else None
        self._overlapping = {number for form in self._others for number in takers[self._forms[form]]}
        # By kinds alone these may be a near miss.
        self._checked = ~whole | self._alphabet.shared
        self._counts = np.array([len(roots) for roots in takers.values()])
        self._firsts = np.cumsum(self._counts) - self._counts
        pairs = [pair for roots in takers.values() for pair in roots.items()]
        self._words, self._roots = np.array(pairs, np.int64).T

    def block(self, data: bytes) -> Block:
        return self._alphabet.block(data)

    def find(self, block: Block) -> tuple[WordSpans, Hits]:
        """The words of the block, and every occurrence; where nothing sets words apart, as far as characters tell."""
        words, (form, start, end) = self._runs.look_through(block)
        places = np.stack([self._simple[form], start, end])
        if self._automaton is not None:
            matches = self._automaton.find_matches_as_indexes(block.kinds.data, overlapping=True)
            flat = np.fromiter(itertools.chain.from_iterable(matches), np.int64, 3 * len(matches))
            form, start, end = flat.reshape(-1, 3).T
            free = (block.kinds[start - 1] < MARK) & (block.kinds[end] < MARK) | (not self._spaced)
            places = np.concatenate([places, np.stack([self._others[form], start, end])[:, free]], axis=1)
        if self._checked.any():
            places = places[:, self._true(block, *places)]
        hits = self._by_word(*places)
        return words, _longest(hits, self._overlapping) if self._overlapping else hits

    def _takers(self, words: Sequence[LexiconWord]) -> dict[str, dict[int, int]]:
        """Each spelling to look for: the numbers of the words that take it, with the length of their root."""
        takers: dict[str, dict[int, int]] = {}
        for number, word in enumerate(words):
            roots = [self._alphabet.fold(root) for root in _spellings(word.forms[:1])]
            for form in map(self._alphabet.fold, _spellings(word.forms)):
                root = next((len(root) for root in roots if form.startswith(root)), len(form))
                takers.setdefault(form, {}).setdefault(number, root)
        return takers

    def _true(self, block: Block, form: Places, start: Places, end: Places) -> npt.NDArray[np.bool_]:
        """Which places hold the very characters of the form."""
        true: npt.NDArray[np.bool_] = ~self._checked[form]
        for number in np.flatnonzero(~true).tolist():
            text = self._alphabet.fold(block.text(start[number], end[number]))
            true[number] = text == self._forms[form[number]]
        return true

    def _by_word(self, form: Places, start: Places, end: Places) -> Hits:
        """One hit per word that takes the form."""
        counts = self._counts[form]
        at = np.repeat(self._firsts[form], counts)
        at += np.arange(len(at)) - np.repeat(np.cumsum(counts) - counts, counts)
        start, end = np.repeat(start, counts), np.repeat(end, counts)
        return Hits(self._words[at], start, end, start + self._roots[at])


class RunIndex:
    """Forms that are whole runs of word characters, written in kinds, one byte per character.

    An automaton looks for a form at every character; in a text that is cut into runs already, one look at each run is
    enough.
    """

    def __init__(self, forms: Sequence[bytes]) -> None:
        from tiltmeter.stimuli.mining.kernels import SLOTS, slot

        self._spelled = np.frombuffer(b"".join(forms), np.uint8)
        self._places = np.cumsum([0, *map(len, forms)])
        self._most = max(Counter(forms).values(), default=0)
        self._slots, self._after = np.full(SLOTS, -1), np.full(len(forms), -1)
        for number, form in enumerate(forms):
            place = slot(form[0], form[-1], len(form))
            self._after[number], self._slots[place] = self._slots[place], number

    def look_through(self, block: Block) -> tuple[WordSpans, Places]:
        """The words of a block that other characters set apart; form, start and end of each run that is a form.

        An apostrophe between two letters is part of a word, but ends a run.
        """
        from tiltmeter.stimuli.mining.kernels import words_and_forms

        inside = block.kinds >= MARK
        borders = np.flatnonzero(inside[1:] != inside[:-1]) + 1
        starts, ends, forms = words_and_forms(
            block.kinds, borders, APOSTROPHE, block.letter,
            self._slots, self._after, self._spelled, self._places, self._most,
        )  # fmt: skip
        return WordSpans(starts, ends), forms


def _longest(hits: Hits, overlapping: set[int]) -> Hits:
    """Of one word's overlapping forms, the leftmost, and of those the longest."""
    doubtful = np.isin(hits.word, list(overlapping))
    order = np.lexsort((-hits.end, hits.start, hits.word))
    chosen = np.flatnonzero(~doubtful).tolist()
    spans = zip(hits.word[order].tolist(), hits.start[order].tolist(), hits.end[order].tolist(), order, strict=True)
    for _, same in itertools.groupby((span for span in spans if doubtful[span[3]]), key=itemgetter(0)):
        free = 0
        for _, start, end, number in same:
            if start >= free:
                chosen.append(number)
                free = end
    return hits.take(np.sort(np.array(chosen, np.int64)))


def _spellings(forms: Sequence[str]) -> Iterator[str]:
    """The forms, and their folded spelling where it is longer: Straße, STRASSE."""
    for form in forms:
        yield form
        grown = unicodedata.normalize("NFC", form.casefold())
        if len(grown) != len(form):
            yield grown
