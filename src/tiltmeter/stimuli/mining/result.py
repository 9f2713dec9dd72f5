"""What mining found, as the rows of a table, as counts, and as the report of a run."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tiltmeter.stimuli.lexicon.lexicon import Group, fingerprint
from tiltmeter.stimuli.mining.columns import of_names, of_numbers, of_texts
from tiltmeter.stimuli.mining.corpus import Shard
from tiltmeter.stimuli.mining.mined import save_mined
from tiltmeter.stimuli.mining.parts import Finds
from tiltmeter.stimuli.mining.reservoir import FIELDS
from tiltmeter.stimuli.mining.settings import Settings


@dataclass(frozen=True, slots=True)
class Count:
    """How often a word was ``found`` with so much text around it, how many of these texts were kept, each once."""

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


def save(
    folder: Path, groups: dict[str, Group], settings: Settings, shards: Sequence[Shard], finds: Finds, least: int
) -> MiningReport:
    """Write the folder of a run, and report on it."""
    columns = _columns(groups, settings, shards, finds)
    counts = _counts(settings, finds, least)
    never = tuple(each.word for each, hits in zip(settings.sought, finds.hits, strict=True) if not hits)
    tallies = finds.shards.values()
    about: dict[str, Any] = {
        "language": settings.language.code,
        "groups": {address: list(group.texts) for address, group in groups.items()},
        "lexicon_sha256": fingerprint(*groups.values()),
        "lengths": list(map(str, settings.lengths)),
        "settings": {"keep": settings.keep, "least": least, "within": settings.within, "errors": settings.errors,
                     "seed": settings.seed},
        "corpus": _corpus(shards, finds),
        "occurrences": int(finds.hits.sum()),
        "never_found": list(never),
        "counts": [dataclasses.asdict(count) for count in counts],
    }  # fmt: skip
    about = save_mined(folder, columns, about)
    return MiningReport(
        folder=folder, counts=counts, never_found=never, records=sum(each.records for each in tallies),
        broken=sum(each.broken for each in tallies), occurrences=int(finds.hits.sum()), rows=len(columns["word"]),
        least=least, sha256=about["sha256"],
    )  # fmt: skip


def _columns(groups: dict[str, Group], settings: Settings, shards: Sequence[Shard], finds: Finds) -> dict[str, Any]:
    """The rows of the table, by group, word, length and rank; each word is there once for each of its groups."""
    kept = finds.reservoirs.settle()
    lengths = len(settings.lengths)
    borders = np.searchsorted(kept.reservoir, np.arange(len(settings.sought) + 1) * lengths).tolist()
    asked = [
        (number, address, word)
        for number, address in enumerate(groups)
        for word, each in enumerate(settings.sought)
        if address in each.groups
    ]
    rows = kept.take(np.concatenate([np.arange(borders[word], borders[word + 1]) for _, _, word in asked]))
    group = np.repeat([number for number, _, _ in asked], [borders[word + 1] - borders[word] for _, _, word in asked])
    numbers = dict(zip(FIELDS, rows.numbers, strict=True))
    spans = zip(rows.text, numbers["form_byte"].tolist(), numbers["form_bytes"].tolist(), strict=True)
    before = np.array(_lines_before(shards, finds))
    return {
        "word": of_names([each.word for each in settings.sought], rows.reservoir // lengths),
        "group": of_names(list(groups), group),
        "form": of_texts([text[at : at + size] for text, at, size in spans]),
        "length": of_names(list(map(str, settings.lengths)), rows.reservoir % lengths),
        "text": of_texts(rows.text),
        "source": of_names([shard.file.source for shard in shards], numbers["shard"]),
        "line": of_numbers(numbers["line"] + before[numbers["shard"]]),
        **{name: of_numbers(numbers[name]) for name in ("start", "end", "root_end", "at")},
    }


def _lines_before(shards: Sequence[Shard], finds: Finds) -> list[int]:
    """How many records of its file stand before each part."""
    before, records, source = list[int](), 0, ""
    for shard in shards:
        records = records if shard.file.source == source else 0
        source = shard.file.source
        before.append(records)
        records += finds.shards[shard.number].records
    return before


def _corpus(shards: Sequence[Shard], finds: Finds) -> list[dict[str, Any]]:
    """The files with their sizes, records and what in them was no UTF-8."""
    files: dict[str, dict[str, Any]] = {}
    for shard in shards:
        entry = files.setdefault(
            shard.file.source,
            {"source": shard.file.source, "bytes": shard.file.size, "column": shard.file.column, "records": 0,
             "broken": 0},
        )  # fmt: skip
        entry["records"] += finds.shards[shard.number].records
        entry["broken"] += finds.shards[shard.number].broken
    return list(files.values())


def _counts(settings: Settings, finds: Finds, least: int) -> tuple[Count, ...]:
    found = finds.found.tolist()
    kept = np.bincount(finds.reservoirs.settle().reservoir, minlength=settings.reservoirs).tolist()
    both = itertools.product(settings.sought, settings.lengths)
    return tuple(
        Count(each.word, each.groups, str(length), found[slot], kept[slot], max(0, least - kept[slot]))
        for slot, (each, length) in enumerate(both)
    )
