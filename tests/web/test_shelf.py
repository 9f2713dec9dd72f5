"""The folder as it changes: read again when an audit has written, and never broken while it writes."""

from __future__ import annotations

import json
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.web.conftest import client_of
from tests.web.planted_audits import EFFECTS, reading, write_audit
from tiltmeter.web.security import DashboardSettings
from tiltmeter.web.shelf import Shelf


def until(true: Callable[[], bool], seconds: float = 20.0) -> bool:
    """Whether something becomes true in time."""
    end = time.monotonic() + seconds
    while not true() and time.monotonic() < end:
        time.sleep(0.02)
    return true()


def test_a_new_audit_is_there_with_the_next_page(folder: Path, client: TestClient) -> None:
    assert "own:new" not in client.get("/").text
    write_audit(folder / "second", [reading("own:new", "career", 0.3)])
    assert "own:new" in client.get("/").text


def test_an_audit_that_was_written_again_is_read_again(folder: Path) -> None:
    shelf = Shelf(folder)
    assert len(shelf.look().audits[0].entries) == 4
    write_audit(folder / "first", [reading("own:again", "career", 0.3)])
    assert until(lambda: [e.reading.model for e in shelf.look().entries] == ["own:again"])


def test_what_has_not_changed_is_not_read_again(folder: Path) -> None:
    shelf = Shelf(folder)
    before = list(shelf.look().entries)
    assert all(one is two for one, two in zip(before, shelf.look().entries, strict=True))


def test_a_reading_that_is_missing_is_left_out_with_a_note(folder: Path) -> None:
    first = next((folder / "first" / "readings").glob("*.json"))
    first.unlink()
    shown = Shelf(folder).look()
    assert len(list(shown.entries)) == 3
    assert shown.notes == (f"first: the reading '{first.stem}' is missing or damaged and not shown",)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"schema_version": 99}', '{"schema_version": 1}', "null"])
def test_a_damaged_manifest_is_a_note_and_the_others_are_shown(folder: Path, content: str) -> None:
    write_audit(folder / "second")
    (folder / "first" / "audit.json").write_text(content, encoding="utf-8")
    with client_of(DashboardSettings(folder)) as client:
        page = client.get("/")
    assert page.status_code == 200
    assert "4 readings" in page.text
    assert "<li>first: " in page.text


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b'{"schema_version": 1}'])
def test_a_damaged_reading_is_a_note_too(folder: Path, content: bytes) -> None:
    next((folder / "first" / "readings").glob("*.json")).write_bytes(content)
    assert len(list(Shelf(folder).look().entries)) == 3


def test_items_that_cannot_be_read_are_one_line(folder: Path, client: TestClient) -> None:
    file = client.get("/api/readings").json()[0]["file"]
    (folder / "first" / "readings" / f"{file}.items").write_bytes(b"no items")
    answer = client.get(f"/audits/first/readings/{file}")
    assert answer.status_code == 404
    assert "reload in a moment" in answer.text


def test_an_audit_that_has_not_finished_is_named(folder: Path) -> None:
    (folder / "running" / "readings").mkdir(parents=True)
    assert Shelf(folder).look().notes == ("running is not finished: no audit.json is there yet",)


def test_a_folder_that_is_gone_is_a_note_on_the_page(folder: Path, client: TestClient) -> None:
    shutil.rmtree(folder)
    page = client.get("/")
    assert page.status_code == 200
    assert "the folder cannot be listed now" in page.text


def test_a_folder_that_may_not_be_looked_into_is_passed_over(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_audit(folder / "secret")
    is_file = Path.is_file

    def refused(path: Path) -> bool:
        if path.parent.name == "secret":
            raise PermissionError(13, "Permission denied", str(path))
        return is_file(path)

    monkeypatch.setattr(Path, "is_file", refused)
    assert [each.name for each in Shelf(folder).look().audits] == ["first"]


def test_two_readers_see_no_broken_page_while_an_audit_writes(folder: Path) -> None:
    stop = threading.Event()
    broken: list[str] = []
    seen: set[int] = set()

    def write() -> None:
        n = 0
        while not stop.is_set():
            n += 1
            kept = [reading(m, id, v) for m, own in EFFECTS.items() for id, v in own.items()]
            write_audit(folder / "first", [*kept, *(reading("own:more", f"p{i}", 0.1) for i in range(n % 5))])

    def read(client: TestClient) -> None:
        while not stop.is_set():
            page = client.get("/")
            rows = client.get("/api/readings").json()
            seen.add(len(rows))
            if page.status_code != 200 or len(rows) < 4 or "</html>" not in page.text:
                broken.append(f"{page.status_code} {len(rows)} {page.text[-800:]}")
            one = client.get(f"/audits/first/readings/{rows[0]['file']}")
            # The first four are in every version of the audit.
            if one.status_code != 200:
                broken.append(one.text)

    with client_of(DashboardSettings(folder)) as first, client_of(DashboardSettings(folder)) as second:
        threads = [threading.Thread(target=write), *(threading.Thread(target=read, args=(c,)) for c in (first, second))]
        for thread in threads:
            thread.start()
        time.sleep(3)
        stop.set()
        for thread in threads:
            thread.join()
    assert broken == []
    assert len(seen) > 1  # the readers did see it change


def test_what_is_stored_is_not_changed_by_reading(folder: Path, client: TestClient) -> None:
    before = {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}
    for address in ("/", "/audits/first", "/compare", "/explore", "/jobs", "/audits/first/download/html"):
        client.get(address)
    assert {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()} == before
    assert json.loads((folder / "first" / "audit.json").read_text(encoding="utf-8"))["suite"] == "planted"


@pytest.mark.parametrize(
    ("field", "value"),
    [("effect", {"value": None}), ("effect", []), ("details", [1]), ("model", 7), ("poles", {}), ("provenance", "x")],
)
def test_one_damaged_reading_is_noted_and_the_others_are_shown(folder: Path, field: str, value: object) -> None:
    damaged = sorted((folder / "first" / "readings").glob("*.json"))[0]
    damaged.write_text(json.dumps({**json.loads(damaged.read_text()), field: value}))
    write_audit(folder / "second", [reading("own:new", "career", 0.3)])
    with client_of(DashboardSettings(folder)) as client:
        found = client.get("/api/audits").json()
        pages = [client.get(path).status_code for path in ("/", "/audits/first", "/audits/second", "/api/readings")]
    assert [each["readings"] for each in found["audits"]] == [3, 1]
    assert found["notes"] == [f"first: the reading '{damaged.stem}' is missing or damaged and not shown"]
    assert pages == [200] * 4


def test_a_reading_nested_without_end_is_noted(folder: Path) -> None:
    damaged = sorted((folder / "first" / "readings").glob("*.json"))[0]
    damaged.write_text('{"a":' * 100_000)
    assert len(Shelf(folder).look().notes) == 1


@pytest.mark.parametrize("manifest", ['{"schema_version": 2, "readings": 3}', "[]", "[" * 100_000])
def test_a_damaged_manifest_is_noted_and_other_audits_are_shown(folder: Path, manifest: str) -> None:
    write_audit(folder / "second", [reading("own:new", "career", 0.3)])
    (folder / "first" / "audit.json").write_text(manifest)
    shown = Shelf(folder).look()
    assert [stored.name for stored in shown.audits] == ["second"]
    assert len(shown.notes) == 1
