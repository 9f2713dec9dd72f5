"""Word vectors in a file: which format it has, and what stands for each word asked."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from tiltmeter.errors import BadInput, unknown
from tiltmeter.files import at_home, fingerprint
from tiltmeter.models.protocol import Batch, Identity, Question, Vector
from tiltmeter.models.static.matrix_formats import companions, gensim_rows, index_of, npy_rows
from tiltmeter.models.static.row_formats import VectorRows, binary_rows, text_rows

Case: TypeAlias = Literal["exact", "lower"]

_COMPRESSIBLE = (".txt", ".vec", ".glove", ".w2v", ".bin")
_SUFFIXES = (*_COMPRESSIBLE, *(f"{suffix}.gz" for suffix in _COMPRESSIBLE), ".kv", ".npy")


class StaticVectors:
    """Word vectors in a file: GloVe, word2vec (text or binary), fastText ``.vec``, gensim ``.kv``, ``.npy``.

    The format follows from the suffix. Only the words asked for are read, in one pass that stops
    when all are found, so memory does not grow with the file. Of a word that stands there twice the
    first counts. ``case="lower"`` asks for lower-cased words, for vocabularies that were lower-cased.
    A ``.npy`` matrix needs its vocabulary: a file beside it, or ``index``.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "tiny.vec")
    ...     _ = path.write_text("nurse 1 0\\nNew_York 0.5 2\\n", encoding="utf-8")
    ...     StaticVectors(path).embed_words(["New York", "unheard-of"])
    [array([0.5, 2. ], dtype=float32), None]
    """

    def __init__(
        self, path: Path | str, *, name: str | None = None, case: Case = "exact", index: Path | str | None = None
    ) -> None:
        self.path = at_home(path)
        self.name = name or f"static:{self.path.name}"
        self.case = case
        self._format = _format_of(self.path)
        if case not in get_args(Case):
            raise unknown("case", case, get_args(Case))
        if index is not None and self._format != ".npy":
            raise BadInput(f"{self.path}: an index belongs to a .npy file; this one carries its own words")
        if not self.path.exists():
            raise BadInput(f"{self.path}: no such file")
        if not self.path.is_file():
            raise BadInput(f"{self.path}: is a folder; name the file with the vectors")
        if self.path.stat().st_size == 0:
            raise BadInput(f"{self.path}: is empty")
        self._index = index_of(self.path, index) if self._format == ".npy" else None

    @functools.cached_property
    def identity(self) -> Identity:
        """Name, content hash and settings; reads bytes to hash them, never vectors."""
        prints = [fingerprint(file) for file in self._files()]
        joined = hashlib.blake2b("".join(prints).encode()).hexdigest()[:16]
        return Identity(self.name, joined if prints[1:] else prints[0], {"case": self.case})

    def embed_words(self, words: Sequence[str]) -> list[Vector | None]:
        """The vector of each word, None where it is out of vocabulary."""
        choices = [spellings(word.lower() if self.case == "lower" else word) for word in words]
        wanted = {spelling for choice in choices for spelling in choice}
        pending = {choice[0] for choice in choices if choice}
        vectors: dict[str, Vector] = {}
        with contextlib.closing(self._rows(wanted)) as rows:
            while pending and (row := next(rows, None)):
                spelling, numbers, where = row
                vectors[spelling] = _usable(numbers, where)
                pending.discard(spelling)
        return [next((vectors[spelling] for spelling in choice if spelling in vectors), None) for choice in choices]

    def stream(self, question: Question, inputs: Sequence[str], *, known: Collection[int] = ()) -> Iterator[Batch]:
        """All words as one batch: one pass over the file answers them together."""
        if question != Question.WORDS:
            raise BadInput(f"{self.name} holds vectors of words and cannot be asked for {question}")
        asked = [position for position in range(len(inputs)) if position not in known]
        if asked:
            yield asked, self.embed_words([inputs[position] for position in asked])

    def _files(self) -> list[Path]:
        further = companions(self.path) if self._format == ".kv" else []
        return [self.path, *([self._index] if self._index else further)]

    def _rows(self, wanted: set[str]) -> VectorRows:
        if self._index:
            return npy_rows(self.path, wanted, index=self._index)
        if self._format == ".kv":
            return gensim_rows(self.path, wanted)
        if self._format == ".bin":
            return binary_rows(self.path, wanted)
        return text_rows(self.path, wanted)


def _format_of(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes[-1:] == [".gz"] and suffixes[-2:-1] and suffixes[-2] in _COMPRESSIBLE:
        return suffixes[-2]
    if suffixes and suffixes[-1] in _SUFFIXES:
        return suffixes[-1]
    suffix = "".join(suffixes[-2:] if suffixes[-1:] == [".gz"] else suffixes[-1:]) or "none"
    raise BadInput(f"{path}: unknown suffix ({suffix}); known: {' '.join(_SUFFIXES)}")


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


def _usable(numbers: Sequence[float] | NDArray[Any], where: str) -> Vector:
    """Any numbers as a float32 vector of its own memory, if it has a direction: finite and not all zero."""
    with np.errstate(over="ignore"):  # what is too large becomes infinite and is refused by name
        vector = np.array(numbers, dtype=np.float32)
    if not np.isfinite(vector).all():
        raise BadInput(f"{where}: the vector holds NaN or infinity; leave the word out or mend the file")
    if not vector.any():
        raise BadInput(f"{where}: the vector is all zero and has no direction; leave the word out")
    return vector
