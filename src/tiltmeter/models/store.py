"""The vectors already answered, on disk: SQLite, safe for several processes and against a kill."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sqlite3
import time
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Identity, Question, Span, Vector

T = TypeVar("T")

_SCHEMA = """
CREATE TABLE IF NOT EXISTS models (id INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS vectors (
    model INTEGER NOT NULL REFERENCES models(id), question TEXT NOT NULL, input BLOB NOT NULL,
    vector BLOB, checksum INTEGER NOT NULL, UNIQUE (model, question, input));
"""
_AT_ONCE = 500


def cache_folder() -> Path:
    """Where vectors are kept: TILTMETER_CACHE, or the user's cache folder."""
    import platformdirs

    return Path(os.environ.get("TILTMETER_CACHE") or platformdirs.user_cache_dir("tiltmeter")).expanduser()


class VectorStore:
    """Answers by model identity, question and exact input.

    Every entry carries a checksum; a damaged entry is dropped and asked for again, and a damaged file is set
    aside after what is readable was saved from it. ``notes`` tells what was repaired.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.path = (folder or cache_folder()) / "vectors.sqlite"
        self.notes: list[str] = []
        self._connection: sqlite3.Connection | None = None
        self._models: dict[str, int] = {}

    def get(self, identity: Identity, question: Question, inputs: Sequence[Any]) -> dict[int, Vector | None]:
        """The known answers, by position in ``inputs``."""
        return self._run(lambda db: self._get(db, identity, question, inputs))

    def put(
        self, identity: Identity, question: Question, inputs: Sequence[Any], vectors: Sequence[Vector | None]
    ) -> None:
        """Store answers, all or none; None records that a word is out of vocabulary."""
        blobs = [None if v is None else np.ascontiguousarray(v, dtype="<f4").tobytes() for v in vectors]

        def store(db: sqlite3.Connection) -> None:
            model = self._model(db, identity)
            rows = [
                (model, question.value, _key(item), blob, zlib.crc32(blob or b""))
                for item, blob in zip(inputs, blobs, strict=True)
            ]
            with _transaction(db):
                db.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?, ?)", rows)

        self._run(store)

    def contents(self) -> list[dict[str, Any]]:
        """What is stored: one row per model and question."""
        found = self._run(
            lambda db: db.execute(
                "SELECT identity, question, COUNT(*), SUM(LENGTH(vector)) FROM vectors "
                "JOIN models ON models.id = vectors.model "
                "GROUP BY model, question ORDER BY identity, question"
            ).fetchall()
        )
        return [
            {**json.loads(identity), "question": question, "entries": count, "bytes": size or 0}
            for identity, question, count, size in found
        ]

    def clear(self, model: str | None = None) -> int:
        """Forget everything, or what one model (by name) answered; returns how many entries."""

        def forget(db: sqlite3.Connection) -> int:
            removed = 0
            with _transaction(db):
                for row, identity in db.execute("SELECT id, identity FROM models").fetchall():
                    if model is None or json.loads(identity)["name"] == model:
                        removed += db.execute("DELETE FROM vectors WHERE model = ?", (row,)).rowcount
                        db.execute("DELETE FROM models WHERE id = ?", (row,))
            db.execute("VACUUM")
            return removed

        self._models.clear()
        return self._run(forget)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        self._models.clear()

    def __enter__(self) -> VectorStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _get(
        self, db: sqlite3.Connection, identity: Identity, question: Question, inputs: Sequence[Any]
    ) -> dict[int, Vector | None]:
        model = self._model(db, identity)
        keys = [_key(item) for item in inputs]
        found: dict[bytes, Vector | None] = {}
        damaged: list[bytes] = []
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            marks = ",".join("?" * len(some))
            for key, blob, checksum in db.execute(
                f"SELECT input, vector, checksum FROM vectors WHERE model = ? AND question = ? AND input IN ({marks})",
                (model, question.value, *some),
            ):
                if not _sound(blob, checksum):
                    damaged.append(key)
                else:
                    found[key] = None if blob is None else np.frombuffer(blob, dtype="<f4").astype(np.float32)
        if damaged:
            db.executemany(
                "DELETE FROM vectors WHERE model = ? AND question = ? AND input = ?",
                [(model, question.value, key) for key in damaged],
            )
            self.notes.append(f"{len(damaged)} damaged cache entries of {identity.name} were dropped and asked again")
        return {position: found[key] for position, key in enumerate(keys) if key in found}

    def _model(self, db: sqlite3.Connection, identity: Identity) -> int:
        text = json.dumps(identity.to_dict(), sort_keys=True, ensure_ascii=False)
        if text not in self._models:
            db.execute("INSERT OR IGNORE INTO models (identity) VALUES (?)", (text,))
            found = db.execute("SELECT id FROM models WHERE identity = ?", (text,)).fetchone()
            self._models[text] = int(found[0])
        return self._models[text]

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do the work on the open database; mend a damaged one and do it again."""
        try:
            try:
                return work(self._open())
            except sqlite3.OperationalError:
                raise
            except sqlite3.DatabaseError:
                self.close()
                self._mend()
                return work(self._open())
        except sqlite3.Error as error:
            self.close()
            raise BadInput(
                f"the cache {self.path} cannot be used ({error}): free some space or make it writable, or "
                "set TILTMETER_CACHE to another folder; everything stored so far is kept"
            ) from None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            try:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise BadInput(
                    f"the cache folder {self.path.parent} cannot be made ({error.strerror}): "
                    "set TILTMETER_CACHE to another"
                ) from None
            self._connection = _connect(self.path)
        return self._connection

    def _mend(self) -> None:
        """Set a damaged file aside and save what can still be read from it."""
        aside = self.path.with_name(f"{self.path.name}.damaged-{time.time_ns()}")
        self.path.replace(aside)
        for suffix in ("-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                self.path.with_name(self.path.name + suffix).replace(aside.with_name(aside.name + suffix))
        saved = 0
        fresh = _connect(self.path)
        with contextlib.closing(fresh), contextlib.closing(sqlite3.connect(aside)) as old:
            with contextlib.suppress(sqlite3.DatabaseError):
                for row in old.execute("SELECT id, identity FROM models"):
                    fresh.execute("INSERT OR IGNORE INTO models VALUES (?, ?)", row)
            with _transaction(fresh), contextlib.suppress(sqlite3.DatabaseError):
                for row in old.execute("SELECT model, question, input, vector, checksum FROM vectors"):
                    if _sound(row[3], row[4]):
                        fresh.execute("INSERT OR IGNORE INTO vectors VALUES (?, ?, ?, ?, ?)", row)
                        saved += 1
        self.notes.append(f"a damaged cache was set aside as {aside.name}; {saved} entries were saved from it")


def _connect(path: Path) -> sqlite3.Connection:
    db = sqlite3.connect(path, timeout=60, isolation_level=None)
    try:
        db.execute("PRAGMA journal_mode=WAL")
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
    text = json.dumps([item.text, item.start, item.end]) if isinstance(item, Span) else str(item)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()


def _sound(blob: bytes | None, checksum: object) -> bool:
    return zlib.crc32(blob or b"") == checksum and (blob is None or len(blob) % 4 == 0)
