"""Readings on disk: a folder that is whole at every moment."""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tiltmeter.errors import BadInput
from tiltmeter.files import UNFINISHED, at_home, writable, write_atomically
from tiltmeter.readings.reading import SCHEMA_VERSION, Reading
from tiltmeter.statistics import plain


class ReadingStore:
    """A folder of readings: one JSON file each, its items beside it as Parquet, and a manifest.

    Files appear whole or not at all, so a run killed at any moment leaves nothing half-written. Each reading carries a
    checksum of both its files: what a disk has changed is refused, never reported.
    """

    MANIFEST = "audit.json"

    def __init__(self, folder: Path | str) -> None:
        self.folder = at_home(folder)

    def prepare(self) -> None:
        """Make sure results can be written, before anything is measured."""
        with writable(self.folder):
            (self.folder / "readings").mkdir(parents=True, exist_ok=True)
        write_atomically(self.folder / "readings" / ".writable", b"")
        (self.folder / "readings" / ".writable").unlink(missing_ok=True)

    def save(self, reading: Reading) -> str:
        """Write one reading; returns the name of its file."""
        name = _file_name(reading)
        values = reading.to_dict()
        items = values.pop("items")
        _json({"items": items})  # Parquet would take a NaN without a word
        table = _parquet(items)
        content = _json({**values, "checksum": _checksum(values, table)})
        for suffix, part in ((".parquet", table), (".json", content)):
            write_atomically(self.folder / "readings" / f"{name}{suffix}", part)
        return name

    def save_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Write the manifest last: it names the readings that belong together, and others are removed."""
        write_atomically(self.folder / self.MANIFEST, _json({"schema_version": SCHEMA_VERSION, **manifest}))
        kept = set(manifest["readings"])
        for file in (self.folder / "readings").iterdir():
            if file.suffix in (".json", ".parquet", UNFINISHED) and file.stem not in kept:
                file.unlink(missing_ok=True)

    def manifest(self) -> dict[str, Any]:
        path = self.folder / self.MANIFEST
        if not path.is_file():
            raise BadInput(f"{self.folder} holds no finished audit ({self.MANIFEST} is missing): run tiltmeter audit")
        values = _read_json(path)
        if values.get("schema_version") not in (1, SCHEMA_VERSION):
            raise BadInput(f"{path} was written by another version of tiltmeter: run the audit again")
        return values

    def load(self, names: Iterable[str]) -> list[Reading]:
        """Readings by file name."""
        return [self._load(name) for name in names]

    def _load(self, name: str) -> Reading:
        values = _read_json(self.folder / "readings" / f"{name}.json")
        path = self.folder / "readings" / f"{name}.parquet"
        try:
            table = path.read_bytes()
            # Schema 1 had no checksums, and what another version wrote is refused for that.
            checksum = values.pop("checksum", None)
            if values.get("schema_version") == SCHEMA_VERSION and checksum != _checksum(values, table):
                raise ValueError("its checksum does not match")
            return Reading.from_dict({**values, "items": _rows(table)})
        except FileNotFoundError:
            raise BadInput(f"{path} is missing: run the audit again") from None
        except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:  # pyarrow's own are among these
            reason = str(error).partition("\n")[0]
            raise BadInput(f"the reading {path.with_suffix('')} is damaged ({reason}): run the audit again") from None


def _file_name(reading: Reading) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", f"{reading.model} {reading.id}".lower()).strip("-")[:80]
    # The name holds all that decides the content, so an audit that is killed leaves the one before it as it was.
    exact = json.dumps([plain(reading.provenance), reading.id], sort_keys=True)
    return f"{slug}-{hashlib.sha256(exact.encode()).hexdigest()[:8]}"


def _json(values: Mapping[str, Any]) -> bytes:
    # allow_nan=False: a NaN that reaches a file is a bug, and must not pass silently.
    text = json.dumps(values, indent=1, ensure_ascii=False, sort_keys=True, allow_nan=False) + "\n"
    # The name of a folder may be no UTF-8; what Python makes of such a byte is the same in JSON's own escapes.
    return text.encode(errors="backslashreplace")


def _parquet(items: list[dict[str, Any]]) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    buffer = pa.BufferOutputStream()
    parquet.write_table(pa.Table.from_pylist(items), buffer)
    content: bytes = buffer.getvalue().to_pybytes()
    return content


def _checksum(values: Mapping[str, Any], table: bytes) -> str:
    """Of both files of a reading: the values without the checksum itself, and the table of its items."""
    return hashlib.sha256(_json(values) + table).hexdigest()[:16]


def _rows(content: bytes) -> list[dict[str, Any]]:
    """The rows of a table. A word that stands in many of them is one object: an audit repeats its words."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    # From memory, because pyarrow cannot open a path that is no UTF-8; and neither from a Python file nor with threads,
    # because a thread that lets go of a Python object as the program ends aborts it.
    table = parquet.ParquetFile(pa.BufferReader(content)).read(use_threads=False)
    names, columns = table.column_names, [_shared(column) for column in table.columns]
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)]


def _shared(column: Any) -> list[Any]:
    values: list[Any] = column.to_pylist()
    return list(map(sys.intern, values)) if column.type == "string" and not column.null_count else values


def _read_json(path: Path) -> dict[str, Any]:
    try:
        values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"), parse_constant=_no_number)
        if not isinstance(values, dict):
            raise ValueError("no JSON object")
    except FileNotFoundError:
        raise BadInput(f"{path} is missing: run the audit again") from None
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{path} cannot be read ({error}): run the audit again") from None
    return values


def _no_number(name: str) -> None:
    """NaN and Infinity are no JSON, though Python would read them."""
    raise ValueError(f"{name} is no number")
