"""The command that opens the dashboard, where it cannot."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.web.planted_audits import write_audit
from tiltmeter.cli import results
from tiltmeter.errors import BadInput, MissingExtra


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_audit(tmp_path / "first")
    return tmp_path


def test_without_the_extra_one_line_says_what_to_install(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "find_spec", lambda _: None)
    with pytest.raises(MissingExtra, match=r"tiltmeter\[web\]"):
        results.serve(folder)


def test_a_port_that_is_taken_is_said(folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(BadInput, match="choose another with --port"):
            results.serve(folder, port=taken.getsockname()[1])


def test_a_paid_model_needs_the_users_word(folder: Path) -> None:
    with pytest.raises(BadInput, match="--allow-paid"):
        results.serve(folder, model=["openai:text-embedding-3-small"])
