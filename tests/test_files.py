"""A file is written whole or not at all; what is wrong with one that is read is one clear line."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.files import at_home, locked, parse_yaml, read_json, read_text, read_yaml, write_atomically


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


def laughs(end: bytes, several: bytes = b"[%s]") -> bytes:
    """A line of YAML that stands for 9 to the 10th, by way of aliases."""
    lines = [b"l0: &l0 {lol: lol}"]
    lines += [b"l%d: &l%d " % (n, n) + several % b", ".join([b"*l%d" % (n - 1)] * 9) for n in range(1, 11)]
    return b"\n".join([*lines, end % b"*l10"])


@pytest.mark.parametrize(
    ("read", "content", "complaint"),
    [
        (read_text, b"he\xff", "a.file: not UTF-8 at byte 2: save the file as UTF-8"),
        (read_json, b'{"a":\n 1,}', "a.file: line 2: broken JSON: "),
        (read_yaml, b"a: [1\nb: 2\n", "a.file: line 2: broken YAML: "),
        (read_yaml, b"a: 1\nb: 2\na: 3\n", "a.file: line 3: broken YAML: 'a' appears twice"),
        (read_yaml, b"x:\n - {b: 1, b: 2}\n", "a.file: line 2: broken YAML: 'b' appears twice"),
        (read_yaml, b"day: 2026-02-31\n", "a.file: broken YAML: day "),
        (read_yaml, b"[" * 30_000, "a.file: line 1: broken YAML: nested too deeply"),
        (read_yaml, b"{a: " * 30_000, "a.file: line 1: broken YAML: nested too deeply"),
        (read_yaml, b"".join(b" " * n + b"a:\n" for n in range(400)), "a.file: line 41: broken YAML: nested too"),
        (read_yaml, laughs(b"a: %s"), "a.file: line 7: broken YAML: too large, with its aliases written out"),
        (read_yaml, laughs(b"%s: a"), "a.file: line 7: broken YAML: too large, with its aliases written out"),
        (read_yaml, laughs(b"a: {<<: %s}", b"{<<: [%s]}"), "a.file: line 7: broken YAML: too large"),
        (read_yaml, b"a: &a\n  b: *a\n", "a.file: line 2: broken YAML: too large, with its aliases written out"),
        (read_yaml, b"a: " + b"7" * 9_000, "a.file: line 1: broken YAML: a number of 9,000 characters"),
        (read_yaml, b"a: 1" + b":1" * 400_000, "a.file: line 1: broken YAML: a number of 800,001 characters"),
        (read_yaml, b"a: 0x" + b"f" * 9_000, "a.file: line 1: broken YAML: a number of 9,002 characters"),
        (read_yaml, b"? [a]\n: 1", "a.file: line 1: broken YAML: no key"),
        (read_yaml, b"a: !!int ''", "a.file: broken YAML: "),
        (read_yaml, b"a: !!bool x", "a.file: broken YAML: "),
        (read_yaml, b"a: !!timestamp x", "a.file: broken YAML: "),
        (read_yaml, b"a: !!float x", "a.file: broken YAML: "),
        (read_yaml, b"a: !!python/object/apply:os.system ['true']", "a.file: line 1: broken YAML: "),
        (read_yaml, b"# " + b"x" * (1 << 24), "a.file: larger than 16 MB: give a smaller file"),
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


def test_aliases_and_nesting_that_a_person_writes_are_read(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("a: &a [x, y]\nb: *a\nc: {<<: &d {e: 1}, f: 2}\ng: " + "[" * 30 + "]" * 30, encoding="utf-8")
    content = read_yaml(path)
    assert content["b"] == content["a"] == ["x", "y"]
    assert content["c"] == {"e": 1, "f": 2}


def test_a_file_without_end_is_not_read_to_it():
    with pytest.raises(BadInput, match="zero: larger than 16 MB"):
        read_yaml(Path("/dev/zero"))


def test_a_home_of_nobody_is_a_path_like_any_other():
    assert at_home("~") == Path.home()
    assert at_home("~nobody-of-this-name/a.vec") == Path("~nobody-of-this-name/a.vec")


HOLD = """
import sys, time
from pathlib import Path
from tiltmeter.files import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_folder_is_written_by_one_run_at_a_time(tmp_path):
    folder = tmp_path / "new"
    other = subprocess.Popen([sys.executable, "-c", HOLD, folder], stdout=subprocess.PIPE, text=True)
    with other:
        try:
            assert other.stdout.readline() == "held\n"
            with pytest.raises(BadInput, match="another run is writing"), locked(folder):
                pass
        finally:
            other.kill()
        other.wait(30)
    (folder / ".left.part").write_bytes(b"half")
    with locked(folder), locked(folder):  # the lock of a process that was killed is gone with it
        assert [path.name for path in folder.iterdir()] == [".lock"]
        with ThreadPoolExecutor() as pool, pytest.raises(BadInput, match="another run is writing"):
            pool.submit(locked(folder).__enter__).result()


def test_a_run_that_comes_to_nothing_leaves_no_folder(tmp_path):
    with pytest.raises(ZeroDivisionError), locked(tmp_path / "new"):
        1 / 0  # noqa: B018
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("content", ["[" * 100_000, '{"a": ' * 100_000, "9" * 5000])
def test_json_that_python_cannot_read_is_one_line(tmp_path, content):
    path = tmp_path / "a.json"
    path.write_text(content)
    with pytest.raises(BadInput, match=r"^a\.json: .*broken JSON"):
        read_json(path)


@pytest.mark.parametrize("name", ["x" * 300, "x/" * 3000, "é" * 200])
def test_a_name_that_no_file_can_have_is_one_line(name):
    with pytest.raises(BadInput, match="longer than any file can be called"):
        at_home(name)


@pytest.mark.parametrize("text", ["*", "[" * 100, "&a [*a]"])
def test_text_that_is_no_yaml_is_refused_under_the_name_it_has(text):
    with pytest.raises(BadInput, match=r"^--option x: "):
        parse_yaml(text, "--option x")
