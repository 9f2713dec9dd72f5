"""The model: which file, which reader, and what stands for each word asked."""

from __future__ import annotations

import contextlib
import functools
import hashlib
from collections.abc import Collection, Generator, Iterator, Sequence
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from tiltmeter.errors import BadInput, unknown
from tiltmeter.models.fingerprint import fingerprint
from tiltmeter.models.protocol import Batch, Identity, Question, Vector
from tiltmeter.models.static import (
    binary_format as binary,
)
from tiltmeter.models.static import (
    gensim_format as keyed,
)
from tiltmeter.models.static import (
    npy_format as arrays,
)
from tiltmeter.models.static import (
    text_format as text,
)
from tiltmeter.models.static.lookup import spellings

Case: TypeAlias = Literal["exact", "lower"]

TEXT = (".txt", ".vec", ".glove", ".w2v")
COMPRESSIBLE = (*TEXT, ".bin")
KNOWN = (*COMPRESSIBLE, *(f"{suffix}.gz" for suffix in COMPRESSIBLE), ".kv", ".npy")


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
        self,
        path: Path | str,
        *,
        name: str | None = None,
        case: Case = "exact",
        index: Path | str | None = None,
    ) -> None:
        self.path = Path(path).expanduser()
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
        self._index = arrays.index_of(self.path, index) if self._format == ".npy" else None

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
        found: dict[str, Vector] = {}
        if pending:
            with contextlib.closing(self._rows(wanted)) as rows:
                for spelling, vector in rows:
                    found[spelling] = vector
                    pending.discard(spelling)
                    if not pending:
                        break
        return [next((found[s] for s in choice if s in found), None) for choice in choices]

    def stream(self, question: Question, inputs: Sequence[str], *, known: Collection[int] = ()) -> Iterator[Batch]:
        """All words as one batch: one pass over the file answers them together."""
        if question != Question.WORDS:
            raise BadInput(f"{self.name} holds vectors of words and cannot be asked for {question}")
        asked = [position for position in range(len(inputs)) if position not in known]
        if asked:
            yield asked, self.embed_words([inputs[position] for position in asked])

    def _files(self) -> list[Path]:
        companions = keyed.companions(self.path) if self._format == ".kv" else []
        return [self.path, *([self._index] if self._index else companions)]

    def _rows(self, wanted: set[str]) -> Generator[tuple[str, Vector], None, None]:
        if self._index:
            return arrays.rows(self.path, wanted, index=self._index)
        if self._format == ".kv":
            return keyed.rows(self.path, wanted)
        if self._format == ".bin":
            return binary.rows(self.path, wanted)
        return text.rows(self.path, wanted)


def _format_of(path: Path) -> str:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes[-1:] == [".gz"] and suffixes[-2:-1] and suffixes[-2] in COMPRESSIBLE:
        return suffixes[-2]
    if suffixes and suffixes[-1] in KNOWN:
        return suffixes[-1]
    given = "".join(suffixes[-2:] if suffixes[-1:] == [".gz"] else suffixes[-1:]) or "none"
    raise BadInput(f"{path}: unknown suffix ({given}); known: {' '.join(KNOWN)}")
