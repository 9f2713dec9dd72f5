"""Text as numbers: one byte a character, by which all forms of all words are found at once and words are told apart."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..languages import Language, is_word_character
from .table import UNSEEN, CharacterTable, Codes, Kinds

#: What a byte says: nothing of a word, some mark, some letter or digit, from _FIRST on a character of the words sought.
GAP, _MARK, _LETTER, _FIRST = range(4)
#: Stands where bytes were no UTF-8. It may have been a letter, so no word ends beside it.
_BROKEN = "\ufffd"


@dataclass(frozen=True, slots=True)
class Block:
    """Records as one text, with a line break before, between and after them; ``codes`` and ``kinds`` by character.

    ``letters`` says of each kind whether it makes a word of a run of characters; marks alone are none.
    """

    text: str
    codes: Codes
    kinds: Kinds
    breaks: npt.NDArray[np.int64]
    letters: npt.NDArray[np.bool_]

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
        first = _FIRST + len(marks)
        room = UNSEEN - first
        self.shared = len(letters) > room
        self._ids = {mark: _FIRST + number for number, mark in enumerate(marks)}
        self._ids |= {letter: first + number % room for number, letter in enumerate(letters)}
        self._letters = np.arange(UNSEEN + 1) >= first
        self._letters[_LETTER] = True
        self._table = CharacterTable(self._kind)

    def fold(self, text: str) -> str:
        """The text blind to case, character for character, so that offsets stay true."""
        return "".join(map(self._fold, text))

    def encode(self, text: str) -> bytes:
        """The byte of each character."""
        return bytes(map(self._kind, text))

    def block(self, text: str) -> Block:
        """Records that line breaks set apart, as numbers."""
        text = f"\n{text}\n"
        codes, kinds = self._table.look_up(text)
        return Block(text, codes, kinds, np.flatnonzero(codes == ord("\n")), self._letters)

    def _kind(self, character: str) -> int:
        known = self._ids.get(self._fold(character))
        if known is not None:
            return known
        if character.isalnum():
            return _LETTER
        return _MARK if is_word_character(character) or character == _BROKEN else GAP

    def _fold(self, character: str) -> str:
        small = self._language.fold(character)
        folded = small.casefold()  # the sigma at the end of a word is a sigma
        if len(folded) == 1:
            return folded
        return small if len(small) == 1 else character
