"""An audit on a Ray cluster gives what one machine gives, whoever dies on the way."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

pytest.importorskip("ray", reason="extra ray is not installed")
pytest.importorskip("torch")

from tests.models.tiny_language_models import save_tiny

#: Ray wants a process of its own: it changes signals, and leaves threads behind.
SCRIPT = textwrap.dedent(
    """
    import signal, sys, threading, time
    from tiltmeter import audit
    from tiltmeter.cli.output import on_engine
    engine, out, kill, *models = sys.argv[1:]

    def kill_one():
        import psutil
        for _ in range(3000):
            hosts = [process for process in psutil.Process().children(recursive=True)
                     if "ray::_Host.parts" in " ".join(process.as_dict(["cmdline"])["cmdline"] or ())]
            if hosts:
                hosts[0].send_signal(signal.SIGKILL)
                print("killed", flush=True)
                return
            time.sleep(0.005)

    with on_engine(engine, None, 2 if engine == "ray" else None):
        if kill == "kill":
            threading.Thread(target=kill_one, daemon=True).start()
        made = audit(models, suite="default", out=out, permutations=500)
    for each in made.skipped:
        if each.failed:
            print("failed", each.model, each.probe, each.reason)
    print("asked", made.asked, "recalled", made.recalled, "readings", len(made.readings), flush=True)
    """
)


def _audited(tmp_path: Path, name: str, engine: str, kill: str, models: list[str]) -> tuple[str, Path]:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    ran = subprocess.run(
        [sys.executable, script, engine, tmp_path / name, kill, *models],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={**os.environ, "TILTMETER_CACHE": str(tmp_path / f"cache-{name}")},
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    return ran.stdout, tmp_path / name


def _stored(cache: Path) -> list[tuple]:
    with sqlite3.connect(cache / "vectors.sqlite") as db:
        columns = "identity, question, input, vector, checksum"
        return sorted(db.execute(f"SELECT {columns} FROM vectors JOIN models ON models.id = vectors.model").fetchall())


def test_readings_and_stored_answers_are_those_of_one_machine_even_where_a_worker_is_killed(tmp_path):
    models = [f"hf:{save_tiny(family, tmp_path / family)}?device=cpu" for family in ("bert", "gpt2", "llama")]
    models.append("reference:vectors-0.9")
    said, here = _audited(tmp_path, "here", "local", "-", models)
    told, there = _audited(tmp_path, "there", "ray", "kill", models)
    assert "killed" in told
    assert told.splitlines()[-1] == said.splitlines()[-1]
    files = sorted(file.relative_to(here) for file in here.rglob("*") if file.is_file())
    assert files == sorted(file.relative_to(there) for file in there.rglob("*") if file.is_file())
    assert len(files) > 20
    for file in files:
        if file.name != "audit.json":  # which holds the times
            assert (here / file).read_bytes() == (there / file).read_bytes(), file
    assert _stored(tmp_path / "cache-here") == _stored(tmp_path / "cache-there")
