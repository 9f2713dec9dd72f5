"""A file is written whole or not at all; what is wrong with one that is read is one clear line."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.files import read_json, read_text, read_yaml, write_atomically


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


def test_text_is_read_with_and_without_a_byte_order_mark(tmp_path):
    path = tmp_path / "a.txt"
    for content in ("মেয়ে\n".encode(), b"\xef\xbb\xbf" + "মেয়ে\n".encode()):
        path.write_bytes(content)
        assert read_text(path) == "মেয়ে\n"


@pytest.mark.parametrize(
    ("read", "content", "complaint"),
    [
        (read_text, b"he\xff", "a.file: not UTF-8 at byte 2: save the file as UTF-8"),
        (read_json, b'{"a":\n 1,}', "a.file: line 2: broken JSON: "),
        (read_yaml, b"a: [1\nb: 2\n", "a.file: line 2: broken YAML: "),
        (read_yaml, b"a: 1\nb: 2\na: 3\n", "a.file: line 3: broken YAML: 'a' is there twice"),
        (read_yaml, b"x:\n - {b: 1, b: 2}\n", "a.file: line 2: broken YAML: 'b' is there twice"),
        (read_yaml, b"day: 2026-02-31\n", "a.file: broken YAML: day "),
    ],
)
def test_what_is_wrong_with_a_file_is_one_clear_line(tmp_path, read, content, complaint):
    path = tmp_path / "a.file"
    path.write_bytes(content)
    with pytest.raises(BadInput) as error:
        read(path)
    assert str(error.value).startswith(complaint)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("read", [read_text, read_json, read_yaml])
def test_a_file_that_is_missing_or_a_folder_is_one_clear_line(tmp_path, read):
    with pytest.raises(BadInput, match=f"^no file {tmp_path}/none: check the path$"):
        read(tmp_path / "none")
    with pytest.raises(BadInput, match=f"^cannot read {tmp_path}: Is a directory$"):
        read(tmp_path)


def test_what_is_written_in_a_file_is_read(tmp_path):
    path = tmp_path / "a.file"
    path.write_text('{"a": [1, "é"], "b": {"c": null}}', encoding="utf-8")
    assert read_json(path) == read_yaml(path) == {"a": [1, "é"], "b": {"c": None}}
    assert read_json(path, pairs=tuple) == (("a", [1, "é"]), ("b", (("c", None),)))


def test_an_alias_that_points_at_its_own_parent_ends(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("a: &a\n  b: *a\n", encoding="utf-8")
    content = read_yaml(path)
    assert content["a"]["b"] is content["a"]
