"""The dashboard of a large audit: its first page and its memory, for 50 models x 40 probes. Run: python
benchmarks/dashboard.py"""

from __future__ import annotations

import contextlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from report import MODELS, PROBES, generate
from row import Row, show

#: What the first page may take, and the server with it.
MOST_SECONDS, MOST_MEGABYTES = 0.3, 500.0
_SERVE = "import sys; from tiltmeter.cli.results import app; app(['serve', *sys.argv[1:]])"
_ROUNDS = 20


def bench() -> list[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "audit"
        generate(folder)
        with serving(folder) as (address, process):
            first = seconds(address)
            usual = statistics.median(seconds(address) for _ in range(_ROUNDS))
            listed = statistics.median(seconds(f"{address}?view=list&sort=-strength") for _ in range(_ROUNDS))
            # What an audit costs that is written while people read.
            generate(folder)
            again = seconds(address)
            megabytes = peak(process.pid)
    what = f"overview of {MODELS} models x {PROBES} probes"
    rows = ((what, first), (f"{what}, again", usual), (f"{what}, as a list", listed), (f"{what}, rewritten", again))
    return [
        *(Row(name, f"{1000 * took:.0f} ms", target="< 300 ms", met=took < MOST_SECONDS) for name, took in rows),
        Row(f"{what}, peak memory", f"{megabytes:.0f} MB", target="< 500 MB", met=megabytes < MOST_MEGABYTES),
    ]


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """A dashboard in a process of its own, ready to answer."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen([sys.executable, "-c", _SERVE, str(folder), "--port", str(port)])
    address = f"http://127.0.0.1:{port}/"
    try:
        for _ in range(600):
            with contextlib.suppress(OSError):
                urllib.request.urlopen(f"{address}static/icon.svg", timeout=60).close()
                break
            time.sleep(0.1)
        yield address, process
    finally:
        process.terminate()
        process.wait()


def seconds(address: str) -> float:
    started = time.perf_counter()
    with urllib.request.urlopen(address) as answer:
        answer.read()
    return time.perf_counter() - started


def peak(pid: int) -> float:
    """Megabytes that a process has held at most."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


if __name__ == "__main__":
    show(bench())
