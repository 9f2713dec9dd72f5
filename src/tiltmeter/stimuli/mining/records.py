"""The records of one part of a corpus, whatever kind of file it is, decoded one block at a time."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from typing import BinaryIO, Literal

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.mining.corpus import (
    BLOCK,
    LONGEST,
    CorpusFile,
    Shard,
    json_fault,
    open_corpus_file,
    open_parquet,
    too_long,
)  # fmt: skip

_BYTE_ORDER_MARK, _REPLACED = "\ufeff", "\ufffd"
_HALF = re.compile("[\ud800-\udfff]")
_ROWS = 4096


class RecordReader:
    """Reads one part of a corpus; ``records`` counts what was read, ``broken`` what was no UTF-8."""

    def __init__(self, shard: Shard, errors: Literal["strict", "replace"]) -> None:
        self._file, self._shard, self._errors = shard.file, shard, errors
        self._row = self.records = self.broken = 0

    def blocks(self) -> Iterator[tuple[str, int, int]]:
        """Records that line breaks set apart, the number of the first of them, and how many bytes they took."""
        read = {"jsonl": self._json, "csv": self._table, "tsv": self._table, "parquet": self._parquet}
        if self._file.kind == "text":
            counted = ((text, text.count("\n") + 1, size) for text, size in self._lines())
        else:
            counted = (("\n".join(texts), len(texts), size) for texts, size in read[self._file.kind]())
        for text, count, size in counted:
            first = self.records + 1
            self.records += count
            if count:
                yield text, first, size

    def _json(self) -> Iterator[tuple[list[str], int]]:
        for text, size in self._lines():
            yield [self._value(line, self.records + n) for n, line in enumerate(text.split("\n"), 1)], size

    def _value(self, line: str, number: int) -> str:
        if not line.strip():
            return ""
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise self._wrong(number, json_fault(error)) from None
        if not isinstance(record, dict):
            raise self._wrong(number, "not a JSON object: write one on each line")
        if self._file.column not in record:
            raise self._wrong(number, f"no column '{self._file.column}'; found: {', '.join(record)}")
        return self._text(record[self._file.column], number)

    def _table(self) -> Iterator[tuple[list[str], int]]:
        csv.field_size_limit(LONGEST)
        sizes: list[int] = []
        lines = self._ended_lines(sizes)
        tabs = self._file.kind == "tsv"
        # A quotation mark is a plain character in a TSV file.
        rows = csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE) if tabs else csv.reader(lines, strict=True)
        texts: list[str] = []
        try:
            header = next(rows, [])
            column = header.index(self._file.column or "")
            for row in rows:
                if row and len(row) != len(header):
                    where = f"{self._file.source}: row {self.records + len(texts) + 1}"
                    raise BadInput(f"{where}: {len(row)} cells, but the header has {len(header)}")
                texts.append(self._text(row[column], 0) if row else "")
                self._row = 0
                if sum(sizes) >= BLOCK:
                    yield texts, sum(sizes)
                    texts = []
                    sizes.clear()
        except csv.Error as error:
            raise BadInput(f"{self._file.source}: line {rows.line_num}: not a proper table: {error}") from None
        yield texts, sum(sizes)

    def _ended_lines(self, sizes: list[int]) -> Iterator[str]:
        """Lines as a CSV reader wants them; what they took is added to ``sizes``."""
        for text, size in self._lines():
            sizes.append(size)
            self._row += len(text)
            if self._row > 2 * LONGEST:  # lines of one row without an end
                raise csv.Error(f"a row of more than {LONGEST >> 20} MB")
            for line in text.split("\n"):
                yield f"{line}\n"

    def _parquet(self) -> Iterator[tuple[list[str], int]]:
        import pyarrow as pa

        content = open_parquet(self._file)
        groups = list(range(self._shard.start, self._shard.stop or 0))
        total = sum(content.metadata.row_group(n).num_rows for n in groups)
        try:
            for batch in content.iter_batches(_ROWS, row_groups=groups, columns=[self._file.column]):
                values = batch.column(0).to_pylist()
                texts = [self._text(value, self.records + n) for n, value in enumerate(values, 1)]
                yield texts, self._shard.size * len(texts) // total
        except (pa.ArrowException, OSError) as error:
            raise BadInput(f"{self._file.source}: broken Parquet file: {str(error).splitlines()[0]}") from None

    def _text(self, value: object, number: int) -> str:
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self._wrong(number, f"column '{self._file.column}' holds {value!r}, which is not a text")
        # JSON can hold half of a pair of surrogates, which is not a character.
        return _HALF.sub("\ufffd", value).replace("\n", " ")

    def _wrong(self, number: int, what: str) -> BadInput:
        """The error for a line of this part, by its number in the file."""
        before = 0 if self._file.kind == "parquet" else _breaks_before(self._file, self._shard.start)
        return BadInput(f"{self._file.source}: line {before + number}: {what}")

    def _lines(self) -> Iterator[tuple[str, int]]:
        """Whole lines, about BLOCK bytes of them at a time, and how many bytes of the file they took."""
        with open_corpus_file(self._file) as (stream, raw):
            at, size = 0, None
            if self._shard.stop is not None:
                # From the first line that begins in the part to the first that begins after it.
                at, stop = (_next_line(stream, place) for place in (self._shard.start, self._shard.stop))
                size = stop - at
                stream.seek(at)
            reported = at
            for block in _whole_lines(stream, size):
                if not block:
                    raise too_long(self._file, _breaks_before(self._file, at) + 1)
                text = self._decode(block, at)
                at += len(block)
                position = raw.tell() if self._file.packed else at
                yield text.removesuffix("\n"), position - reported
                reported = position

    def _decode(self, block: bytes, at: int) -> str:
        try:
            text = block.decode("utf-8")
        except UnicodeDecodeError as error:
            if self._errors == "strict":
                place = at + error.start
                where = f"{self._file.source}: not UTF-8 at byte {place} (line {_breaks_before(self._file, place) + 1})"
                raise BadInput(f"{where}: save it as UTF-8, or continue with --errors replace") from None
            text = block.decode("utf-8", errors="replace")
            self.broken += text.count(_REPLACED) - block.count(_REPLACED.encode())
        return text.removeprefix(_BYTE_ORDER_MARK) if at == 0 else text


def _breaks_before(file: CorpusFile, place: int) -> int:
    """How many lines of a file end before a byte of it."""
    breaks = 0
    with open_corpus_file(file) as (stream, _):
        while place > 0 and (data := stream.read(min(BLOCK, place))):
            breaks += data.count(b"\n")
            place -= len(data)
    return breaks


def _next_line(stream: BinaryIO, at: int) -> int:
    """Where the first line begins that begins at this byte or after it."""
    if at == 0:
        return 0
    stream.seek(at - 1)
    while (piece := stream.readline(BLOCK)) and not piece.endswith(b"\n"):
        pass
    return stream.tell()


def _whole_lines(stream: BinaryIO, most: int | None) -> Iterator[bytes]:
    """The bytes of a stream, or ``most`` of them, cut at ends of lines; no bytes where a line is too long."""
    parts: list[bytes] = []
    while data := stream.read(BLOCK if most is None else min(BLOCK, most)):
        most = None if most is None else most - len(data)
        if end := data.rfind(b"\n") + 1:  # a line may be longer than many blocks
            yield b"".join([*parts, data[:end]])
            parts = []
        parts.append(data[end:])
        if len(parts) * BLOCK > LONGEST:
            yield b""
    if rest := b"".join(parts):
        yield rest
