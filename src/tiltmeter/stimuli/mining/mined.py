"""What mining leaves behind: a folder with the occurrences found, and how they were found."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tiltmeter.errors import BadInput
from tiltmeter.files import write_atomically
from tiltmeter.stimuli.mining.columns import numbers_of, pieces_of

OCCURRENCES, ABOUT = "occurrences.parquet", "mined.json"
_TEXTS = ("word", "group", "form", "length", "text", "source")
COLUMNS = ("word", "group", "form", "length", "text", "start", "end", "root_end", "source", "line", "at")


@dataclass(frozen=True, slots=True)
class Occurrence:
    """A word of the lexicon in natural text: ``text[start:end]`` is the ``form`` found, its root ends at ``root_end``.

    ``group`` is the address it was asked under; ``line`` is the number of the record in ``source``, from 1, and ``at``
    the place of the form in the normalised record.
    """

    word: str
    group: str
    form: str
    length: str
    text: str
    start: int
    end: int
    root_end: int
    source: str
    line: int
    at: int


@dataclass(frozen=True, slots=True)
class Mined:
    """All occurrences of a folder; ``sha256`` identifies them, ``about`` says how they were found and how many."""

    rows: tuple[Occurrence, ...]
    lengths: tuple[str, ...]
    groups: tuple[str, ...]
    language: str
    sha256: str
    about: Mapping[str, Any]


def load_mined(folder: str | Path) -> Mined:
    """Read what ``tiltmeter mine`` has written."""
    folder = Path(folder)
    about = _about(folder)
    table = _table(folder / OCCURRENCES)
    sha256 = fingerprint(table)
    try:
        if about["sha256"] != sha256:
            raise BadInput(f"{folder / OCCURRENCES} is not what {ABOUT} says it is: mine it again")
        rows = tuple(map(Occurrence, *(table.column(name).to_pylist() for name in COLUMNS)))
        return Mined(rows, tuple(about["lengths"]), tuple(about["groups"]), about["language"], sha256, about)
    except (KeyError, TypeError) as error:
        raise BadInput(f"{folder / ABOUT} is damaged (no {error}): mine it again") from None


def save_mined(folder: Path, columns: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, Any]:
    """Write the folder: the same content gives the same bytes. The file that makes it whole comes last."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    table = pa.table({name: columns[name] for name in COLUMNS})
    buffer = pa.BufferOutputStream()
    names = [name for name in _TEXTS if name != "text"]  # texts differ, so a dictionary of them would be for nothing
    parquet.write_table(table, buffer, compression="zstd", use_dictionary=names)
    content = {**about, "sha256": fingerprint(table)}
    write_atomically(folder / OCCURRENCES, buffer.getvalue().to_pybytes())
    write_atomically(folder / ABOUT, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())
    return content


def fingerprint(table: Any) -> str:
    """SHA-256 of the occurrences themselves, whatever the version of Parquet they are stored in."""
    digest = hashlib.sha256()
    for name in COLUMNS:
        column = table.column(name)
        digest.update(f"{name} {len(column)}\n".encode())
        if name in _TEXTS:
            pieces = list(pieces_of(column))
            for places, _ in pieces:
                digest.update(np.diff(places).astype("<i8").tobytes())
            for places, content in pieces:
                digest.update(content[places[0] : places[-1]])
        else:
            digest.update(numbers_of(column).astype("<i8").tobytes())
    return digest.hexdigest()


def _schema() -> Any:
    import pyarrow as pa

    return pa.schema([(name, pa.large_string() if name in _TEXTS else pa.int64()) for name in COLUMNS])


def _about(folder: Path) -> dict[str, Any]:
    path = folder / ABOUT
    if not folder.is_dir():
        raise BadInput(f"no folder {folder}: make it with tiltmeter mine CORPUS --lexicon ... --out {folder}")
    if not path.is_file():
        unfinished = " (mining was interrupted: run the same command again)" if (folder / "parts").is_dir() else ""
        raise BadInput(f"{folder} holds no {ABOUT}, so it is no folder of tiltmeter mine{unfinished}")
    try:
        about: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(about, dict):
            raise ValueError("no JSON object")
    except (OSError, ValueError) as error:
        raise BadInput(f"{path} cannot be read ({error}): mine it again") from None
    return about


def _table(path: Path) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    if not path.is_file():
        raise BadInput(f"{path} is missing: mine it again")
    try:
        # From memory and without threads: one that lets go of a Python object as the program ends aborts it.
        file = parquet.ParquetFile(pa.BufferReader(path.read_bytes()))
        return file.read(list(COLUMNS), use_threads=False).cast(_schema())
    except (KeyError, ValueError, OSError) as error:  # pyarrow's own errors are among these
        raise BadInput(f"{path} is damaged ({str(error).splitlines()[0]}): mine it again") from None
