"""A short run of the seeded fuzz command; benchmarks/fuzz.py makes the long one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def test_bad_inputs_of_every_kind_end_in_one_clear_line() -> None:
    root = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, root / "benchmarks/fuzz.py", "--inputs", "140", "--seed", "7"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert "140 inputs of 20 kinds" in done.stdout, done.stderr[-2000:]
    assert done.returncode == 0, done.stdout[-5000:]
