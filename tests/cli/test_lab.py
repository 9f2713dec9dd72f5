"""The commands of the lab: what their options become before anything is measured."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Run


def test_every_command_of_the_lab_has_an_example(run: Run) -> None:
    for command in ("context-length", "stability", "calibrate", "inject"):
        done = run("lab", command, "--help")
        assert done.code == 0
        assert f"tiltmeter lab {command}" in " ".join(done.stdout.replace("│", " ").split())


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            ["context-length", "static:v.vec", "--mined", "m", "--layers", "1,2"],
            "static:v.vec has no layers to choose from: leave --layers out, or give an hf: model",
        ),
        (
            ["context-length", "hf:x?layer=3", "--mined", "m", "--layers", "1"],
            "hf:x?layer=3 names a layer of its own: leave it out, or leave --layers out",
        ),
        (["context-length", "hf:x", "--mined", "m", "--layers", "two"], "option layer of 'hf:x?layer=two' must be"),
        (["context-length", "hf:x"], "give either a text to mine with --corpus, or a folder of tiltmeter mine"),
        (["context-length", "hf:x", "--corpus", "a.txt", "--mined", "m"], "give either a text to mine with --corpus"),
        (["context-length", "hf:x", "--corpus", "a.txt"], "say which words to mine: --lexicon with two groups"),
        (["inject", "--model", "hf:x", "--doses", ".5,much"], "doses must be numbers with commas between"),
    ],
)
def test_options_that_do_not_fit_are_one_line(
    arguments: list[str], says: str, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("lab", *arguments).complaint.startswith(says)
    assert list(tmp_path.iterdir()) == []
