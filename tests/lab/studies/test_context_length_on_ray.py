"""The context-length study on a Ray cluster: the same texts found, the same readings, file by file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import environment, tiltmeter
from tests.mined_folder import GROUPS

pytest.importorskip("ray", reason="extra ray is not installed")


def corpus(path: Path) -> Path:
    """Every word in twelve sentences of more than nine words."""
    words = [word for group in GROUPS.values() for word in group]
    lines = [
        f"Somebody here spoke of number {number}, the {word} number {number}, again, and nobody answered."
        for word in words
        for number in range(12)
    ]
    path.write_text("\n".join(lines))
    return path


def test_a_cluster_gives_the_same_readings_as_one_process(tmp_path: Path) -> None:
    text = corpus(tmp_path / "text.txt")
    found = {}
    for engine in ("local", "ray"):
        ran = tiltmeter(
            "lab", "context-length", "bundled:minilm", "--corpus", text, "--lexicon", ",".join(GROUPS),
            "--lengths", "5,9", "--engine", engine, "--workers", "2", "--out", tmp_path / engine,
            env=environment(tmp_path / f"cache-{engine}"), fresh=True, timeout=300,
        )  # fmt: skip
        assert ran.code == 0, ran.stderr[-2000:]
        written = [*(tmp_path / engine / "readings").iterdir(), *(tmp_path / engine / "mined").iterdir()]
        found[engine] = {path.name: path.read_bytes() for path in written}
    assert len(found["local"]) > 4
    assert found["local"].keys() == found["ray"].keys()
    assert [name for name, content in found["local"].items() if content != found["ray"][name]] == []
