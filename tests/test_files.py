"""A file is there whole or not at all."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.files import write_atomically


def test_a_write_that_fails_leaves_no_partial_file_and_says_what_to_do(tmp_path):
    (tmp_path / "taken").mkdir()
    with pytest.raises(BadInput, match="taken cannot be written"):
        write_atomically(tmp_path / "taken", b"content")
    assert [path.name for path in tmp_path.iterdir()] == ["taken"]


def test_a_full_disk_leaves_the_earlier_file_as_it_was(tmp_path):
    pytest.importorskip("resource", reason="file size limits are a matter of Unix")
    target = tmp_path / "reading.json"
    write_atomically(target, b"earlier")
    script = (
        "import resource, signal, sys; from pathlib import Path; from tiltmeter.files import write_atomically\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "write_atomically(Path(sys.argv[1]), b'x' * 100_000)"
    )
    done = subprocess.run([sys.executable, "-c", script, target], capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "BadInput" in done.stderr
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("reading.json", b"earlier")]
