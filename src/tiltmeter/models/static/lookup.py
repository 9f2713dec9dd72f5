"""Which spellings of a word may stand in a vocabulary, and in which bytes."""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Vector


def spellings(word: str) -> list[str]:
    """What to look for, best first: the NFC form, then what else means the same word.

    Vocabularies are not always normalised. Normalising every word of a file would cost more than reading
    it, so the query is varied instead: decomposed (NFD), composed where NFC decomposes (Bengali য়, Hindi क़),
    as given, and each of these with underscores for spaces.

    >>> spellings("New York")
    ['New York', 'New_York']
    >>> [len(s) for s in spellings("café")], [len(s) for s in spellings("নয়")]
    ([4, 5], [3, 2])
    >>> spellings("  ")
    []
    """
    composed = unicodedata.normalize("NFC", " ".join(word.split()))
    if not composed:
        return []
    forms = [composed, unicodedata.normalize("NFD", composed), _fully_composed(composed), word]
    return list(dict.fromkeys([*forms, *(form.replace(" ", "_") for form in forms)]))


def _fully_composed(text: str) -> str:
    if not text.isascii():
        for pair, single in _excluded_compositions().items():
            text = text.replace(pair, single)
    return text


@functools.cache
def _excluded_compositions() -> dict[str, str]:
    """Letters that NFC takes apart for good (Indic nuktas, pointed Hebrew); common in real corpora."""
    letters = (chr(code) for block in (range(0x900, 0x1000), range(0xFB1D, 0xFB50)) for code in block)
    pairs = ((unicodedata.normalize("NFC", letter), letter) for letter in letters)
    # The longest first, so that a letter with two points is not caught by its part with one.
    return dict(sorted((p for p in pairs if len(p[0]) > 1), key=lambda p: -len(p[0])))


class Sought:
    """The spellings still to be found in a file of bytes, and the ones found in the wrong encoding."""

    def __init__(self, wanted: Iterable[str]) -> None:
        wanted = sorted(wanted)
        # A lone surrogate cannot stand in a UTF-8 file; it must end up out of vocabulary, not as a crash.
        self.utf8 = {word.encode("utf-8", "surrogatepass"): word for word in wanted}
        narrow = {word.encode("latin-1"): word for word in wanted if word and max(word) <= "\xff"}
        self.latin1 = {encoded: word for encoded, word in narrow.items() if not _is_utf8(encoded)}
        self._misread: set[str] = set()

    def take(self, word: bytes) -> str | None:
        """The spelling these bytes mean, once: later rows of the same word do not count."""
        if word in self.latin1:
            self._misread.add(self.latin1[word])
        return self.utf8.pop(word, None)

    def check_encoding(self, path: Path) -> None:
        """Called at the end of a file: a word that is there, but as Latin-1, must not pass for unknown."""
        for word in sorted(self._misread.intersection(self.utf8.values())):
            raise BadInput(f"{path}: '{word}' is written in Latin-1, not UTF-8; save the vectors again in UTF-8")


def _is_utf8(encoded: bytes) -> bool:
    try:
        encoded.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def usable(vector: Vector, where: str) -> Vector:
    """The vector, if it has a direction: finite and not all zero."""
    if not np.isfinite(vector).all():
        raise BadInput(f"{where}: the vector holds NaN or infinity; leave the word out or mend the file")
    if not vector.any():
        raise BadInput(f"{where}: the vector is all zero and has no direction; leave the word out")
    return vector


def narrowed(values: Sequence[float] | NDArray[Any], where: str) -> Vector:
    """Any numbers as a usable float32 vector of its own memory."""
    with np.errstate(over="ignore"):  # what is too large becomes infinite and is refused by name
        return usable(np.array(values, dtype=np.float32), where)
