"""The process of an audit: what it is told, what it tells, and how it ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.web.planted_audits import tiny_suite

_FAULTY = (
    "import tiltmeter.run.audit as run; run.audit = {instead}; from tiltmeter.web.worker import main; exit(main())"
)


def run(order: dict[str, Any], instead: str = "") -> tuple[int, list[dict[str, Any]], str]:
    """Exit code, steps, and what stands on standard error; ``instead`` is run in place of the audit."""
    command = ["-c", _FAULTY.format(instead=instead)] if instead else ["-m", "tiltmeter.web.worker"]
    done = subprocess.run([sys.executable, *command], input=json.dumps(order), capture_output=True, text=True)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


@pytest.fixture
def order(tmp_path: Path, spec: str) -> dict[str, Any]:
    suite = str(tmp_path / tiny_suite(tmp_path))
    return {"models": [spec], "suite": suite, "out": str(tmp_path / "out"), "budget": "0 requests, 0 tokens"}


def test_every_line_is_a_step_and_the_last_says_how_it_ended(order: dict[str, Any]) -> None:
    code, steps, _ = run(order)
    assert code == 0
    assert {tuple(step) for step in steps} == {("phase", "model", "probe", "done", "total", "message")}
    assert (steps[0]["phase"], steps[-1]["phase"]) == ("model", "finished")
    assert (Path(order["out"]) / "audit.html").is_file()


@pytest.mark.parametrize(
    ("instead", "code", "message"),
    [
        ("lambda *_, **__: print('what a library prints') or {}['missing']", 70, "a fault in tiltmeter"),
        ("lambda *_, **__: open('/no/such/folder/file')", 2, "No such file or directory"),
        ("lambda *_, **__: __import__('os').kill(__import__('os').getpid(), 15)", 130, ""),
    ],
)
def test_whatever_goes_wrong_ends_in_one_step(order: dict[str, Any], instead: str, code: int, message: str) -> None:
    found, steps, printed = run(order, instead)
    assert found == code
    assert [step["phase"] for step in steps] == (["error"] if message else [])
    assert all(message in step["message"] for step in steps)
    assert ("Traceback" in printed) == (code == 70)


def test_an_order_that_cannot_be_carried_out_says_why(order: dict[str, Any]) -> None:
    code, steps, _ = run({**order, "models": ["hug:bert"]})
    assert code == 2
    assert steps[-1]["phase"] == "error"
    assert "unknown kind of model 'hug'" in steps[-1]["message"]
