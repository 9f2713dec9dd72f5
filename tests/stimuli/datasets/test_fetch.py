"""Data sets fetched from a server on loopback: resumed, checked, whole or not at all."""

from __future__ import annotations

import functools
import http.server
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.command import environment, tiltmeter
from tiltmeter import audit
from tiltmeter.errors import BadInput, DataMissing
from tiltmeter.run.suite import load_suite
from tiltmeter.stimuli.datasets import find, status
from tiltmeter.stimuli.datasets.catalogue import catalogue, fetched_folder
from tiltmeter.stimuli.datasets.fetch import _address, fetch

PAIRS = "crows_pairs/crows_pairs_anonymized.csv"


class Archive:
    """A server of a data folder that knows ranges, and can break off, lie or refuse."""

    def __init__(self, folder: Path) -> None:
        self.break_after: int | None = None
        self.ranges = True
        self.changed = b""
        self.status = 200
        self.asked: list[tuple[str, str | None]] = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                wanted = self.headers.get("Range")
                outer.asked.append((self.path, wanted))
                if outer.status != 200:
                    self.send_error(outer.status)
                    return
                content = (folder / self.path.lstrip("/")).read_bytes() + outer.changed
                start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and outer.ranges else 0
                if start >= len(content):
                    self.send_error(416)
                    return
                self.send_response(206 if start else 200)
                self.send_header("Content-Length", str(len(content) - start))
                self.end_headers()
                until = len(content) if outer.break_after is None else start + outer.break_after
                self.wfile.write(content[start:until])

            def log_message(self, *_: object) -> None:
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}"


@pytest.fixture(autouse=True)
def archive(data, tmp_path, monkeypatch) -> Iterator[Archive]:
    one = Archive(data("crows_pairs").parent)
    monkeypatch.setenv("TILTMETER_MIRROR", one.address)
    monkeypatch.setenv("TILTMETER_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("TILTMETER_DATA")
    yield one
    one.server.shutdown()
    one.server.server_close()


def left() -> list[str]:
    folder = fetched_folder()
    return sorted(
        path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file() and path.name != ".lock"
    )


def test_a_set_that_was_fetched_is_found_and_not_fetched_again(archive):
    assert find_state("crows_pairs") == "missing"
    path = fetch("crows_pairs")
    assert path == find("crows_pairs") == fetched_folder() / PAIRS
    assert find_state("crows_pairs") == "found"
    assert left() == [PAIRS]
    assert fetch("crows_pairs") == path
    assert len(archive.asked) == 1


def find_state(name: str) -> str:
    return next(row["state"] for row in status() if row["name"] == name)


def test_a_set_of_several_files_is_there_whole():
    fetch("winogender")
    assert left() == ["winogender/all_sentences.tsv", "winogender/occupations-stats.tsv"]
    assert find_state("winogender") == "found"


def test_a_folder_of_the_users_own_goes_first(tmp_path, monkeypatch):
    fetch("crows_pairs")
    own = tmp_path / "own" / PAIRS
    own.parent.mkdir(parents=True)
    own.write_text("mine")
    monkeypatch.setenv("TILTMETER_DATA", str(tmp_path / "own"))
    assert find("crows_pairs") == own


def test_a_connection_that_breaks_is_resumed_where_it_broke(archive):
    archive.break_after = 100_000
    fetch("crows_pairs")
    starts = [int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0 for _, wanted in archive.asked]
    assert starts == [0, 100_000, 200_000, 300_000, 400_000]
    assert find_state("crows_pairs") == "found"


def test_a_run_that_gave_up_is_resumed_by_the_next(archive):
    archive.break_after = 150_000
    real, calls = archive.server.RequestHandlerClass.do_GET, []

    def at_most_twice(handler):
        calls.append(1)
        if len(calls) > 2:
            handler.connection.close()
            return
        real(handler)

    archive.server.RequestHandlerClass.do_GET = at_most_twice
    with pytest.raises(BadInput, match=r"broke off after 300,000 bytes .*run the same command again, it resumes there"):
        fetch("crows_pairs")
    assert find_state("crows_pairs") == "missing"
    archive.server.RequestHandlerClass.do_GET = real
    archive.asked.clear()
    fetch("crows_pairs")
    assert archive.asked[0] == (f"/{PAIRS}", "bytes=300000-")
    assert left() == [PAIRS]


def test_a_server_without_ranges_is_read_from_the_beginning(archive):
    part = fetched_folder() / ".fetching-crows_pairs" / "crows_pairs_anonymized.csv.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(b"x" * 1000)
    archive.ranges = False
    fetch("crows_pairs")
    assert find_state("crows_pairs") == "found"


def test_a_wrong_checksum_is_refused_and_nothing_is_kept(monkeypatch):
    entry = catalogue()["winogender"]
    monkeypatch.setitem(entry.files, "occupations-stats.tsv", "0" * 64)
    with pytest.raises(
        BadInput, match=r"occupations-stats.tsv is not the file that the catalogue knows .*nothing was kept"
    ):
        fetch("winogender")
    assert left() == []
    assert find_state("winogender") == "missing"


def test_a_file_that_is_larger_than_it_should_be_is_not_kept(archive):
    archive.changed = b"x" * 100_000
    with pytest.raises(BadInput, match="is larger than the 437,764 bytes that the data set has: not kept"):
        fetch("crows_pairs")
    assert left() == []


@pytest.mark.parametrize("status_code", [404, 500])
def test_a_refusal_of_the_server_is_one_line(archive, status_code):
    archive.status = status_code
    with pytest.raises(BadInput, match=f"answers {status_code} .*: fetch it by hand"):
        fetch("crows_pairs")


def test_an_address_that_is_none_of_the_web_is_not_read(monkeypatch):
    monkeypatch.setenv("TILTMETER_MIRROR", "file:///etc")
    with pytest.raises(BadInput, match="is not a web address"):
        fetch("crows_pairs")


def test_every_address_of_the_catalogue_names_each_file_by_https(monkeypatch):
    monkeypatch.delenv("TILTMETER_MIRROR", raising=False)
    for entry in catalogue().values():
        if entry.fetch:
            addresses = {_address(entry, file) for file in entry.files}
            assert len(addresses) == len(entry.files)
            assert all(address.startswith("https://") and " " not in address for address in addresses)
            assert set(entry.renamed) <= set(entry.files)


def test_the_licence_is_shown_and_must_be_accepted(archive, tmp_path):
    run = functools.partial(tiltmeter, env=environment(tmp_path / "cache"))
    refused = run("data", "fetch", "crows_pairs")
    assert refused.code == 2
    assert "licence: CC BY-SA 4.0" in refused.stderr
    assert "0.4 MB" in refused.stderr
    assert "must be accepted, with --yes" in refused.stderr
    assert archive.asked == []
    done = run("data", "fetch", "crows_pairs", "--yes")
    assert done.code == 0, done.stderr
    assert done.stdout.strip().endswith(PAIRS)
    assert "did you mean 'crows_pairs'" in run("data", "fetch", "crow_pairs", "--yes").complaint


def test_a_suite_runs_on_the_sets_that_are_here_and_names_the_others():
    with pytest.raises(
        DataMissing, match=r"language.yaml: data set 'crows_pairs' is not installed: tiltmeter data fetch"
    ):
        load_suite("language")
    fetch("winogender")
    suite = load_suite("language")
    assert {probe.id for probe in suite.probes} == {"winogender"}
    assert set(suite.absent) == {"crows-pairs", "stereoset", "winobias", "genderlex"}
    assert "tiltmeter data fetch stereoset" in suite.absent["stereoset"]


def test_an_audit_lists_what_its_suite_could_not_read():
    entry = {
        "id": "there",
        "probe": "weat",
        "targets": [["a", "b"], ["c", "d"]],
        "attributes": [["e", "f"], ["g", "h"]],
    }
    missing = {"id": "pairs", "probe": "pairs", "data": "crows_pairs"}
    words = {word: [float(n), 1.0] for n, word in enumerate("abcdefgh")}
    found = audit([words], suite={"name": "mine", "probes": [entry, missing]}, cache=False)
    assert [(each.probe, "tiltmeter data fetch crows_pairs" in each.reason) for each in found.skipped] == [
        ("pairs", True)
    ]
