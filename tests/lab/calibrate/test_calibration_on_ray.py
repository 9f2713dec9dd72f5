"""Calibration on a Ray cluster: models trained and read there give the files of one machine, byte for byte."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="extra ray is not installed")
pytest.importorskip("torch")

#: Ray wants a process of its own: it changes signals, and leaves threads behind.
SCRIPT = textwrap.dedent(
    """
    import sys
    from tests.lab.calibrate.test_calibration import SETTINGS
    from tiltmeter.cli.output import on_engine
    from tiltmeter.lab.calibrate.calibration import calibrate, save
    from tiltmeter.lab.reference import reference
    from tiltmeter.models import VectorStore
    engine, out = sys.argv[1:]
    reference.usable_cpus = lambda: 1
    with VectorStore() as store, on_engine(engine, None, 2 if engine == "ray" else None):
        save(calibrate(SETTINGS, store=store, progress=False), out)
    """
)


def _calibrated(tmp_path: Path, engine: str) -> dict[str, bytes]:
    script, out, cache = tmp_path / "script.py", tmp_path / engine, tmp_path / f"cache-{engine}"
    script.write_text(SCRIPT)
    root = str(Path(__file__).parents[3])
    path = os.pathsep.join(filter(None, (root, os.environ.get("PYTHONPATH"))))
    ran = subprocess.run(
        [sys.executable, script, engine, out], capture_output=True, text=True, timeout=600, check=False,
        env={**os.environ, "PYTHONPATH": path, "TILTMETER_CACHE": str(cache), "OMP_NUM_THREADS": "1"},
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr[-3000:]
    weights = {f"weights {file.parent.name}": file.read_bytes() for file in cache.rglob("model.safetensors")}
    written = {str(file.relative_to(out)): file.read_bytes() for file in out.rglob("*") if file.is_file()}
    return weights | written


def test_a_calibration_on_a_cluster_is_that_of_one_machine(tmp_path: Path) -> None:
    here, there = _calibrated(tmp_path, "local"), _calibrated(tmp_path, "ray")
    assert here.keys() == there.keys()
    assert sum(name.startswith("weights ") for name in here) >= 12
    assert sum(name.startswith("readings") for name in here) > 20
    assert [name for name in here if name != "audit.json" and here[name] != there[name]] == []
