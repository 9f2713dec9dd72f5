"""All forms of all words, looked for at once."""

from __future__ import annotations

import itertools
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from tiltmeter.stimuli.languages import Language, is_word_character
from tiltmeter.stimuli.mining.alphabet import MARK, Alphabet, Block
from tiltmeter.stimuli.mining.run_index import RunIndex
from tiltmeter.stimuli.mining.sought import Sought
from tiltmeter.stimuli.mining.words import Places, Words


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


@dataclass(frozen=True, slots=True)
class _Form:
    """One spelling to look for; ``words`` are the numbers of the words that take it, with the length of their root."""

    folded: str
    words: tuple[tuple[int, int], ...]


class Patterns:
    """Finds every occurrence of every word; each word on its own, so that no other word can hide it."""

    def __init__(self, sought: Sequence[Sought], language: Language) -> None:
        self._alphabet = Alphabet((form for each in sought for form in _spellings(each.forms)), language)
        self._forms = self._distinct(sought)
        kinds = [self._alphabet.encode(form.folded) for form in self._forms]
        whole = np.array([all(map(is_word_character, form.folded)) for form in self._forms])
        # Where words are set apart, a form of word characters alone is a whole run of them; others may overlap.
        simple = whole & language.spaced
        self._simple, self._others = np.flatnonzero(simple), np.flatnonzero(~simple)
        self._runs = RunIndex([kinds[number] for number in self._simple])
        self._spaced = language.spaced
        self._automaton = _automaton([kinds[number] for number in self._others])
        self._overlapping = {number for form in self._others for number, _ in self._forms[form].words}
        # By kinds alone these may be a near miss.
        self._checked = ~whole | self._alphabet.shared
        self._counts = np.array([len(form.words) for form in self._forms])
        self._firsts = np.cumsum(self._counts) - self._counts
        self._words, self._roots = np.array([pair for form in self._forms for pair in form.words], np.int64).T

    def block(self, data: bytes) -> Block:
        return self._alphabet.block(data)

    def find(self, block: Block) -> tuple[Words, Hits]:
        """The words of the block, and every occurrence; where nothing sets words apart, as far as characters tell."""
        words, (form, start, end) = self._runs.look_through(block)
        places = np.stack([self._simple[form], start, end])
        if self._automaton is not None:
            places = np.concatenate([places, self._anywhere(block)], axis=1)
        if self._checked.any():
            places = places[:, self._true(block, *places)]
        hits = self._by_word(*places)
        return words, _longest(hits, self._overlapping) if self._overlapping else hits

    def at_words(self, hits: Hits, words: Words) -> Hits:
        """The occurrences that begin and end where a word does."""
        if not len(words.starts):
            return hits.take(np.zeros(0, np.int64))
        return hits.take(np.flatnonzero(np.isin(hits.start, words.starts) & np.isin(hits.end, words.ends)))

    def _distinct(self, sought: Sequence[Sought]) -> list[_Form]:
        found: dict[str, dict[int, int]] = {}
        for number, each in enumerate(sought):
            roots = [self._alphabet.fold(root) for root in _spellings(each.forms[:1])]
            for form in map(self._alphabet.fold, _spellings(each.forms)):
                root = next((len(root) for root in roots if form.startswith(root)), len(form))
                found.setdefault(form, {}).setdefault(number, root)
        return [_Form(folded, tuple(words.items())) for folded, words in found.items()]

    def _anywhere(self, block: Block) -> Places:
        """Form, start and end of what the automaton finds."""
        matches = self._automaton.find_matches_as_indexes(block.kinds, overlapping=True)
        flat = np.fromiter(itertools.chain.from_iterable(matches), np.int64, 3 * len(matches))
        form, start, end = flat.reshape(-1, 3).T
        places = np.stack([self._others[form], start, end])
        if self._spaced:
            places = places[:, (block.kinds[start - 1] < MARK) & (block.kinds[end] < MARK)]
        return places

    def _true(self, block: Block, form: Places, start: Places, end: Places) -> npt.NDArray[np.bool_]:
        """Which places hold the very characters of the form."""
        true: npt.NDArray[np.bool_] = ~self._checked[form]
        for number in np.flatnonzero(~true).tolist():
            text = self._alphabet.fold(block.text(start[number], end[number]))
            true[number] = text == self._forms[form[number]].folded
        return true

    def _by_word(self, form: Places, start: Places, end: Places) -> Hits:
        """A hit for each word that takes the form found."""
        counts = self._counts[form]
        at = np.repeat(self._firsts[form], counts)
        at += np.arange(len(at)) - np.repeat(np.cumsum(counts) - counts, counts)
        start, end = np.repeat(start, counts), np.repeat(end, counts)
        return Hits(self._words[at], start, end, start + self._roots[at])


def _longest(hits: Hits, overlapping: set[int]) -> Hits:
    """Of the forms of one word that overlap, the leftmost and of these the longest."""
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
    """The forms, and beside them those that grow when they are put into small letters: Straße, STRASSE."""
    for form in forms:
        yield form
        grown = unicodedata.normalize("NFC", form.casefold())
        if len(grown) != len(form):
            yield grown


def _automaton(patterns: list[bytes]) -> Any:
    if not patterns:
        return None
    from ahocorasick_rs import BytesAhoCorasick, Implementation

    return BytesAhoCorasick(patterns, implementation=Implementation.DFA)
