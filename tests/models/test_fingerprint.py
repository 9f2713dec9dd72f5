"""Fingerprints follow the content, and are computed once for a file that stays as it is."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.files import fingerprint

LONG_AGO = 1_600_000_000 * 10**9


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    folder = tmp_path / "cache"
    monkeypatch.setenv("TILTMETER_CACHE", str(folder))
    return folder


def write(path: Path, content: bytes, *, changed: int | None = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    if changed is not None:
        os.utime(path, ns=(changed, changed))
    return path


def in_another_process(*paths: Path) -> list[str]:
    code = "import sys, pathlib\nfrom tiltmeter.files import fingerprint\n"
    code += "for path in sys.argv[1:]: print(fingerprint(pathlib.Path(path)))"
    command = [sys.executable, "-c", code, *map(str, paths)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()


def test_it_is_the_beginning_of_the_blake2b_hash_of_the_content(tmp_path):
    expected = hashlib.blake2b(b"weights").hexdigest()[:16]
    assert fingerprint(write(tmp_path / "a", b"weights")) == expected
    assert fingerprint(write(tmp_path / "b", b"weights")) == expected


def test_one_changed_byte_in_the_middle_changes_it(tmp_path):
    content = bytearray(3_000_000)
    before = fingerprint(write(tmp_path / "a", bytes(content)))
    content[1_700_001] = 1
    assert fingerprint(write(tmp_path / "a", bytes(content))) != before


def test_a_folder_is_its_names_and_contents_and_not_its_place(tmp_path):
    for place in ("here", "there"):
        write(tmp_path / place / "config", b"1")
        write(tmp_path / place / "deep" / "weights", b"2")
    here = fingerprint(tmp_path / "here")
    assert fingerprint(tmp_path / "there") == here
    (tmp_path / "there" / "config").rename(tmp_path / "there" / "renamed")
    assert fingerprint(tmp_path / "there") != here
    write(tmp_path / "here" / "deep" / "weights", b"3")
    assert fingerprint(tmp_path / "here") != here


def test_content_moved_from_one_file_to_the_next_changes_a_folder(tmp_path):
    for place, (first, second) in {"x": (b"ab", b"c"), "y": (b"a", b"bc")}.items():
        write(tmp_path / place / "1", first)
        write(tmp_path / place / "2", second)
    assert fingerprint(tmp_path / "x") != fingerprint(tmp_path / "y")


def test_a_file_is_hashed_once_and_known_to_the_next_process(tmp_path):
    path = write(tmp_path / "a", b"old", changed=LONG_AGO)
    known = fingerprint(path)
    # Same size and time, other content: only a remembered answer can still be the old one.
    write(path, b"new", changed=LONG_AGO)
    assert fingerprint(path) == known
    assert in_another_process(path) == [known]
    write(path, b"new", changed=LONG_AGO + 1)
    assert fingerprint(path) == hashlib.blake2b(b"new").hexdigest()[:16]
    assert in_another_process(path) == [fingerprint(path)]


def test_a_file_written_just_now_is_not_remembered(tmp_path):
    path = write(tmp_path / "a", b"old")
    stamp = path.stat().st_mtime_ns
    before = fingerprint(path)
    write(path, b"new", changed=stamp)
    assert fingerprint(path) != before


def test_a_memo_that_cannot_be_written_or_read_costs_no_result(tmp_path, cache, monkeypatch):
    expected = hashlib.blake2b(b"weights").hexdigest()[:16]
    write(cache / "fingerprints.sqlite", b"this is not a database, whatever its name says" * 50)
    assert fingerprint(write(tmp_path / "a", b"weights", changed=LONG_AGO)) == expected
    monkeypatch.setenv("TILTMETER_CACHE", str(write(tmp_path / "a_file", b"")))
    assert fingerprint(write(tmp_path / "b", b"weights", changed=LONG_AGO)) == expected
    assert in_another_process(tmp_path / "b") == [expected]


def test_several_processes_share_one_memo(tmp_path, cache):
    paths = [write(tmp_path / "f" / str(i), str(i).encode(), changed=LONG_AGO) for i in range(30)]
    code = (
        "import sys, pathlib\nfrom tiltmeter.files import fingerprint\n"
        "for path in sorted(pathlib.Path(sys.argv[1]).iterdir()): fingerprint(path)"
    )
    workers = [subprocess.Popen([sys.executable, "-c", code, str(tmp_path / "f")]) for _ in range(3)]
    assert [worker.wait() for worker in workers] == [0, 0, 0]
    memo = sqlite3.connect(cache / "fingerprints.sqlite")
    remembered = dict(memo.execute("SELECT path, digest FROM seen"))
    memo.close()
    assert remembered == {str(p.resolve()): hashlib.blake2b(p.name.encode()).hexdigest()[:16] for p in paths}


def test_what_is_not_there_is_refused(tmp_path):
    with pytest.raises(BadInput, match="gone: no such file or folder"):
        fingerprint(tmp_path / "gone")
    (tmp_path / "hollow").mkdir()
    with pytest.raises(BadInput, match="hollow: holds no files"):
        fingerprint(tmp_path / "hollow")
    (tmp_path / "hollow" / "dangling").symlink_to(tmp_path / "gone")
    with pytest.raises(BadInput, match="cannot be read"):
        fingerprint(tmp_path / "hollow")
