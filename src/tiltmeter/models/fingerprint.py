"""A short hash of a model's files, so that a reading can say which weights it measured.

All bytes count: a sample would miss the one row that was fine-tuned. Large files are therefore hashed
once and remembered on disk by path, size and time of change.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from tiltmeter.errors import BadInput
from tiltmeter.models.store import cache_folder

DIGITS = 16
#: A file changed this recently may change again within one tick of the clock (2 s on FAT): not remembered.
SETTLED_SECONDS = 2.0

_Key = tuple[str, int, int]


def fingerprint(path: Path) -> str:
    """16 hex digits of the content of a file, or of all files in a folder with their names.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "weights")
    ...     _ = file.write_bytes(b"1 2 3")
    ...     fingerprint(file)
    '624ea8a46f80b271'
    """
    try:
        if path.is_file():
            return _of_file(path)
        if path.is_dir():
            return _of_folder(path)
    except OSError as error:
        raise BadInput(f"{path}: cannot be read ({error.strerror or error})") from error
    raise BadInput(f"{path}: no such file or folder")


def _of_folder(folder: Path) -> str:
    files = [Path(root, name) for root, _, names in os.walk(folder) for name in names]
    if not files:
        raise BadInput(f"{folder}: holds no files")
    total = hashlib.blake2b()
    for name, file in sorted((file.relative_to(folder).as_posix(), file) for file in files):
        total.update(f"{name}\0{_of_file(file)}\0".encode("utf-8", "surrogateescape"))
    return total.hexdigest()[:DIGITS]


def _of_file(path: Path) -> str:
    key = _key(path)
    settled = time.time() - key[2] / 1e9 > SETTLED_SECONDS
    if settled and (remembered := _recall(key)):
        return remembered
    with path.open("rb", buffering=0) as stream:
        digest = hashlib.file_digest(stream, hashlib.blake2b).hexdigest()[:DIGITS]
    if settled and _key(path) == key:
        _remember(key, digest)
    return digest


def _key(path: Path) -> _Key:
    status = path.stat()
    return str(path.resolve()), status.st_size, status.st_mtime_ns


_digests: dict[_Key, str] = {}


def _recall(key: _Key) -> str | None:
    if key not in _digests:
        with contextlib.suppress(*_MEMO_FAILS), _memo() as memo:
            row = memo.execute("SELECT digest FROM seen WHERE path=? AND size=? AND mtime=?", key).fetchone()
            if row:
                _digests[key] = row[0]
    return _digests.get(key)


def _remember(key: _Key, digest: str) -> None:
    _digests[key] = digest
    with contextlib.suppress(*_MEMO_FAILS), _memo() as memo:
        memo.execute("INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?)", (*key, digest))


#: A memo that cannot be read or written costs time, never a result. ValueError: a path that is no Unicode.
_MEMO_FAILS = (sqlite3.Error, OSError, ValueError)


@contextlib.contextmanager
def _memo() -> Iterator[sqlite3.Connection]:
    folder = cache_folder()
    folder.mkdir(parents=True, exist_ok=True)
    with contextlib.closing(sqlite3.connect(folder / "fingerprints.sqlite")) as memo, memo:
        memo.execute("CREATE TABLE IF NOT EXISTS seen (path TEXT PRIMARY KEY, size INT, mtime INT, digest TEXT)")
        yield memo
