"""The audits of a folder, read without their items, again only when an audit has written."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from tiltmeter.errors import BadInput
from tiltmeter.readings import Audit, Reading, ReadingStore
from tiltmeter.readings.audit import DAMAGED
from tiltmeter.views.rows import reading_rows
from tiltmeter.views.summary import Summary, summarise_rows
from tiltmeter.web.listing import Entry, key_of

T = TypeVar("T")
#: Changed whenever a file is replaced.
Stamp = tuple[int, int, int]
#: Whole readings, with their items, that are kept at hand.
_KEPT = 24
#: So long a reader waits for an audit that was written again; a large one is shown as it was until it is read.
_PATIENCE = 0.05


class NotHere(BadInput):
    """Something that was asked for by an address and is not in the folder."""


@dataclasses.dataclass(frozen=True, eq=False, slots=True, weakref_slot=True)
class StoredAudit:
    """One audit without items, and the same only as itself. ``notes`` say what could not be read."""

    name: str
    folder: Path
    stamp: Stamp
    audit: Audit
    finished: str
    entries: tuple[Entry, ...]
    summary: Summary
    notes: tuple[str, ...]
    read: Mapping[str, tuple[Stamp, Reading]]

    def entry(self, file: str) -> Entry:
        gone = f"the audit '{self.name}' holds no such reading: it may have been replaced, go back and reload"
        return _first((entry for entry in self.entries if entry.file == file), gone)

    def first(self, most: int) -> list[Entry]:
        """What to look at first."""
        by_row = {id(entry.row): entry for entry in self.entries}
        return [by_row[id(row)] for row in self.summary.first(most)]

    def model(self, key: str) -> str:
        named = (name for name in self.audit.models if key_of(name) == key)
        return _first(named, f"there is no such model of the audit '{self.name}'")

    def probe(self, key: str) -> list[Entry]:
        """All readings of one probe."""
        entries = [entry for entry in self.entries if entry.probe_key == key]
        if not entries:
            raise NotHere(f"there is no such probe in the audit '{self.name}'")
        return entries


class Shown(NamedTuple):
    """What the folder holds now."""

    audits: tuple[StoredAudit, ...]
    notes: tuple[str, ...]

    def audit(self, name: str) -> StoredAudit:
        named = (stored for stored in self.audits if stored.name == name)
        return _first(named, "there is no such audit in this folder")

    @property
    def entries(self) -> list[Entry]:
        return [entry for stored in self.audits for entry in stored.entries]


class Shelf:
    """A folder that is an audit, or holds some. What is asked for is looked up in what was found, never joined to a
    path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()
        #: Where a new audit goes, into a folder of its own: beside the others, and never into one of them.
        self.place = self.folder.parent if (self.folder / ReadingStore.MANIFEST).is_file() else self.folder
        self._added: dict[Path, None] = {}
        self._lock = threading.Lock()
        self._stored: dict[Path, StoredAudit] = {}
        self._again: dict[Path, Future[StoredAudit]] = {}
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="shelf")
        self._whole = functools.lru_cache(maxsize=_KEPT)(_whole)

    def add(self, folder: Path) -> None:
        """Show an audit beside those of the folder."""
        if folder.parent != self.folder:
            self._added[folder] = None

    def look(self) -> Shown:
        """The audits as they are now."""
        audits, notes = list[StoredAudit](), list[str]()
        with self._lock:
            try:
                folders = list(self._folders())
            except OSError as error:
                return Shown((), (f"the folder cannot be listed now: {self.plain(error)}",))
            for name, folder in folders:
                try:
                    stored = self._audit(name, folder)
                except (BadInput, OSError) as error:
                    notes.append(f"{name}: {self.plain(error)}")
                    continue
                if stored is None:
                    notes.append(f"{name} is not finished: no audit.json is there yet")
                else:
                    audits.append(stored)
                    notes += stored.notes
        return Shown(tuple(audits), tuple(notes))

    def reading(self, audit: str, file: str) -> tuple[Entry, Reading]:
        """A reading with its items."""
        stored = self.look().audit(audit)
        entry = stored.entry(file)
        try:
            stamp = _stamp(ReadingStore(stored.folder).items_file(file))
            whole = self._whole(stored.folder, file, stamp)
        except (OSError, BadInput) as error:
            raise NotHere(f"this reading cannot be read now ({self.plain(error)}): reload in a moment") from None
        # A file knows nothing of the other tests of its model.
        return entry, dataclasses.replace(whole, correction=entry.reading.correction)

    def plain(self, error: Exception) -> str:
        """An error without the place of the folder on this machine."""
        message = str(error).replace(f"{self.folder}{os.sep}", "").replace(str(self.folder), "the folder")
        return " ".join(message.split())

    def _folders(self) -> Iterator[tuple[str, Path]]:
        children = [folder for folder in sorted(self.folder.iterdir()) if self._holds_audit(folder)]
        if (self.folder / ReadingStore.MANIFEST).is_file():
            taken = {folder.name for folder in children}
            yield self.folder.name if self.folder.name not in taken else f"{self.folder.name} itself", self.folder
        yield from ((folder.name, folder) for folder in (*children, *filter(self._holds_audit, tuple(self._added))))

    def _holds_audit(self, folder: Path) -> bool:
        if folder.name.startswith(".") or folder.name == "readings" or not folder.name.isprintable():
            return False
        try:
            holds = (folder / ReadingStore.MANIFEST).is_file() or (folder / "readings").is_dir()
            within = self.place if folder in self._added else self.folder
            return holds and folder.resolve().is_relative_to(within)
        except OSError:  # a folder that may not be looked into, or that has just gone
            return False

    def _audit(self, name: str, folder: Path) -> StoredAudit | None:
        try:
            stamp = _stamp(folder / ReadingStore.MANIFEST)
        except FileNotFoundError:
            return None
        stored = self._stored.get(folder)
        if stored is None or stored.name != name:
            stored = self._stored[folder] = _read(name, folder, stamp, {})
        elif stored.stamp != stamp:
            stored = self._stored[folder] = self._newer(stored, stamp)
        return stored

    def _newer(self, stored: StoredAudit, stamp: Stamp) -> StoredAudit:
        if stored.folder not in self._again:
            self._again[stored.folder] = self._reader.submit(_read, stored.name, stored.folder, stamp, stored.read)
        if not wait([self._again[stored.folder]], _PATIENCE).done:
            return stored
        return self._again.pop(stored.folder).result()


def _read(name: str, folder: Path, stamp: Stamp, before: Mapping[str, tuple[Stamp, Reading]]) -> StoredAudit:
    manifest = ReadingStore(folder).manifest()
    read, notes = dict[str, tuple[Stamp, Reading]](), list[str]()
    there = _files(folder / "readings")
    for file in map(str, manifest["readings"]):
        try:
            read[file] = _light(there[f"{file}.json"], before.get(file))
        except (OSError, BadInput, *DAMAGED):
            notes.append(f"{name}: the reading '{file}' is missing or damaged and not shown")
    audit = Audit.from_manifest(manifest, (reading for _, reading in read.values()), folder)
    rows = reading_rows(audit.readings)
    entries = tuple(Entry.of(name, file, row) for file, row in zip(read, rows, strict=True))
    finished = str(manifest.get("finished", ""))[:16].replace("T", " ")
    summary = summarise_rows(rows, audit.models)
    return StoredAudit(name, folder, stamp, audit, finished, entries, summary, tuple(notes), read)


def _files(folder: Path) -> dict[str, os.DirEntry[str]]:
    """The plain files of a folder by name: what a manifest names is looked up here, so nothing leads out of it."""
    with os.scandir(folder) as entries:
        return {entry.name: entry for entry in entries if entry.is_file(follow_symlinks=False)}


def _light(file: os.DirEntry[str], before: tuple[Stamp, Reading] | None) -> tuple[Stamp, Reading]:
    """A reading without its items; the one that was read before where the file is the same."""
    stamp = _stamp(file)
    if before and before[0] == stamp:
        return before
    values: dict[str, Any] = json.loads(Path(file.path).read_bytes())
    return stamp, Reading.from_dict({**values, "items": ()})


def _whole(folder: Path, file: str, _stamp: Stamp) -> Reading:
    return ReadingStore(folder).load([file])[0]


def _stamp(path: Path | os.DirEntry[str]) -> Stamp:
    status = path.stat()
    return status.st_mtime_ns, status.st_size, status.st_ino


def _first(things: Iterator[T], otherwise: str) -> T:
    for thing in things:
        return thing
    raise NotHere(otherwise)
