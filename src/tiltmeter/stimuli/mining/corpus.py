"""The files of a corpus: what they are, which of their columns is text, and the parts they are read in."""

from __future__ import annotations

import csv
import dataclasses
import gzip
import io
import json
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

from tiltmeter.errors import BadInput, require
from tiltmeter.files import NO_JSON

FileKind = Literal["text", "jsonl", "csv", "tsv", "parquet"]
_KINDS: dict[str, FileKind] = {
    ".jsonl": "jsonl", ".ndjson": "jsonl", ".json": "jsonl", ".csv": "csv", ".tsv": "tsv", ".parquet": "parquet",
}  # fmt: skip
_STRINGS = ("string", "string_view")
_PACKED = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd"}
#: How much of a file is read at a time.
BLOCK = 1 << 18
#: The longest line or cell that is read.
LONGEST = 1 << 24
#: How much of a file is one part of the work, where it can be cut.
SHARD = 32 << 20


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """One file; ``source`` is its name, or its path where two files have the same; ``column`` where it has several."""

    path: str
    source: str
    kind: FileKind
    packed: str | None
    column: str | None
    size: int
    changed: int


@dataclass(frozen=True, slots=True)
class Shard:
    """Part of a file: its records that begin from byte ``start`` to ``stop``; row groups where it is Parquet."""

    number: int
    file: CorpusFile
    start: int
    stop: int | None
    size: int


def find_files(paths: Sequence[str | Path], column: str | None) -> tuple[CorpusFile, ...]:
    """The files of a corpus, by name; whatever is wrong with one is said before any is read."""
    if not paths:
        raise BadInput("no corpus is given: name a text, JSONL, CSV, TSV or Parquet file")
    named = [Path(path) for path in paths]
    for path in named:
        if path.is_dir():
            raise BadInput(f"{path} is a folder: name the files in it, e.g. {path}/*.txt")
        if not path.is_file():
            raise BadInput(f"no file {path}: check the path")
    names, whole = [path.name for path in named], [str(path.resolve()) for path in named]
    for path, real in zip(named, whole, strict=True):
        if whole.count(real) > 1:
            raise BadInput(f"{path} is given twice: name it once")
    sources = [path.name if names.count(path.name) == 1 else path.as_posix() for path in named]
    files = [_file(path, source, column) for path, source in zip(named, sources, strict=True)]
    if column is not None and all(file.column is None for file in files):
        raise BadInput(f"--column {column}: a text file has no columns: leave it out")
    return tuple(sorted(files, key=lambda file: file.source))


def cut_into_shards(
    files: Sequence[CorpusFile], size: int = SHARD, *, whole: Callable[[FileKind], bool] = lambda _: False
) -> tuple[Shard, ...]:
    """The parts a corpus is read in, in the order of the files; they do not depend on who reads them.

    Files of some kinds are left ``whole``, because what stands at the end of one part is of use in the next.
    """
    shards: list[Shard] = []
    for file in files:
        if file.packed or file.kind in ("csv", "tsv") or (whole(file.kind) and file.kind != "parquet"):
            ranges: list[tuple[int, int | None, int]] = [(0, None, file.size)]
        elif file.kind == "parquet":
            ranges = _row_groups(file, sys.maxsize if whole(file.kind) else size)
        else:
            ranges = [(at, at + size, min(size, file.size - at)) for at in range(0, file.size, size)]
        shards += [Shard(len(shards) + n, file, *bounds) for n, bounds in enumerate(ranges)]
    return tuple(shards)


@contextmanager
def open_corpus_file(file: CorpusFile) -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """The bytes of a file, unpacked; and the file itself, whose position tells how far reading has come."""
    try:
        with Path(file.path).open("rb") as raw:
            stream: Any = raw
            if file.packed == "gzip":
                stream = gzip.GzipFile(None, "rb", fileobj=raw)
            elif file.packed == "zstd":
                require("a corpus packed with zstandard", "mining", "zstandard")
                import zstandard

                unpacked: Any = zstandard.ZstdDecompressor().stream_reader(raw, read_across_frames=True, closefd=False)
                stream = io.BufferedReader(unpacked, BLOCK)
            yield stream, raw
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise BadInput(f"{file.source}: broken gzip file: {error}") from None
    except OSError as error:
        raise BadInput(f"cannot read {file.path}: {error.strerror or error}") from None
    except Exception as error:
        if type(error).__name__ != "ZstdError":
            raise
        raise BadInput(f"{file.source}: broken zstd file: {error}") from None


def too_long(file: CorpusFile, number: int) -> BadInput:
    """The error for a line that would not fit into memory with all that is made of it."""
    return BadInput(f"{file.source}: line {number}: longer than {LONGEST >> 20} MB: break it up, one text a line")


def open_parquet(file: CorpusFile) -> Any:
    """An open Parquet file."""
    require("a Parquet corpus", "mining", "pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(file.path)
    except (pa.ArrowException, OSError) as error:
        raise BadInput(f"{file.source}: not a Parquet file that can be read: {str(error).splitlines()[0]}") from None


def _file(path: Path, source: str, column: str | None) -> CorpusFile:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packed = _PACKED.get(suffixes[-1]) if suffixes else None
    inner = suffixes[-2 if packed else -1 :][:1]
    kind = _KINDS.get(inner[0], "text") if inner else "text"
    status = path.stat()
    file = CorpusFile(str(path), source, kind, packed, None, status.st_size, status.st_mtime_ns)
    if kind == "text" or not status.st_size:
        return file
    if kind == "parquet" and packed:
        raise BadInput(f"{source}: a Parquet file is packed inside already: unpack it")
    columns, texts = _columns(file)
    if column is not None and column not in columns:
        raise BadInput(f"{source}: no column '{column}'; found: {', '.join(columns)}")
    if column is None and len(texts) != 1:
        raise BadInput(f"{source}: name the column of texts with --column; found: {', '.join(columns) or 'none'}")
    return dataclasses.replace(file, column=column or texts[0])


def _columns(file: CorpusFile) -> tuple[list[str], list[str]]:
    """All columns of a file, and those that hold text."""
    if file.kind == "parquet":
        import pyarrow as pa

        schema = open_parquet(file).schema_arrow
        texts = [column.name for column in schema if str(column.type).removeprefix("large_") in _STRINGS]
        texts += [column.name for column in schema if pa.types.is_dictionary(column.type)]
        return schema.names, texts
    with open_corpus_file(file) as (stream, _):
        line = stream.readline(LONGEST + 1).decode("utf-8-sig", errors="replace")
    if len(line) > LONGEST:
        raise too_long(file, 1)
    if file.kind == "jsonl":
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BadInput(f"{file.source}: line 1: {json_fault(error)}") from None
        if not isinstance(record, dict):
            raise BadInput(f"{file.source}: line 1: not a JSON object: write one on each line")
        return list(record), [name for name, value in record.items() if isinstance(value, str)]
    try:
        columns = next(csv.reader([line], delimiter="\t" if file.kind == "tsv" else ","), [])
    except csv.Error as error:
        raise BadInput(f"{file.source}: line 1: not a proper table: {error}") from None
    return columns, columns


def json_fault(error: Exception) -> str:
    """What is wrong with a line of JSON."""
    return f"broken JSON: {error.msg}" if isinstance(error, json.JSONDecodeError) else NO_JSON


def _row_groups(file: CorpusFile, size: int) -> list[tuple[int, int | None, int]]:
    """Row groups of a Parquet file, taken together until they are as large as a part."""
    if not file.size:
        return []
    content = open_parquet(file).metadata
    ranges, start, weight = list[tuple[int, int | None, int]](), 0, 0
    weights = [content.row_group(number).total_byte_size for number in range(content.num_row_groups)]
    for stop, more in enumerate(weights, 1):
        weight += more
        if weight >= size or stop == len(weights):
            ranges.append((start, stop, int(weight * (file.size / max(1, sum(weights))))))
            start, weight = stop, 0
    return ranges
