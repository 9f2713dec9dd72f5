"""Records brought into the one form of their language, without touching those that are in it already."""

from __future__ import annotations

import re
import unicodedata

import numpy as np
import numpy.typing as npt

from ..languages import Language
from .table import CharacterTable

#: What a character says of its record: nothing, that it must be normalised, or that a space may be too many.
_PLAIN, _DOUBTFUL, _SPACE, _BREAK = range(4)
#: Patterns that can only match where one character beyond ASCII stands: it comes first, and nothing makes it optional.
_BEGINS_BEYOND_ASCII = re.compile(r"[^\x00-\x7f](?![*?{])[^|]*")
#: Letters that may melt into the one before them though they are no marks.
_JAMO = range(0x1100, 0x1200)


class Tidier:
    """Normalises each record of a text in which line breaks set records apart."""

    def __init__(self, language: Language) -> None:
        self._normalise = language.normalise
        patterns = [pattern.pattern for pattern, _ in language.replacements]
        self._knows = all(map(_BEGINS_BEYOND_ASCII.fullmatch, patterns))
        self._replaced = {pattern[0] for pattern in patterns}
        self._table = CharacterTable(self._class)

    def __call__(self, text: str) -> str:
        """The text with as many lines as before, each of them normalised."""
        if not self._knows:
            return "\n".join(map(self._normalise, text.split("\n")))
        doubtful = self._doubtful(text)
        if not len(doubtful):
            return text
        lines = text.split("\n")
        for number in doubtful.tolist():
            lines[number] = self._normalise(lines[number])
        return "\n".join(lines)

    def _doubtful(self, text: str) -> npt.NDArray[np.int64]:
        """Numbers of the lines that may not be in their one form."""
        _, classes = self._table.look_up(f"\n{text}\n")
        blank = classes >= _SPACE
        places = np.flatnonzero(classes == _DOUBTFUL)
        pairs = np.flatnonzero(blank[1:] & blank[:-1])
        # An empty line is two breaks without a space.
        spaces = pairs[classes[pairs] + classes[pairs + 1] < 2 * _BREAK]
        if not len(places) and not len(spaces):
            return places
        breaks = np.flatnonzero(classes == _BREAK)
        # The pair "space, break" belongs to the line the space is in, "break, space" to the one that begins.
        spaces = np.where(classes[spaces] == _BREAK, spaces + 1, spaces)
        return np.unique(np.searchsorted(breaks, np.concatenate([places, spaces])) - 1)

    def _class(self, character: str) -> int:
        if character in " \n":
            return _SPACE if character == " " else _BREAK
        if character.isascii():
            return _PLAIN if character.isprintable() else _DOUBTFUL
        melts = unicodedata.category(character)[0] == "M" or ord(character) in _JAMO or ord(character) > 0xFFFF
        beside = f"a{character}a"
        changed = character in self._replaced or self._normalise(beside) != beside
        return _DOUBTFUL if melts or changed else _PLAIN
