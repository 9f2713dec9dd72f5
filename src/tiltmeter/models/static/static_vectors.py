"""Word vectors in a file: which format it has, and what stands for each word asked.

Vectors in a matrix are read here: .npy with its words in a file beside it, and gensim's .kv. Only the rows asked for
are touched. A .kv file is a pickle, read without gensim and without running what it names. A pickle can call any
function it likes when it is opened. This reader admits numpy's arrays and puts an inert object wherever gensim's
classes are named; a file that names anything else is refused.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import itertools
import json
import pickle
import pickletools
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias, cast, get_args

import numpy as np
from numpy.typing import NDArray

from tiltmeter.errors import BadInput, MissingExtra, unknown
from tiltmeter.files import at_home, fingerprint
from tiltmeter.models.protocol import Batch, Identity, Question, Vector
from tiltmeter.models.static.row_formats import (
    VectorRows,
    binary_rows,
    first_binary_words,
    first_text_words,
    open_vectors,
    text_rows,
)

#: How the name of an index ends that stands beside its matrix.
_ENDINGS = (".txt", ".vocab", ".json", ".parquet", "_index.parquet")
_WORDS = ("index_to_key", "index2word", "index2entity")  # gensim 4, and the two names before it
_VECTORS = ("vectors", "syn0")


def npy_rows(path: Path, wanted: set[str], *, index: Path) -> VectorRows:
    """The rows of the wanted words."""
    values = _matrix(path)
    count, places = _READERS[index.suffix.lower()](index, wanted)
    if count != len(values):
        raise BadInput(f"{path}: has {len(values)} rows, its index {index} has {count} words; they must match")
    yield from _picked(path, values, places)


def _picked(path: Path, values: NDArray[Any], places: dict[str, int]) -> VectorRows:
    """The vectors at these rows."""
    for word, place in places.items():
        yield word, values[place], f"{path}, row {place} ('{word}')"


def _matrix(path: Path) -> NDArray[Any]:
    """A .npy file as a matrix that stays on disk."""
    try:
        values: NDArray[Any] = np.lib.format.open_memmap(path, mode="r")
    except Exception as error:  # the header is a Python literal, and whatever its parser says to a broken one comes up
        raise BadInput(f"{path}: is not a complete .npy file of numbers; write or download it again") from error
    if values.ndim != 2 or values.dtype.kind != "f":
        raise BadInput(f"{path}: holds {values.dtype} in {values.ndim} dimensions; expected floats in 2 (words x size)")
    return values


def index_of(path: Path, named: Path | str | None) -> Path:
    """The file with the words of the rows."""
    if named is not None:
        index = at_home(named)
        if not index.is_file():
            raise BadInput(f"{index}: no such index file for {path.name}")
        if index.suffix.lower() not in _READERS:
            raise BadInput(f"{index}: unknown kind of index; known: {' '.join(_READERS)}")
        return index
    candidates = [path.with_name(path.stem + ending) for ending in _ENDINGS]
    for candidate in filter(Path.is_file, candidates):
        return candidate
    names = ", ".join(file.name for file in candidates)
    raise BadInput(f"{path}: has no index; pass one, or put one of these beside it: {names}")


def _from_lines(index: Path, wanted: set[str]) -> tuple[int, dict[str, int]]:
    # The training tools write "word count" into a .vocab; a .txt holds the word alone, spaces and all.
    counted = index.suffix.lower() == ".vocab"
    count = 0
    places: dict[str, int] = {}
    with open_vectors(index) as stream:
        for count, line in enumerate(stream, 1):
            try:
                word = line.decode("utf-8").rstrip(" \t\r\n")
            except UnicodeDecodeError as error:
                raise BadInput(f"{index}, line {count}: is not UTF-8 text; save it as UTF-8") from error
            if counted:
                word = word.replace("\t", " ").partition(" ")[0]
            if word in wanted:
                places.setdefault(word, count - 1)
    return count, places


def _from_json(index: Path, wanted: set[str]) -> tuple[int, dict[str, int]]:
    try:
        words = json.loads(index.read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError) as error:
        raise BadInput(f"{index}: is not readable as JSON in UTF-8 ({error})") from error
    if isinstance(words, list):
        return len(words), _first_places(words, wanted)
    if not isinstance(words, dict) or sorted(map(repr, words.values())) != sorted(map(repr, range(len(words)))):
        raise BadInput(f"{index}: must hold a list of words, or an object of word: row with every row once")
    return len(words), {word: words[word] for word in wanted if word in words}


def _from_parquet(index: Path, wanted: set[str]) -> tuple[int, dict[str, int]]:
    words = _parquet_words(index)
    from pyarrow import array, compute

    hits = np.flatnonzero(compute.is_in(words, value_set=array(sorted(wanted), words.type)))
    # The first of each word counts, so it comes last here.
    return len(words), {words[place].as_py(): place for place in reversed(hits.tolist())}


def _parquet_words(index: Path) -> Any:
    """The one column of text of a Parquet index."""
    try:
        import pyarrow as pa
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise MissingExtra("a Parquet index", "tables") from None
    try:
        table = ParquetFile(index).read()
    except (pa.ArrowException, OSError) as error:
        raise BadInput(f"{index}: is not a readable Parquet file ({error})") from error
    columns = [column for column in table.itercolumns() if column.type in (pa.string(), pa.large_string())]
    if len(columns) != 1:
        raise BadInput(f"{index}: needs exactly one column of words, has {len(columns)} of text")
    return columns[0]


def _first_places(words: Iterable[Any], wanted: set[str]) -> dict[str, int]:
    """Where each wanted word stands first."""
    places: dict[str, int] = {}
    for place, word in enumerate(words):
        if isinstance(word, str) and word in wanted:
            places.setdefault(word, place)
    return places


def _first_words(index: Path, n: int) -> list[str]:
    """The words of the first rows, by their index; where it stands in no order, every word is looked at."""
    if index.suffix.lower() == ".parquet":
        return [str(word) for word in _parquet_words(index).slice(0, n).to_pylist()]
    if index.suffix.lower() == ".json":
        words = json.loads(index.read_text(encoding="utf-8"))
        return (words if isinstance(words, list) else sorted(words, key=words.__getitem__))[:n]
    counted = index.suffix.lower() == ".vocab"
    with open_vectors(index) as stream:
        lines = [line.decode("utf-8", "ignore").rstrip(" \t\r\n") for line in itertools.islice(stream, n)]
    return [line.replace("\t", " ").partition(" ")[0] if counted else line for line in lines]


#: How many words the index holds, and the first row of each wanted one.
_READERS = {".txt": _from_lines, ".vocab": _from_lines, ".json": _from_json, ".parquet": _from_parquet}


def gensim_rows(path: Path, wanted: set[str]) -> VectorRows:
    """The rows of the wanted words."""
    state = _state(path)
    words = next((state[name] for name in _WORDS if name in state), None)
    if not isinstance(words, list):
        raise BadInput(f"{path}: holds no list of words, so these are not gensim's KeyedVectors")
    values = _values(path, state)
    if values.ndim != 2 or values.dtype.kind != "f" or len(values) < len(words):
        raise BadInput(f"{path}: its vectors do not fit its {len(words)} words; save it again")
    yield from _picked(path, values, _first_places(words, wanted))


def companions(path: Path) -> list[Path]:
    """The matrix gensim puts into a file of its own when it is large."""
    files = [path.with_name(f"{path.name}.{name}.npy") for name in _VECTORS]
    return [file for file in files if file.is_file()]


def _values(path: Path, state: dict[str, Any]) -> NDArray[Any]:
    for name in _VECTORS:
        if isinstance(inside := state.get(name), np.ndarray):
            return inside
    files = companions(path)
    if files:
        return _matrix(files[0])
    if "vectors_ngrams" in state or "vectors_ngrams" in str(state.get("__numpys")):
        raise BadInput(f"{path}: is fastText with n-grams; save its words with save_word2vec_format('words.vec')")
    raise BadInput(f"{path}: holds no vectors, and {path.name}.vectors.npy is not beside it; copy both")


def _state(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as stream:
            _check_memo(path, stream)
            opened = _Restricted(path, stream).load()
    except BadInput:
        raise
    except Exception as error:  # damaged pickles fail in every way there is
        raise BadInput(f"{path}: is not a readable gensim .kv file ({type(error).__name__})") from error
    if type(opened).__name__ != "Inert":
        raise BadInput(f"{path}: is a pickle of {type(opened).__name__}, not gensim's KeyedVectors")
    return dict(vars(opened))


#: Larger files are taken for what they say: to go through them takes longer than to read them.
_CHECKED = 64_000_000


def _check_memo(path: Path, stream: BinaryIO) -> None:
    """Refuse a pickle that numbers what it remembers beyond its own length: Python would make room for as many."""
    size = path.stat().st_size
    if size > _CHECKED:
        return
    for opcode, argument, _ in pickletools.genops(stream):
        if opcode.name in ("PUT", "LONG_BINPUT") and int(argument or 0) > size:
            raise BadInput(f"{path}: is not a readable gensim .kv file (it asks for more memory than it can use)")
    stream.seek(0)


class _Restricted(pickle.Unpickler):
    def __init__(self, path: Path, stream: Any) -> None:
        super().__init__(stream)
        self._path = path

        class Inert:  # made anew for each file, because a pickle may write to the class
            def __init__(self, *_: object) -> None: ...

        self._inert = Inert

    def find_class(self, module: str, name: str) -> Any:
        package = module.partition(".")[0]
        if package == "gensim" or (module, name) == ("numpy", "ndarray"):
            return self._inert
        if package == "numpy" and name in _NUMPY:
            return _NUMPY[name]
        if (module, name) == ("_codecs", "encode"):
            return lambda text, _encoding: text.encode("latin-1")  # how old pickles write bytes
        raise BadInput(f"{self._path}: wants to run code ({module}.{name}); do not open it, ask for a .vec or .bin")


#: numpy's own makers of arrays and scalars live in modules that moved; an array names them wherever they are.
_reconstruct: Callable[..., Any] = cast(Any, np.empty(0).__reduce__())[0]
_NUMPY: dict[str, Callable[..., Any]] = {
    "dtype": np.dtype,
    "_reconstruct": lambda *_: _reconstruct(np.ndarray, (0,), b"b"),
    "_frombuffer": cast(Any, np.empty(1).__reduce_ex__(5))[0],
    "scalar": cast(Any, np.float32(0).__reduce__())[0],
}


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
            raise BadInput(f"{self.path}: no such file: check the path")
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

    def vocabulary(self, n: int) -> list[str]:
        """The first words of the file, each once; files of vectors begin with the most frequent ones."""
        if self._index:
            words = _first_words(self._index, n)
        elif self._format == ".kv":
            state = _state(self.path)
            words = next((state[name] for name in _WORDS if name in state), [])[:n]
        else:
            words = (first_binary_words if self._format == ".bin" else first_text_words)(self.path, n)
        return list(dict.fromkeys(word for word in words if word.strip()))

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
        readers = {".kv": gensim_rows, ".bin": binary_rows}
        return readers.get(self._format, text_rows)(self.path, wanted)


def _format_of(path: Path) -> str:
    parts = 2 if path.suffix.lower() == ".gz" else 1
    suffix = "".join(path.suffixes[-parts:]).lower()
    if suffix not in _SUFFIXES:
        raise BadInput(f"{path}: unknown suffix ({suffix or 'none'}); known: {' '.join(_SUFFIXES)}")
    return suffix.removesuffix(".gz")


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
    whole = composed
    for pair, single in () if composed.isascii() else _excluded_compositions().items():
        whole = whole.replace(pair, single)
    forms = [composed, unicodedata.normalize("NFD", composed), whole, word]
    return list(dict.fromkeys([*forms, *(form.replace(" ", "_") for form in forms)]))


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
        raise BadInput(f"{where}: the vector holds NaN or infinity; leave the word out or fix the file")
    if not vector.any():
        raise BadInput(f"{where}: the vector is all zero and has no direction; leave the word out")
    return vector
