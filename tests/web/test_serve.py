"""The command that opens the dashboard, in a process of its own and where it cannot."""

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

from tiltmeter.cli import serve as cli_serve
from tiltmeter.errors import BadInput, MissingExtra


def test_without_the_extra_one_line_says_what_to_install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli_serve, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"tiltmeter\[web\]"):
        cli_serve.serve(folder)


def test_a_port_that_is_taken_is_said(folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(BadInput, match="choose another with --port"):
            cli_serve.serve(folder, port=taken.getsockname()[1])


def test_a_paid_model_needs_the_users_word(folder: Path) -> None:
    with pytest.raises(BadInput, match="--allow-paid"):
        cli_serve.serve(folder, model=["openai:text-embedding-3-small"])


def test_it_serves_until_it_is_stopped_and_never_prints_its_token(folder: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = "a-long-enough-token"
    serve = "import sys; from tiltmeter.cli.serve import app; app(sys.argv[1:])"
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
