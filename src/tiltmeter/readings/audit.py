"""An audit: the readings of every probe of a suite on every model, with what was left out and why; and its folder."""

from __future__ import annotations

import dataclasses
import gc
import hashlib
import importlib
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tiltmeter.errors import BadInput, require
from tiltmeter.files import UNFINISHED, at_home, writable, write_atomically
from tiltmeter.readings.frames import frame
from tiltmeter.readings.reading import SCHEMA_VERSION, Reading, reader_of
from tiltmeter.readings.verdict import Correction
from tiltmeter.statistics import benjamini_hochberg, holm, plain

if TYPE_CHECKING:
    import altair as alt
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray


@dataclasses.dataclass(frozen=True, slots=True)
class Skipped:
    """A probe that was not measured on a model, and why; ``failed`` if the model itself gave up."""

    model: str
    probe: str
    reason: str
    failed: bool = False

    @property
    def in_words(self) -> str:
        """Why, and which model, which many a reason names itself."""
        return self.reason if self.model in self.reason else f"{self.model}: {self.reason}"


@dataclasses.dataclass(frozen=True, slots=True)
class Audit:
    """The readings of one audit, each judged in the light of all tests of its model.

    ``asked`` and ``recalled`` count inputs put to models and known before. ``command`` is the shell command that
    reproduces it; empty where a model or the suite was an object in Python. ``suite_description`` is what the suite
    says of itself.
    """

    suite: str
    models: tuple[str, ...]
    readings: tuple[Reading, ...]
    skipped: tuple[Skipped, ...]
    asked: int
    recalled: int
    notes: tuple[str, ...] = ()
    folder: Path | None = None
    command: str = ""
    suite_description: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "readings", judged(self.readings))

    @property
    def objects(self) -> tuple[str, ...]:
        """The models that were objects in Python: they have no spec, and no command can name them."""
        return tuple(name for name in self.models if name.startswith("own:") or ":" not in name)

    def to_frame(self) -> pd.DataFrame:
        """One row per reading: what was measured on which model, and the result."""
        table = frame(self.rows())
        # A column without any number is nevertheless one of numbers.
        return table.astype({name: float for name in _NUMBERS if name in table})

    def to_dict(self) -> dict[str, Any]:
        """Everything but the items, as JSON-ready values."""
        about = plain(dataclasses.replace(self, readings=(), folder=None))
        return {**about, "readings": self.rows(), "folder": None if self.folder is None else str(self.folder)}

    def report(self, path: str | Path) -> Path:
        """Write the report, one HTML file that needs nothing else; into a folder as ``audit.html``."""
        # As a reading finds its chart: views read audits, so an audit asks for its view by name.
        exports = importlib.import_module("tiltmeter.views.exports")
        written: list[Path] = exports.export(self, Path(path))
        return written[0]

    def chart(self) -> alt.TopLevelMixin:
        """The chart that the report shows first: every probe on every model."""
        charts = importlib.import_module("tiltmeter.views.charts")
        chart: alt.TopLevelMixin = charts.chart_of_readings(self.readings)
        return chart

    def __repr__(self) -> str:
        tested = [reading for reading in self.readings if reading.family == "bias" and reading.verdict.n_tests]
        counts = Counter(reading.model for reading in tested if reading.verdict.clear)
        models = ", ".join(f"{model} {counts[model]}" for model in self.models)
        return f"<Audit {self.suite}: {len(self.readings)} readings, clear leans of {len(tested)} bias tests: {models}>"

    def _repr_html_(self) -> str:
        html: str = importlib.import_module("tiltmeter.views.notebook").audit_html(self)
        return html

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """The audit stored in a folder."""
        store = ReadingStore(folder)
        manifest = store.manifest()
        try:
            readings = store.load(manifest["readings"])
        except (KeyError, TypeError) as error:
            raise _damaged(store.folder, error) from None
        return cls.from_manifest(manifest, readings, store.folder)

    @classmethod
    def from_manifest(cls, manifest: Mapping[str, Any], readings: Iterable[Reading], folder: Path) -> Self:
        """The audit that a manifest describes, with these of its readings."""
        try:
            return cls(
                suite=str(manifest["suite"]),
                models=tuple(map(str, manifest["models"])),
                readings=tuple(readings),
                skipped=tuple(map(reader_of(Skipped).validate_python, manifest["skipped"])),
                asked=int(manifest["asked"]),
                recalled=int(manifest["recalled"]),
                notes=tuple(map(str, manifest["notes"])),
                folder=folder,
                # An earlier version stored neither.
                command=str(manifest.get("command", "")),
                suite_description=str(manifest.get("suite_description", "")),
            )
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise _damaged(folder, error) from None

    def rows(self) -> list[dict[str, Any]]:
        """One flat row per reading, ready for a table."""
        return list(map(_row, self.readings, _corrected(self.readings, benjamini_hochberg)))


def judged(readings: Iterable[Reading]) -> tuple[Reading, ...]:
    """The readings with their p-values corrected for the tests of their family (Holm).

    A family are the bias tests of one model, or its controls: another model beside it changes nothing.
    """
    readings = tuple(readings)
    both = zip(readings, _corrected(readings, holm), strict=True)
    return tuple(dataclasses.replace(reading, correction=correction) for reading, correction in both)


def _corrected(
    readings: Iterable[Reading], method: Callable[[list[float]], NDArray[np.float64]]
) -> list[Correction | None]:
    readings = tuple(readings)
    families: dict[tuple[str, str], list[float]] = {}
    for reading in readings:
        if reading.effect.p_value is not None:
            families.setdefault((reading.model, reading.family), []).append(reading.effect.p_value)
    corrected = {
        family: iter([Correction(p, len(p_values)) for p in method(p_values).tolist()])
        for family, p_values in families.items()
    }
    return [None if r.effect.p_value is None else next(corrected[r.model, r.family]) for r in readings]


def _damaged(folder: Path, error: Exception) -> BadInput:
    reason = str(error).partition("\n")[0]
    return BadInput(f"{folder / ReadingStore.MANIFEST} is damaged ({reason}): run the audit again")


def _row(reading: Reading, benjamini: Correction | None) -> dict[str, Any]:
    effect, verdict = reading.effect, reading.verdict
    return {
        "model": reading.model,
        "id": reading.id,
        "probe": reading.probe,
        "title": reading.title,
        "dimension": reading.dimension,
        "is_control": reading.control,
        "verdict": verdict.state,
        "statistic": effect.name,
        "value": effect.value,
        "level": effect.level,
        "better": effect.better,
        "ci_low": effect.ci.low if effect.ci else None,
        "ci_high": effect.ci.high if effect.ci else None,
        "p_value": effect.p_value,
        "p_holm": verdict.p_corrected,
        "p_bh": benjamini.p_value if benjamini else None,
        "leans": reading.leans,
        "direction": reading.direction,
        "strength": reading.strength,
        "n_units": reading.n_units,
        "n_items": reading.n_items,
        "left_out": len(reading.left_out),
        "published_value": reading.published.value if reading.published else None,
        "published_p_value": reading.published.p_value if reading.published else None,
        "detectable": reading.power.effect if reading.power else None,
        "plain_words": reading.plain_words,
    }


#: The columns of the table that may lack a number.
_NUMBERS = ("ci_low", "ci_high", "p_value", "p_holm", "p_bh", "published_value", "published_p_value", "detectable")
#: How the file of a reading's items ends; before, it was Parquet.
ITEMS, PARQUET = ".items", ".parquet"
#: What reading a damaged file may raise; pyarrow's and pydantic's own errors are among these.
DAMAGED = (KeyError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError, NotImplementedError)


class ReadingStore:
    """A folder of readings: one JSON file each, its items beside it column by column, and a manifest.

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
        # They depend on what else was measured, which is known when the audit is read.
        del values["verdict"], values["correction"], values["plain_words"]
        table = _table(items)
        content = _json({**values, "checksum": _checksum(_json(values), table)})
        path = self.folder / "readings" / f"{name}.json"
        write_atomically(path.with_suffix(ITEMS), table)
        try:
            write_atomically(path, content)
        except BadInput:
            path.with_suffix(ITEMS).unlink(missing_ok=True)  # items without their reading would be half of one
            raise
        return name

    def save_manifest(self, manifest: Mapping[str, Any]) -> None:
        """Write the manifest last: it names the readings that belong together, and others are removed."""
        write_atomically(self.folder / self.MANIFEST, _json({"schema_version": SCHEMA_VERSION, **manifest}))
        kept = set(manifest["readings"])
        for file in (self.folder / "readings").iterdir():
            replaced = file.suffix == PARQUET and file.with_suffix(ITEMS).is_file()
            if file.suffix in (".json", ITEMS, PARQUET, UNFINISHED) and (file.stem not in kept or replaced):
                file.unlink(missing_ok=True)

    def manifest(self) -> dict[str, Any]:
        path = self.folder / self.MANIFEST
        if not path.is_file():
            raise BadInput(f"{self.folder} holds no finished audit ({self.MANIFEST} is missing): run tiltmeter audit")
        values, _ = _read_json(path)
        if values.get("schema_version") not in (1, SCHEMA_VERSION):
            raise BadInput(f"{path} was written by another version of tiltmeter: run the audit again")
        if not isinstance(values.get("readings"), list):
            raise _damaged(self.folder, KeyError("readings"))
        return values

    def load(self, names: Iterable[str]) -> list[Reading]:
        """Readings by file name."""
        with without_collection():
            return [self._load(name) for name in names]

    def items_file(self, name: str) -> Path:
        """Where the items of a reading are: Parquet, if an earlier version wrote them."""
        path = self.folder / "readings" / f"{name}{ITEMS}"
        parquet = path.with_suffix(PARQUET)
        return parquet if parquet.is_file() and not path.is_file() else path

    def _load(self, name: str) -> Reading:
        values, described = _read_json(self.folder / "readings" / f"{name}.json")
        path = self.items_file(name)
        try:
            content = path.read_bytes()
            checksum = values.pop("checksum", None)
            # Schema 1 had no checksums, and what another version wrote is refused for that.
            if values.get("schema_version") == SCHEMA_VERSION and checksum != _checksum(
                _without_checksum(described), content
            ):
                raise ValueError("its checksum does not match")
            return Reading.from_dict(values, _parquet_columns(content) if path.suffix == PARQUET else _columns(content))
        except FileNotFoundError:
            raise BadInput(f"{path} is missing: run the audit again") from None
        except (*DAMAGED, OSError) as error:
            reason = str(error).partition("\n")[0]
            raise BadInput(f"the reading {path.with_suffix('')} is damaged ({reason}): run the audit again") from None


@contextmanager
def without_collection() -> Iterator[None]:
    """Without looking for cycles, which items have none of: every look would go through all of them again.

    An audit may hold hundreds of thousands of them: a short work with it is done sooner so.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _file_name(reading: Reading) -> str:
    slug = re.sub(r"[^a-z0-9]+", "-", f"{reading.model} {reading.id}".lower()).strip("-")[:80]
    # The name holds all that decides the content, so an audit that is killed leaves the one before it as it was.
    exact = json.dumps([plain(reading.provenance), reading.id], sort_keys=True)
    return f"{slug}-{hashlib.sha256(exact.encode()).hexdigest()[:8]}"


def _json(values: Mapping[str, Any]) -> bytes:
    # allow_nan=False: a NaN that reaches a file is a bug, and must not pass silently.
    return _encoded(json.dumps(values, indent=1, ensure_ascii=False, sort_keys=True, allow_nan=False))


def _encoded(text: str) -> bytes:
    # The name of a folder may be no UTF-8; what Python makes of such a byte is the same in JSON's own escapes.
    return f"{text}\n".encode(errors="backslashreplace")


def _table(items: list[dict[str, Any]]) -> bytes:
    names = dict.fromkeys(name for item in items for name in item)
    columns = {name: [item.get(name) for item in items] for name in names}
    return _encoded(json.dumps(columns, ensure_ascii=False, allow_nan=False))


def _checksum(values: bytes, table: bytes) -> str:
    """Of both files of a reading: the values without the checksum itself, and the table of its items."""
    return hashlib.sha256(values + table).hexdigest()[:16]


def _without_checksum(content: bytes) -> bytes:
    """The file of a reading as it was before its checksum joined it: keys are sorted, one per line."""
    return re.sub(rb'^ "checksum": "[0-9a-f]*",\n', b"", content, count=1, flags=re.MULTILINE)


def _columns(content: bytes) -> dict[str, list[Any]]:
    """The columns of a table. A word that stands in many rows is one object: an audit repeats its words."""
    columns: dict[str, list[Any]] = json.loads(content.decode(), parse_constant=_no_number)
    if not isinstance(columns, dict) or not all(isinstance(column, list) for column in columns.values()):
        raise ValueError("its items are no columns")
    if len(set(map(len, columns.values()))) > 1:
        raise ValueError("its items are columns of different lengths")
    return {name: _interned(column) for name, column in columns.items()}


def _interned(column: list[Any]) -> list[Any]:
    return [*map(sys.intern, column)] if set(map(type, column)) == {str} else column


def _parquet_columns(content: bytes) -> dict[str, list[Any]]:
    """The columns of a table as an earlier version wrote it."""
    require("a folder that an earlier version of tiltmeter wrote", "tables", "pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as parquet

    # From memory, because pyarrow cannot open a path that is not UTF-8; and neither from a Python file nor with
    # threads, because a thread that lets go of a Python object as the program ends aborts it.
    table = parquet.ParquetFile(pa.BufferReader(content)).read(use_threads=False)
    return {name: _interned(column) for name, column in table.to_pydict().items()}


def _read_json(path: Path) -> tuple[dict[str, Any], bytes]:
    """The values in a file, and its bytes."""
    try:
        content = path.read_bytes()
        values: dict[str, Any] = json.loads(content.decode(), parse_constant=_no_number)
        if not isinstance(values, dict):
            raise ValueError("no JSON object")
    except FileNotFoundError:
        raise BadInput(f"{path} is missing: run the audit again") from None
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{path} cannot be read ({error}): run the audit again") from None
    return values, content


def _no_number(name: str) -> None:
    """NaN and Infinity are no JSON, though Python would read them."""
    raise ValueError(f"{name} is not a number")
