"""Vectors in a matrix: .npy with its words in a file beside it, and gensim's .kv. Only the rows asked for are touched.

A .kv file is a pickle, read without gensim and without running what it names. A pickle can call any function it likes
when it is opened. This reader admits numpy's arrays and puts an inert object wherever gensim's classes are named; a
file that names anything else is refused.
"""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tiltmeter.errors import BadInput
from tiltmeter.files import at_home
from tiltmeter.models.static.row_formats import VectorRows, open_vectors

#: How the name of an index ends that stands beside its matrix.
_ENDINGS = (".txt", ".vocab", ".json", ".parquet", "_index.parquet")
_WORDS = ("index_to_key", "index2word", "index2entity")  # gensim 4, and the two names before it
_VECTORS = ("vectors", "syn0")


def npy_rows(path: Path, wanted: set[str], *, index: Path) -> VectorRows:
    """The rows of the wanted words."""
    values = _matrix(path)
    count, places = _places(index, wanted)
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
    except (ValueError, OverflowError, OSError) as error:
        raise BadInput(f"{path}: is not a complete .npy file of numbers; write or download it again") from error
    if values.ndim != 2 or values.dtype.kind != "f":
        raise BadInput(f"{path}: holds {values.dtype} in {values.ndim} dimensions; floats in 2 (words x size) are due")
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
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise BadInput(
        f"{path}: has no index; pass one, or put one of these beside it: {', '.join(file.name for file in candidates)}"
    )


def _places(index: Path, wanted: set[str]) -> tuple[int, dict[str, int]]:
    """How many words the index holds, and the first row of each wanted one."""
    return _READERS[index.suffix.lower()](index, wanted)


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
    except (ValueError, OSError) as error:
        raise BadInput(f"{index}: is not readable as JSON in UTF-8 ({error})") from error
    if isinstance(words, list):
        return len(words), _first_places(words, wanted)
    if not isinstance(words, dict) or sorted(map(repr, words.values())) != sorted(map(repr, range(len(words)))):
        raise BadInput(f"{index}: must hold a list of words, or an object of word: row with every row once")
    return len(words), {word: words[word] for word in wanted if word in words}


def _from_parquet(index: Path, wanted: set[str]) -> tuple[int, dict[str, int]]:
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow.parquet import ParquetFile

    try:
        table = ParquetFile(index).read()
    except (pa.ArrowException, OSError) as error:
        raise BadInput(f"{index}: is not a readable Parquet file ({error})") from error
    columns = [column for column in table.itercolumns() if _is_text(column.type)]
    if len(columns) != 1:
        raise BadInput(f"{index}: needs exactly one column of words, has {len(columns)} of text")
    hits = np.flatnonzero(pc.is_in(columns[0], value_set=pa.array(sorted(wanted), columns[0].type)))
    places: dict[str, int] = {}
    for place in hits.tolist():
        places.setdefault(columns[0][place].as_py(), place)
    return table.num_rows, places


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _first_places(words: Iterable[Any], wanted: set[str]) -> dict[str, int]:
    """Where each wanted word stands first."""
    places: dict[str, int] = {}
    for place, word in enumerate(words):
        if isinstance(word, str) and word in wanted:
            places.setdefault(word, place)
    return places


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
            opened = _Restricted(path, stream).load()
    except BadInput:
        raise
    except Exception as error:  # damaged pickles fail in every way there is
        raise BadInput(f"{path}: is not a readable gensim .kv file ({type(error).__name__})") from error
    if type(opened).__name__ != "Inert":
        raise BadInput(f"{path}: is a pickle of {type(opened).__name__}, not gensim's KeyedVectors")
    return dict(vars(opened))


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
            return _latin1
        raise BadInput(f"{self._path}: wants to run code ({module}.{name}); do not open it, ask for a .vec or .bin")


def _latin1(text: str, _encoding: str) -> bytes:
    """How old pickles write bytes."""
    return text.encode("latin-1")


#: numpy's own makers of arrays and scalars live in modules that moved; an array names them wherever they are.
_reconstruct: Callable[..., Any] = cast(Any, np.empty(0).__reduce__())[0]
_frombuffer: Callable[..., Any] = cast(Any, np.empty(1).__reduce_ex__(5))[0]
_scalar: Callable[..., Any] = cast(Any, np.float32(0).__reduce__())[0]


def _blank_array(*_: object) -> Any:
    return _reconstruct(np.ndarray, (0,), b"b")


_NUMPY: dict[str, Callable[..., Any]] = {
    "dtype": np.dtype,
    "_reconstruct": _blank_array,
    "_frombuffer": _frombuffer,
    "scalar": _scalar,
}
