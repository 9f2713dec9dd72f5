"""Records brought into the one form of their language, without touching those that are in it already."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

import numpy as np

from tiltmeter.stimuli.languages import Language
from tiltmeter.stimuli.mining.table import CharacterTable

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
        self._knows = all(map(_BEGINS_BEYOND_ASCII.fullmatch, patterns))
        self._replaced = {pattern[0] for pattern in patterns}
        self._table = CharacterTable(self._is_doubtful)

    def __call__(self, text: str) -> bytes:
        """As many lines as before, each of them normalised, in UTF-8 and with a break before and after each."""
        if not self._knows:
            text = "\n".join(map(self._normalise, text.split("\n")))
        data = f"\n{text}\n".encode()
        pieces, at = list[bytes](), 0
        for start, end in self._doubtful(data) if self._knows else ():
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
        beside = f"a{character}a"
        changed = character in self._replaced or self._normalise(beside) != beside
        return melts or changed
