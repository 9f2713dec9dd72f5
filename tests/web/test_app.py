"""The application as a whole: errors are one line, and it serves until it is stopped."""

from __future__ import annotations

import contextlib
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from tests.web.conftest import client_of
from tiltmeter.readings import ReadingStore
from tiltmeter.web.security import DashboardSettings


def test_a_bug_is_one_line_and_no_traceback(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("the secret of the bug")

    monkeypatch.setattr("tiltmeter.web.shelf.Shelf.look", broken)
    for address in ("/", "/api/audits"):
        answer = client.get(address)
        assert answer.status_code == 500
        assert "secret" not in answer.text
        assert "Traceback" not in answer.text
        assert "content-security-policy" in answer.headers


def test_an_error_does_not_tell_where_the_folder_lies(folder: Path) -> None:
    (folder / "first" / ReadingStore.MANIFEST).write_text("{", encoding="utf-8")
    with client_of(DashboardSettings(folder)) as client:
        (note,) = client.get("/api/audits").json()["notes"]
    assert str(folder) not in note
    assert note.startswith("first: first/audit.json cannot be read")


def test_an_address_or_a_number_out_of_all_measure_is_refused(client: TestClient) -> None:
    assert client.get("/?q=" + "x" * 20_000).status_code == 414
    assert client.get("/?q=" + "x" * 600).status_code == 422
    assert client.get("/?part=-1").status_code == 422
    assert client.get("/?part=999999&view=list").status_code == 200
    assert client.post("/api/jobs", content=b"{").status_code == 422
    assert client.post("/api/jobs", json={"name": "x", "models": [], "extra": 1}).json()["error"].startswith("extra")


def test_it_serves_until_it_is_stopped_and_never_prints_its_token(folder: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = "a-long-enough-token"
    serve = "import sys; from tiltmeter.cli.results import app; app(['serve', *sys.argv[1:]])"
    options = ["--port", str(port), "--token", token]
    process = subprocess.Popen(
        [sys.executable, "-c", serve, str(folder), *options], stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )
    page = b""
    for _ in range(600):
        with contextlib.suppress(OSError):
            asked = urllib.request.Request(f"http://127.0.0.1:{port}/", headers={"Authorization": f"Bearer {token}"})
            with urllib.request.urlopen(asked, timeout=60) as answer:
                page = answer.read()
            break
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=30)
    assert b"own:tilted" in page
    assert f"http://127.0.0.1:{port}/" in said
    assert token not in said
    assert "Traceback" not in said
