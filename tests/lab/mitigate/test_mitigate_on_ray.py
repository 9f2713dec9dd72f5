"""`tiltmeter mitigate` on a Ray cluster writes what it writes on one machine, byte for byte but for the times."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command import environment, tiltmeter

pytest.importorskip("ray", reason="extra ray is not installed")
pytest.importorskip("torch")

from tests.models.tiny_language_models import save_tiny

SUITE = """
name: mine
description: career
probes:
  - {probe: seat, targets: [gender.male_terms, gender.female_terms], attributes: [attributes.career, attributes.family]}
"""


def _without_times(content: Any, place: str) -> Any:
    """A result without its times, and without where it stands."""
    if isinstance(content, dict):
        times = ("seconds", "started", "finished")
        return {key: _without_times(value, place) for key, value in content.items() if key not in times}
    if isinstance(content, list):
        return [_without_times(value, place) for value in content]
    return content.replace(place, "OUT") if isinstance(content, str) else content


def test_a_cluster_writes_the_same_results(tmp_path: Path) -> None:
    (suite := tmp_path / "mine.yaml").write_text(SUITE, encoding="utf-8")
    model = f"hf:{save_tiny('bert', tmp_path / 'bert')}?device=cpu&pooling=mean"
    written: dict[str, dict[str, Any]] = {}
    for engine in ("local", "ray"):
        out = tmp_path / engine
        ran = tiltmeter(
            "mitigate", model, "--method", "sentence_debias,leace", "--suite", suite, "--permutations", "200",
            "--engine", engine, *(["--workers", "2"] if engine == "ray" else []), "--out", out,
            env=environment(tmp_path / f"cache-{engine}"), fresh=True, timeout=500,
        )  # fmt: skip
        assert ran.code == 0, ran.stderr[-2000:]
        files = {file.relative_to(out).as_posix(): file for file in out.rglob("*") if file.is_file()}
        written[engine] = {
            name: _without_times(json.loads(file.read_text()), str(out))
            if file.suffix == ".json"
            else file.read_bytes()
            for name, file in files.items()
            if file.suffix != ".html"  # which holds the times
        }
    assert written["local"].keys() == written["ray"].keys()
    assert len(written["local"]) > 10
    assert [name for name, content in written["local"].items() if content != written["ray"][name]] == []
