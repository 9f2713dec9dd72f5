"""The answers already given, on disk: SQLite, safe for several processes and against a kill."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import os
import socket
import sqlite3
import threading
import time
import uuid
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from tiltmeter.errors import CacheUnusable
from tiltmeter.files import cache_folder
from tiltmeter.models.protocol import Identity, Question, Vector

T = TypeVar("T")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS models (id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS vectors (
    model INTEGER NOT NULL REFERENCES models(id), question TEXT NOT NULL, input BLOB NOT NULL,
    vector BLOB, checksum INTEGER NOT NULL, UNIQUE (model, question, input));
CREATE TABLE IF NOT EXISTS claims (
    model INTEGER NOT NULL REFERENCES models(id), question TEXT NOT NULL, input BLOB NOT NULL,
    owner TEXT NOT NULL, until REAL NOT NULL, PRIMARY KEY (model, question, input)) WITHOUT ROWID;
"""
_ENTRY = "WHERE model = ? AND question = ? AND input = ?"
_AT_ONCE = 500
#: Seconds to wait for another process that is writing.
_PATIENCE = 60.0
#: Seconds that a claim lasts after the last answer was stored: as long as a provider may ask to wait, and some more.
_CLAIM = 400.0
#: SQLite's codes for trouble around a file. Any other error means that the file itself is damaged.
_AROUND = {
    *(sqlite3.SQLITE_PERM, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_READONLY),
    *(sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN),
    *(sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_AUTH),
}
#: Rows in a row that cannot be read before the rest of a damaged table is given up.
_UNREADABLE = 20_000


class VectorStore:
    """Answers by model identity, question and exact input.

    Every entry carries a checksum; a damaged entry is dropped and asked for again, and a damaged file is set
    aside after what is readable was saved from it. ``notes`` tells what was repaired.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.path = (folder or cache_folder()) / "vectors.sqlite"
        self.notes: list[str] = []
        self._connection: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None
        self._lock = threading.RLock()
        self._owner = json.dumps([*_process(os.getpid()), uuid.uuid4().hex])

    def get(self, identity: Identity, question: Question, inputs: Sequence[Any]) -> dict[int, Vector | None]:
        """The known answers, by position in ``inputs``."""
        name = _name(identity)
        keys = [_key(item) for item in inputs]

        def look_up(db: sqlite3.Connection) -> dict[int, Vector | None]:
            model = _number(db, name)
            if model is None:
                return {}
            sound, damaged = _select(db, model, name, question, keys)
            if damaged:
                # The index may be all that is damaged: look again before anything is dropped.
                db.execute("REINDEX vectors")
                sound, damaged = _select(db, model, name, question, keys)
                db.executemany(f"DELETE FROM vectors {_ENTRY}", [(model, question.value, key) for key in damaged])
                lost = f"entries dropped and asked again: {len(damaged)}" if damaged else "its index was rebuilt"
                self.notes.append(f"the cache of {identity.name} was damaged; {lost}")
            return {position: sound[key] for position, key in enumerate(keys) if key in sound}

        return self._run(look_up)

    def put(
        self, identity: Identity, question: Question, inputs: Sequence[Any], vectors: Sequence[Vector | None]
    ) -> None:
        """Store answers, all or none; None records that a word is out of vocabulary."""
        name = _name(identity)
        blobs = [None if v is None else np.ascontiguousarray(v, dtype=question.row_type).tobytes() for v in vectors]
        keyed = [(_key(item), blob) for item, blob in zip(inputs, blobs, strict=True)]

        def store(db: sqlite3.Connection) -> None:
            with _transaction(db):
                # Looked up each time: another process may have cleared the model, and its number may be another's now.
                db.execute("INSERT OR IGNORE INTO models (identity) VALUES (?)", (name,))
                model = _number(db, name)
                db.executemany(
                    "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?, ?)",
                    [(model, question.value, key, blob, _checksum(name, question, key, blob)) for key, blob in keyed],
                )
                db.executemany(f"DELETE FROM claims {_ENTRY}", [(model, question.value, key) for key, _ in keyed])
                db.execute("UPDATE claims SET until = ? WHERE owner = ?", (time.time() + _CLAIM, self._owner))

        self._run(store)

    def claim(self, identity: Identity, question: Question, inputs: Sequence[Any]) -> list[int]:
        """The positions of inputs that are the caller's to ask: not answered yet, and not being asked by anyone alive.

        A claim ends when its answer is stored, when it is released, with its process, or when its time is out.
        """
        name = _name(identity)

        def take(db: sqlite3.Connection) -> list[int]:
            with _transaction(db):
                for owner, until in db.execute("SELECT owner, MAX(until) FROM claims GROUP BY owner").fetchall():
                    if until < time.time() or not _alive(owner):
                        db.execute("DELETE FROM claims WHERE owner = ?", (owner,))
                db.execute("INSERT OR IGNORE INTO models (identity) VALUES (?)", (name,))
                model, until = _number(db, name), time.time() + _CLAIM
                claim = (
                    "INSERT OR IGNORE INTO claims SELECT ?1, ?2, ?3, ?4, ?5 "
                    "WHERE NOT EXISTS (SELECT 1 FROM vectors WHERE model = ?1 AND question = ?2 AND input = ?3)"
                )
                entries = [(model, question.value, _key(item), self._owner, until) for item in inputs]
                return [i for i, entry in enumerate(entries) if db.execute(claim, entry).rowcount]

        return self._run(take)

    def release(self, identity: Identity, question: Question, inputs: Sequence[Any]) -> None:
        """Give up what the caller claimed and did not get answered."""

        def forget(db: sqlite3.Connection) -> None:
            model = _number(db, _name(identity))
            entries = [(model, question.value, _key(item), self._owner) for item in inputs]
            with _transaction(db):
                db.executemany(f"DELETE FROM claims {_ENTRY} AND owner = ?", entries)

        self._run(forget)

    def contents(self) -> list[dict[str, Any]]:
        """What is stored: one row per model and question."""
        columns = "identity, question, COUNT(*), SUM(LENGTH(vector))"
        joined = "vectors JOIN models ON models.id = vectors.model"
        query = f"SELECT {columns} FROM {joined} GROUP BY model, question ORDER BY identity, question"
        return [
            {**_described(identity), "question": question, "entries": count, "bytes": size or 0}
            for identity, question, count, size in self._run(lambda db: db.execute(query).fetchall())
        ]

    def clear(self, model: str | None = None) -> int:
        """Forget everything, or what one model (by name) answered; returns how many entries."""
        if model is None:  # by the file: on a full disk there is no space even to delete rows
            removed = sum(int(row["entries"]) for row in self.contents())
            with self._lock:
                self.close()
                self._move(lambda file: file.unlink())
            return removed

        def forget(db: sqlite3.Connection) -> int:
            removed = 0
            with _transaction(db):
                for row, identity in db.execute("SELECT id, identity FROM models").fetchall():
                    if _described(identity)["name"] == model:
                        removed += db.execute("DELETE FROM vectors WHERE model = ?", (row,)).rowcount
                        db.execute("DELETE FROM claims WHERE model = ?", (row,))
                        db.execute("DELETE FROM models WHERE id = ?", (row,))
            db.execute("VACUUM")
            return removed

        return self._run(forget)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def __enter__(self) -> VectorStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do the work on the open database; mend a damaged one and do it again."""
        with self._lock:
            try:
                try:
                    return work(self._open())
                except (sqlite3.Error, UnicodeDecodeError) as error:
                    if not _damaged(error):
                        raise
                    self.close()
                    self._mend()
                    return work(self._open())
            except (sqlite3.Error, OSError) as error:
                self.close()
                raise CacheUnusable(
                    f"the cache {self.path} cannot be used ({error}): free some space or make it writable, or "
                    "set TILTMETER_CACHE to another folder; everything stored so far is kept"
                ) from None

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and self._file != _file_id(self.path):
            self.close()  # another process has put a mended file in its place
        if self._connection is None:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise CacheUnusable(
                    f"the cache folder {self.path.parent} cannot be made ({error.strerror}): "
                    "set TILTMETER_CACHE to another"
                ) from None
            self._file = _file_id(self.path)  # known also where it turns out that it cannot be opened
            self._connection = _connect(self.path)
            self._file = _file_id(self.path)
        return self._connection

    def _mend(self) -> None:
        """Save what can still be read from a damaged file, then put the mended one in its place."""
        stamp = time.time_ns()
        aside = self.path.with_name(f"{self.path.name}.damaged-{stamp}")
        fresh = self.path.with_name(f"{self.path.name}.mending-{stamp}")
        damaged = self._file
        saved = _salvage(self.path, fresh)
        if damaged != _file_id(self.path):
            fresh.unlink()  # another process was faster
            return
        self._move(lambda file: file.replace(file.with_name(file.name.replace(self.path.name, aside.name))))
        fresh.replace(self.path)
        self.notes.append(f"a damaged cache was set aside as {aside.name}; {saved} entries were saved from it")

    def _move(self, move: Callable[[Path], object]) -> None:
        # The log goes first: SQLite would write the log of this file into the one that takes its place.
        for suffix in ("-wal", "-shm", ""):
            with contextlib.suppress(FileNotFoundError):
                move(self.path.with_name(self.path.name + suffix))


def _process(pid: int) -> list[Any]:
    """A process as no other on any machine is named: host, number and start, which is empty where it has ended.

    Where the system does not tell (it has no /proc) every process counts as running, until its claims' time is out.
    """
    try:
        space = str(Path("/proc/self/ns/pid").readlink())
    except OSError:
        return [socket.gethostname(), pid, "untold"]
    try:
        state, *values = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        state, values = "Z", []
    return [f"{socket.gethostname()} {space}", pid, "" if state in "ZX" else values[18]]


def _alive(owner: str) -> bool:
    try:
        host, pid, start, _ = json.loads(owner)
        here, _, now = _process(int(pid))
    except (ValueError, TypeError):
        return False  # a damaged row
    return bool(host != here or start == now)


def _select(
    db: sqlite3.Connection, model: int, name: str, question: Question, keys: list[bytes]
) -> tuple[dict[bytes, Vector | None], list[bytes]]:
    """The sound answers to these inputs, and the inputs whose answers are damaged."""
    sound: dict[bytes, Vector | None] = {}
    damaged: list[bytes] = []
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        marks = ",".join("?" * len(some))
        # CAST: a flipped bit can turn a blob into text that is not UTF-8, which Python would refuse to fetch.
        for key, blob, checksum in db.execute(
            "SELECT CAST(input AS BLOB), CAST(vector AS BLOB), CAST(checksum AS INTEGER) FROM vectors "
            f"WHERE model = ? AND question = ? AND input IN ({marks})",
            (model, question.value, *some),
        ):
            if _checksum(name, question, key, blob) != checksum:
                damaged.append(key)
            else:
                sound[key] = None if blob is None else _row(question, blob)
    return sound, damaged


def _row(question: Question, blob: bytes) -> Any:
    row = np.frombuffer(blob, dtype=question.row_type)
    return row.astype(row.dtype.newbyteorder("="))


def _salvage(damaged: Path, fresh: Path) -> int:
    """Copy the sound entries of a damaged file; returns how many."""
    saved = 0
    names: dict[int, str] = {}
    columns = "model, CAST(question AS TEXT), CAST(input AS BLOB), CAST(vector AS BLOB), CAST(checksum AS INTEGER)"
    with (
        contextlib.closing(_connect(fresh)) as new,
        contextlib.closing(sqlite3.connect(damaged)) as old,
        _transaction(new),
    ):
        old.execute("PRAGMA writable_schema=ON")  # makes SQLite read what is there of a file that was cut short
        for number, name in _readable(old, "models", "CAST(identity AS TEXT)"):
            if name is not None:
                names[number] = name
                new.execute("INSERT OR IGNORE INTO models VALUES (?, ?)", (number, name))
        for _, *row in _readable(old, "vectors", columns):
            model, question, key, blob, checksum = row
            readable = model in names and None not in (question, key)
            if readable and _checksum(names[model], question, key, blob) == checksum:
                saved += new.execute("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?, ?, ?)", row).rowcount
    return saved


def _readable(db: sqlite3.Connection, table: str, columns: str) -> Iterator[tuple[Any, ...]]:
    """The rows of a damaged table, with their number; those that cannot be read are stepped over."""
    at = failures = 0
    try:
        db.execute(f"SELECT {columns} FROM {table} LIMIT 0")
    except (sqlite3.Error, UnicodeDecodeError):
        return  # not even the table is known
    while failures < _UNREADABLE:
        try:
            for row in db.execute(f"SELECT rowid, {columns} FROM {table} WHERE rowid >= ? ORDER BY rowid", (at,)):
                at, failures = max(at, row[0]) + 1, 0
                yield row
            return
        except sqlite3.Error:
            at, failures = at + 1, failures + 1


def _damaged(error: sqlite3.Error | UnicodeDecodeError) -> bool:
    # ProgrammingError and InterfaceError would be mistakes of ours, and no reason to touch the file.
    if isinstance(error, sqlite3.ProgrammingError | sqlite3.InterfaceError):
        return False
    code = getattr(error, "sqlite_errorcode", None)
    return code is None or code & 0xFF not in _AROUND


def _file_id(path: Path) -> tuple[int, int] | None:
    """Which file stands at the path, so that one put in its place is noticed."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_dev, status.st_ino


def _connect(path: Path) -> sqlite3.Connection:
    """The store; one that cannot be written (a read-only folder, a full disk) can still be read."""
    try:
        return _connect_to_write(path)
    except sqlite3.OperationalError as error:
        cannot_write = (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR)
        if error.sqlite_errorcode & 0xFF not in cannot_write or not path.is_file():
            raise
        # Immutable: SQLite would otherwise write a file beside it even to read it.
        uri = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        db = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False)
        try:
            db.execute("SELECT 1 FROM models, vectors LIMIT 0")
        except sqlite3.Error:
            db.close()
            raise error from None  # there is nothing to read yet
        return db


def _connect_to_write(path: Path) -> sqlite3.Connection:
    deadline = time.monotonic() + _PATIENCE
    # The store has a lock of its own, so threads may share the connection.
    db = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None, check_same_thread=False)
    try:
        while True:
            try:
                db.execute("PRAGMA journal_mode=WAL")
                break
            except sqlite3.OperationalError as error:
                # Of several processes that make the file at once SQLite turns some away without waiting.
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        # FULL: an answer that was paid for must survive even a power cut once it is stored.
        db.execute("PRAGMA synchronous=FULL")
        db.executescript(_SCHEMA)
    except BaseException:
        db.close()
        raise
    return db


@contextlib.contextmanager
def _transaction(db: sqlite3.Connection) -> Iterator[None]:
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        db.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise


def _key(item: Any) -> bytes:
    """The exact input, hashed: 'é' composed and decomposed are two inputs, as they are to a model."""
    text = str(item) if isinstance(item, str) else json.dumps(dataclasses.astuple(item))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _name(identity: Identity) -> str:
    return json.dumps(identity.to_dict(), sort_keys=True)


def _described(name: str) -> dict[str, Any]:
    """What a stored name says of the model; there is no checksum over it, so it may be damaged."""
    with contextlib.suppress(ValueError, TypeError, KeyError):
        values = json.loads(name)
        return {key: values[key] for key in ("name", "revision", "settings")}
    return {"name": "unreadable", "revision": "", "settings": {}}


def _number(db: sqlite3.Connection, name: str) -> int | None:
    row = db.execute("SELECT id FROM models WHERE identity = ?", (name,)).fetchone()
    return None if row is None else int(row[0])


def _checksum(name: str, question: str, key: bytes, blob: bytes | None) -> int:
    """Of the answer and of whose it is: damage in an index can pass off one input's vector as another's."""
    answer = b"unknown" if blob is None else b"vector" + blob
    return zlib.crc32(b"\0".join((name.encode(), question.encode(), key, answer)))
