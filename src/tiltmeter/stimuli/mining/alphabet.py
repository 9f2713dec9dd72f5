"""Text as numbers: one byte a character, by which all forms of all words are found at once and words are told apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tiltmeter.stimuli.languages import Language, is_word_character
from tiltmeter.stimuli.mining.table import UNSEEN, CharacterTable, Kinds

#: What a byte says: nothing of a word, an apostrophe, or some mark; then come the marks of the words sought, and from
#: ``letter`` on some letter or digit, and those of the words sought.
_GAP, APOSTROPHE, MARK, _FIRST = range(4)
_APOSTROPHES = "'’"
#: Stands where bytes were no UTF-8. It may have been a letter, so no word ends beside it.
_BROKEN = "\ufffd"


@dataclass(frozen=True, slots=True)
class Block:
    """Records as one text, with a line break before, between and after them: ``data`` in UTF-8, ``kinds`` by character.

    Characters of several bytes are at ``wide``, with ``more`` bytes than characters up to each of them.
    Kinds from ``letter`` on make a word of a run of characters; marks alone are none.
    """

    data: bytes
    kinds: Kinds
    breaks: npt.NDArray[np.int64]
    wide: npt.NDArray[np.int64]
    more: npt.NDArray[np.int64]
    letter: int

    def text(self, start: int, end: int) -> str:
        """The characters from one place to another."""
        first, last = self.byte(np.array([start, end])).tolist()
        return self.data[first:last].decode()

    def byte(self, positions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The byte each character begins at."""
        if not len(self.wide):
            return positions
        shifted: npt.NDArray[np.int64] = positions + self.more[np.searchsorted(self.wide, positions)]
        return shifted

    def line_of(self, positions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """The number, from 0, of the record each position is in."""
        return np.searchsorted(self.breaks, positions) - 1


class Alphabet:
    """The characters of the words sought. There may be more of them than bytes: then letters share (``shared``)."""

    def __init__(self, texts: Iterable[str], language: Language) -> None:
        self._language = language
        folded = {character for text in texts for character in self.fold(text) if is_word_character(character)}
        marks = sorted(character for character in folded if not character.isalnum())
        letters = sorted(folded - set(marks))
        self._letter = _FIRST + len(marks)
        first = self._letter + 1
        room = UNSEEN - first
        self.shared = len(letters) > room
        self._ids = {mark: _FIRST + number for number, mark in enumerate(marks)}
        self._ids |= {letter: first + number % room for number, letter in enumerate(letters)}
        self._table = CharacterTable(self._kind)

    def fold(self, text: str) -> str:
        """The text blind to case, character for character, so that offsets stay true."""
        return "".join(map(self._fold, text))

    def encode(self, text: str) -> bytes:
        """The byte of each character."""
        return bytes(map(self._kind, text))

    def block(self, data: bytes) -> Block:
        """Records in UTF-8 with a line break before, between and after them."""
        from tiltmeter.stimuli.mining.kernels import read

        codes = np.frombuffer(data, np.uint8)
        kinds, breaks, wide, more, new = read(codes, self._table.kinds, UNSEEN)
        if len(new):
            self._table.learn(np.unique(new).tolist())
            kinds, *_ = read(codes, self._table.kinds, UNSEEN)
        return Block(data, kinds, breaks, wide, more, self._letter)

    def _kind(self, character: str) -> int:
        known = self._ids.get(self._fold(character))
        if known is not None:
            return known
        if character.isalnum():
            return self._letter
        if is_word_character(character) or character == _BROKEN:
            return MARK
        return APOSTROPHE if character in _APOSTROPHES else _GAP

    def _fold(self, character: str) -> str:
        small = self._language.fold(character)
        folded = small.casefold()  # the sigma at the end of a word is a sigma
        if len(folded) == 1:
            return folded
        return small if len(small) == 1 else character
