"""A block of records: brought into the one form of its language, then turned into numbers, one byte per character.

By these bytes all forms of all words are found at once, and words are told apart.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tiltmeter.stimuli.languages import Language, is_word_character

#: Bytes by character, places in a text, and 64-bit hashes.
Kinds = npt.NDArray[np.uint8]
Places = npt.NDArray[np.int64]
Hashes = npt.NDArray[np.uint64]

#: What a byte says: nothing of a word, an apostrophe, or some mark; then come the marks of the words sought, and from
#: ``letter`` on some letter or digit, and those of the words sought.
_GAP, APOSTROPHE, MARK, _FIRST = range(4)
_APOSTROPHES = "'’"
#: Stands where bytes were no UTF-8. It may have been a letter, so no word ends beside it.
_BROKEN = "\ufffd"
#: No table may give a character this byte.
UNSEEN = 255
_CHARACTERS, _ASCII = 0x110000, 0x80
_SPACE, _BREAK, _DELETE = ord(" "), ord("\n"), 0x7F
#: Bytes of UTF-8 from this on begin a character of several.
_FIRST_OF_SEVERAL = 0xC0
#: Patterns that can only match where one character beyond ASCII stands: it comes first, and nothing makes it optional.
_BEGINS_BEYOND_ASCII = re.compile(r"[^\x00-\x7f](?![*?{])[^|]*")
#: Letters that may melt into the one before them though they are no marks.
_JAMO = range(0x1100, 0x1200)


class Tidier:
    """Normalises each record of a text in which line breaks set records apart."""

    def __init__(self, language: Language) -> None:
        self._normalise = language.normalise
        patterns = [pattern.pattern for pattern, _ in language.replacements]
        # Whether the characters of a record tell that it needs nothing done, so that it can be skipped.
        self._skips = all(map(_BEGINS_BEYOND_ASCII.fullmatch, patterns))
        self._replaced = {pattern[0] for pattern in patterns}
        self._table = CharacterTable(self._is_doubtful)

    def __call__(self, text: str) -> bytes:
        """As many lines as before, each of them normalised, in UTF-8 and with a break before and after each."""
        if not self._skips:
            text = "\n".join(map(self._normalise, text.split("\n")))
        data = f"\n{text}\n".encode()
        pieces, at = list[bytes](), 0
        for start, end in self._doubtful(data) if self._skips else ():
            pieces += data[at:start], self._normalise(data[start:end].decode()).encode()
            at = end
        return b"".join([*pieces, data[at:]]) if pieces else data

    def _doubtful(self, data: bytes) -> Iterator[tuple[int, int]]:
        """Where the lines begin and end that may not be in their one form."""
        from tiltmeter.stimuli.mining.kernels import characters

        codes = np.frombuffer(data, np.uint8)
        space, line_break = codes == _SPACE, codes == _BREAK
        wide = np.flatnonzero(codes >= _FIRST_OF_SEVERAL)
        places = [
            wide[self._table.look_up(characters(codes, wide)).view(np.bool_)],
            np.flatnonzero((codes < _SPACE) & ~line_break | (codes == _DELETE)),
            # A space after a blank, or before the end of its line; an empty line is two breaks without a space.
            np.flatnonzero(space[1:] & (space | line_break)[:-1]) + 1,
            np.flatnonzero(space[:-1] & line_break[1:]),
        ]
        if not any(map(len, places)):
            return iter(())
        breaks = np.flatnonzero(line_break)
        lines = np.unique(np.searchsorted(breaks, np.concatenate(places)) - 1)
        return zip((breaks[lines] + 1).tolist(), breaks[lines + 1].tolist(), strict=True)

    def _is_doubtful(self, character: str) -> bool:
        """Whether a record with this character beyond ASCII may not be in its one form."""
        melts = unicodedata.category(character)[0] == "M" or ord(character) in _JAMO or ord(character) > 0xFFFF
        between_letters = f"a{character}a"
        changed = character in self._replaced or self._normalise(between_letters) != between_letters
        return melts or changed


@dataclass(frozen=True, slots=True)
class Block:
    """Records as one text, with a line break before, between and after them: ``data`` in UTF-8, ``kinds`` by character.

    Characters of several bytes are at ``wide``, with ``more`` bytes than characters up to each of them.
    Kinds from ``letter`` on make a word of a run of characters; marks alone are none.
    """

    data: bytes
    kinds: Kinds
    breaks: Places
    wide: Places
    more: Places
    letter: int

    def text(self, start: int, end: int) -> str:
        """The characters from one place to another."""
        first, last = self.byte(np.array([start, end])).tolist()
        return self.data[first:last].decode()

    def byte(self, positions: Places) -> Places:
        """The byte each character begins at."""
        if not len(self.wide):
            return positions
        shifted: Places = positions + self.more[np.searchsorted(self.wide, positions)]
        return shifted

    def line_of(self, positions: Places) -> Places:
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
        if (folded := self._fold(character)) in self._ids:
            return self._ids[folded]
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


class CharacterTable:
    """``kind`` says the byte of a character; asking it for all 1.1 million of them would take a second.

    >>> CharacterTable(lambda character: int(character.isalpha())).look_up(np.array([ord("é"), ord("=")])).tolist()
    [1, 0]
    """

    def __init__(self, kind: Callable[[str], int]) -> None:
        self._kind = kind
        self.kinds = np.full(_CHARACTERS, UNSEEN, np.uint8)
        self.learn(range(_ASCII))

    def look_up(self, codes: Places) -> Kinds:
        """The byte of each character."""
        kinds = self.kinds.take(codes)
        if (unseen := kinds == UNSEEN).any():
            self.learn(np.unique(codes[unseen]).tolist())
            kinds = self.kinds.take(codes)
        return kinds

    def learn(self, codes: Iterable[int]) -> None:
        """Ask for the bytes of some characters."""
        for code in codes:
            self.kinds[code] = self._kind(chr(code))
