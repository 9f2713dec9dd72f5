"""Planted vectors, an audit of them, and the command in this process."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.command import Outcome, environment, tiltmeter
from tests.planted import CAREER_FAMILY, TERMS, words
from tiltmeter.cli.app import main

LEANS = dict(zip([*TERMS, *CAREER_FAMILY], [0.3, -0.3, 0.8, -0.8], strict=True))


@pytest.fixture(scope="session")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Word vectors in a text file, as users have them."""
    path = tmp_path_factory.mktemp("vectors") / "planted.vec"
    rows = [f"{word} {' '.join(str(number) for number in vector)}" for word, vector in words(LEANS).items()]
    path.write_text("\n".join([f"{len(rows)} 32", *rows]) + "\n", encoding="utf-8")
    return path


@pytest.fixture(scope="session")
def env(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return environment(tmp_path_factory.mktemp("cache"))


@pytest.fixture(scope="session")
def audited(vectors: Path, env: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> tuple[Outcome, Path]:
    folder = tmp_path_factory.mktemp("work")
    suite = folder / "mine.yaml"
    suite.write_text(
        "description: mine\nprobes:\n  - {id: career, probe: weat, title: 'Gender [and] career'}\n"
        "  - {id: near, probe: rnd}\n  - {id: sentences, probe: seat}\n",
        encoding="utf-8",
    )
    out = folder / "results"
    done = tiltmeter(
        "audit", f"static:{vectors}", "--suite", suite, "--out", out, env={**env, "COLUMNS": "100"}, fresh=True
    )
    assert done.code == 0, done.stderr
    return done, out


class Run:
    """The command in this process, which is quicker than in one of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def __call__(self, *arguments: str | Path) -> Outcome:
        self._monkeypatch.setattr(sys, "argv", ["tiltmeter", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        said = self._capsys.readouterr()
        return Outcome(int(end.value.code or 0), said.out, said.err)


@pytest.fixture
def run(env: dict[str, str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.setenv("TILTMETER_CACHE", env["TILTMETER_CACHE"])
    monkeypatch.delenv("COLUMNS", raising=False)
    return Run(monkeypatch, capsys)
