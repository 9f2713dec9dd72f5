"""What mining leaves behind: a folder with the occurrences and how they came about, and the report of the run."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, StrictStr

from tiltmeter.errors import BadInput, require
from tiltmeter.files import check, write_atomically
from tiltmeter.stimuli.lexicon.lexicon import Group, stimuli_digest
from tiltmeter.stimuli.mining.blocks import Places
from tiltmeter.stimuli.mining.corpus import Shard
from tiltmeter.stimuli.mining.finds import FIELDS, Finds, numbers_of, of_names, of_numbers, of_texts, pieces_of
from tiltmeter.stimuli.mining.mining_settings import MiningSettings

OCCURRENCES, ABOUT, PARTS = "occurrences.parquet", "mined.json", "parts"
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


class _AboutCount(BaseModel):
    word: StrictStr
    groups: list[StrictStr]


class _AboutFile(BaseModel):
    """What is read of the file that says how occurrences were found."""

    sha256: StrictStr
    lengths: list[StrictStr]
    groups: dict[str, Any]
    language: StrictStr
    counts: list[_AboutCount]


@dataclass(frozen=True, slots=True)
class Mined:
    """All occurrences of a folder; ``sha256`` identifies them, ``about`` says how they were found and how many."""

    rows: tuple[Occurrence, ...]
    lengths: tuple[str, ...]
    groups: tuple[str, ...]
    language: str
    sha256: str
    about: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Count:
    """How often a word was ``found`` with so much text around it, and how many different texts were kept."""

    word: str
    groups: tuple[str, ...]
    length: str
    found: int
    kept: int
    missing: int


@dataclass(frozen=True, slots=True)
class MiningReport:
    """What mining has found; ``never_found`` are words that do not occur, ``broken`` counts what was no UTF-8."""

    folder: Path
    counts: tuple[Count, ...]
    never_found: tuple[str, ...]
    records: int
    broken: int
    occurrences: int
    rows: int
    least: int
    sha256: str

    @property
    def too_few(self) -> tuple[Count, ...]:
        """Words with fewer texts of a length than were asked for."""
        return tuple(count for count in self.counts if count.missing)

    def to_dict(self) -> dict[str, Any]:
        return {**dataclasses.asdict(self), "folder": str(self.folder)}


def load_mined(folder: str | Path) -> Mined:
    """Read what ``tiltmeter mine`` has written."""
    folder = Path(folder)
    about = _about(folder)
    table = _table(folder / OCCURRENCES)
    sha256 = _sha256(table)
    if about["sha256"] != sha256:
        raise BadInput(f"{folder / OCCURRENCES} is not what {ABOUT} says it is: mine it again")
    rows = tuple(map(Occurrence, *(table.column(name).to_pylist() for name in COLUMNS)))
    return Mined(rows, tuple(about["lengths"]), tuple(about["groups"]), about["language"], sha256, about)


def save_mined(folder: Path, columns: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, Any]:
    """Write the folder: the same content gives the same bytes. The file that makes it whole comes last."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    table = pa.table({name: columns[name] for name in COLUMNS})
    buffer = pa.BufferOutputStream()
    names = [name for name in _TEXTS if name != "text"]  # texts differ, so a dictionary of them would be for nothing
    parquet.write_table(table, buffer, compression="zstd", use_dictionary=names)
    content = {**about, "sha256": _sha256(table)}
    write_atomically(folder / OCCURRENCES, buffer.getvalue().to_pybytes())
    write_atomically(folder / ABOUT, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())
    return content


def _sha256(table: Any) -> str:
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


def _about(folder: Path) -> dict[str, Any]:
    path = folder / ABOUT
    if not folder.is_dir():
        raise BadInput(f"no folder {folder}: make it with tiltmeter mine CORPUS --lexicon ... --out {folder}")
    if not path.is_file():
        unfinished = " (mining was interrupted: run the same command again)" if (folder / PARTS).is_dir() else ""
        raise BadInput(f"{folder} holds no {ABOUT}, so it is not a folder of tiltmeter mine{unfinished}")
    try:
        about: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise BadInput(f"{path} cannot be read ({error}): mine it again") from None
    try:
        check(ABOUT, about, _AboutFile)
    except BadInput as error:
        raise BadInput(f"{path} is damaged ({error}): mine it again") from None
    return about


def _table(path: Path) -> Any:
    require("a mined folder", "mining", "pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as parquet

    if not path.is_file():
        raise BadInput(f"{path} is missing: mine it again")
    schema = pa.schema([(name, pa.large_string() if name in _TEXTS else pa.int64()) for name in COLUMNS])
    try:
        # From memory and without threads: one that lets go of a Python object as the program ends aborts it.
        file = parquet.ParquetFile(pa.BufferReader(path.read_bytes()))
        return file.read(list(COLUMNS), use_threads=False).cast(schema)
    except (pa.ArrowException, KeyError, ValueError, OSError) as error:
        raise BadInput(f"{path} is damaged ({str(error).splitlines()[0]}): mine it again") from None


def save_finds(
    folder: Path, groups: dict[str, Group], settings: MiningSettings, shards: Sequence[Shard], finds: Finds, least: int
) -> MiningReport:
    """Write the folder of a run, and report on it."""
    corpus, lines_before = _corpus(shards, finds)
    columns = _columns(groups, settings, [shard.file.source for shard in shards], np.array(lines_before), finds)
    kept = np.bincount(finds.reservoirs.settle().reservoir, minlength=settings.reservoirs).tolist()
    asked = itertools.product(settings.words, settings.lengths)
    counts = tuple(
        Count(word.text, word.groups, str(length), n_found, n, max(0, least - n))
        for (word, length), n_found, n in zip(asked, finds.windows.tolist(), kept, strict=True)
    )
    never = tuple(word.text for word, hits in zip(settings.words, finds.hits, strict=True) if not hits)
    about: dict[str, Any] = {
        "language": settings.language.code,
        "groups": {address: list(group.texts) for address, group in groups.items()},
        "lexicon_sha256": stimuli_digest(*groups.values()),
        "lengths": list(map(str, settings.lengths)),
        "settings": {"keep": settings.keep, "least": least, "within": settings.within,
                     "across": settings.across, "errors": settings.errors,
                     "seed": settings.seed},
        "corpus": corpus,
        "occurrences": int(finds.hits.sum()),
        "never_found": list(never),
        "counts": [dataclasses.asdict(count) for count in counts],
    }  # fmt: skip
    about = save_mined(folder, columns, about)
    return MiningReport(
        folder=folder, counts=counts, never_found=never, records=sum(file["records"] for file in corpus),
        broken=sum(file["broken"] for file in corpus), occurrences=about["occurrences"], rows=len(columns["word"]),
        least=least, sha256=about["sha256"],
    )  # fmt: skip


def _columns(
    groups: dict[str, Group], settings: MiningSettings, sources: Sequence[str], lines_before: Places, finds: Finds
) -> dict[str, Any]:
    """The rows of the table, by group, word, length and rank; a word of two groups is in both."""
    kept = finds.reservoirs.settle()
    lengths = len(settings.lengths)
    borders = np.searchsorted(kept.reservoir, np.arange(len(settings.words) + 1) * lengths).tolist()
    pairs = itertools.product(enumerate(groups), enumerate(settings.words))
    asked = [(group, word) for (group, address), (word, forms) in pairs if address in forms.groups]
    rows = kept.take(np.concatenate([np.arange(borders[word], borders[word + 1]) for _, word in asked]))
    group = np.repeat([group for group, _ in asked], [borders[word + 1] - borders[word] for _, word in asked])
    numbers = dict(zip(FIELDS, rows.numbers, strict=True))
    spans = zip(rows.text, numbers["form_byte"].tolist(), numbers["form_bytes"].tolist(), strict=True)
    return {
        "word": of_names([word.text for word in settings.words], rows.reservoir // lengths),
        "group": of_names(list(groups), group),
        "form": of_texts([text[at : at + size] for text, at, size in spans]),
        "length": of_names(list(map(str, settings.lengths)), rows.reservoir % lengths),
        "text": of_texts(rows.text),
        "source": of_names(sources, numbers["shard"]),
        "line": of_numbers(numbers["line"] + lines_before[numbers["shard"]]),
        **{name: of_numbers(numbers[name]) for name in ("start", "end", "root_end", "at")},
    }


def _corpus(shards: Sequence[Shard], finds: Finds) -> tuple[list[dict[str, Any]], list[int]]:
    """The files with their sizes, records and what was no UTF-8; how many records of its file precede each part."""
    files: dict[str, dict[str, Any]] = {}
    before = []
    for shard in shards:
        file, tally = shard.file, finds.shards[shard.number]
        about = {"source": file.source, "bytes": file.size, "column": file.column, "records": 0, "broken": 0}
        entry = files.setdefault(file.source, about)
        before.append(entry["records"])
        entry["records"] += tally.records
        entry["broken"] += tally.broken
    return list(files.values()), before
