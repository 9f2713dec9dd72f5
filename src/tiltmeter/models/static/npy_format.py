"""Vectors as a .npy matrix, with the words in a file beside it; only the rows asked for are touched."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Vector
from tiltmeter.models.static.lookup import narrowed
from tiltmeter.models.static.opening import opened

ENDINGS = (".txt", ".vocab", ".json", ".parquet", "_index.parquet")


def rows(path: Path, wanted: set[str], *, index: Path) -> Generator[tuple[str, Vector], None, None]:
    """The rows of the wanted words."""
    values = matrix(path)
    count, places = _places(index, wanted)
    if count != len(values):
        raise BadInput(f"{path}: has {len(values)} rows, its index {index} has {count} words; they must match")
    yield from picked(path, values, places)


def picked(path: Path, values: NDArray[Any], places: dict[str, int]) -> Generator[tuple[str, Vector], None, None]:
    """The vectors at the given rows."""
    for word, place in places.items():
        yield word, narrowed(values[place], f"{path}, row {place} ('{word}')")


def matrix(path: Path) -> NDArray[Any]:
    """A .npy file as a matrix that stays on disk."""
    try:
        values: NDArray[Any] = np.lib.format.open_memmap(path, mode="r")
    except (ValueError, OverflowError, OSError) as error:
        raise BadInput(f"{path}: is not a complete .npy file of numbers; write or download it again") from error
    if values.ndim != 2 or values.dtype.kind != "f":
        raise BadInput(f"{path}: holds {values.dtype} in {values.ndim} dimensions; floats in 2 (words x size) are due")
    return values


def index_of(path: Path, given: Path | str | None) -> Path:
    """The file with the words of the rows."""
    if given is not None:
        index = Path(given).expanduser()
        if not index.is_file():
            raise BadInput(f"{index}: no such index file for {path.name}")
        if index.suffix.lower() not in _READERS:
            raise BadInput(f"{index}: unknown kind of index; known: {' '.join(_READERS)}")
        return index
    beside = [path.with_name(path.stem + ending) for ending in ENDINGS]
    for candidate in beside:
        if candidate.is_file():
            return candidate
    raise BadInput(
        f"{path}: has no index; pass one, or put one of these beside it: {', '.join(f.name for f in beside)}"
    )


def _places(index: Path, wanted: set[str]) -> tuple[int, dict[str, int]]:
    """How many words the index holds, and the first row of each wanted one."""
    return _READERS[index.suffix.lower()](index, wanted)


def _from_lines(index: Path, wanted: set[str]) -> tuple[int, dict[str, int]]:
    # The training tools write "word count" into a .vocab; a .txt holds the word alone, spaces and all.
    counted = index.suffix.lower() == ".vocab"
    count = 0
    places: dict[str, int] = {}
    with opened(index) as stream:
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
        return len(words), first_places(words, wanted)
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


def first_places(words: Iterable[Any], wanted: set[str]) -> dict[str, int]:
    """Where each wanted word stands first."""
    places: dict[str, int] = {}
    for place, word in enumerate(words):
        if isinstance(word, str) and word in wanted:
            places.setdefault(word, place)
    return places


_READERS = {".txt": _from_lines, ".vocab": _from_lines, ".json": _from_json, ".parquet": _from_parquet}
