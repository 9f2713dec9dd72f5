"""Audits started from the dashboard: each a process of its own, watched through what it prints."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tiltmeter.errors import BadInput, without_passwords
from tiltmeter.readings import ReadingStore
from tiltmeter.web.shelf import NotHere

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
#: Colours, cursors and the like, which a terminal would understand.
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\x1b.")
_DONE_OF = re.compile(r"(\d[\d,]*)/(\d[\d,]*)")
_RUN = "from tiltmeter.cli.app import main; main()"
_LINES, _WAIT = 40, 5.0


class Busy(BadInput):
    """An audit is running, and the machine is not large enough for two."""


@dataclasses.dataclass(slots=True)
class Job:
    """One audit. ``state`` is running, finished, failed or cancelled; ``done`` of ``total`` is about the step now."""

    id: str
    name: str
    models: tuple[str, ...]
    suite: str
    folder: Path
    process: subprocess.Popen[bytes]
    started: float
    state: str = "running"
    step: str = "starting"
    done: int = 0
    total: int = 0
    lines: deque[str] = dataclasses.field(default_factory=lambda: deque(maxlen=_LINES))
    seconds: float = 0.0

    @property
    def command(self) -> str:
        """The same audit on the command line."""
        return shlex.join(["tiltmeter", "audit", *self.models, "--suite", self.suite, "--out", self.name])

    def to_dict(self) -> dict[str, Any]:
        spent = self.seconds or time.monotonic() - self.started
        values = {name: getattr(self, name) for name in ("id", "name", "suite", "state", "step", "done", "total")}
        return {**values, "models": list(self.models), "seconds": round(spent, 1), "lines": list(self.lines)}


class Jobs:
    """The audits started since the dashboard was."""

    def __init__(self, folder: Path, *, allow_paid: bool = False) -> None:
        self._folder = folder
        # A suite in the folder may name a paid model too, for its word vectors.
        self._budget = () if allow_paid else ("--budget", "0 requests, 0 tokens")
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def all(self) -> list[Job]:
        return list(reversed(self._jobs.values()))

    def job(self, id: str) -> Job:
        if id not in self._jobs:
            raise NotHere("there is no such audit among those started here")
        return self._jobs[id]

    def start(self, name: str, models: Sequence[str], suite: str) -> Job:
        """Run ``tiltmeter audit`` into a new folder."""
        if not _NAME.fullmatch(name) or name == "readings":
            raise BadInput("the name is made of letters, digits, '.', '_' and '-', and begins with a letter or digit")
        if not models:
            raise BadInput("choose at least one model")
        target = self._folder / name
        with self._lock:
            if any(job.state == "running" for job in self._jobs.values()):
                raise Busy("an audit is running: wait for its end, or cancel it")
            if target.is_symlink() or (target / ReadingStore.MANIFEST).exists():
                raise BadInput(f"there is an audit '{name}' already: give this one another name")
            if target.exists() and not (target / "readings").is_dir():
                raise BadInput(f"'{name}' is taken: give the audit another name")
            # The models were chosen from a list, so none of them is an option of the command line.
            options = ["--suite", suite, "--out", str(target), *self._budget]
            command = [sys.executable, "-c", _RUN, "audit", *options, "--", *models]
            process, screen = _spawn(command)
            id = f"{len(self._jobs) + 1}"
            shown = tuple(map(without_passwords, models))
            job = self._jobs[id] = Job(id, name, shown, Path(suite).name, target, process, time.monotonic())
        threading.Thread(target=_watch, args=(job, screen), daemon=True, name=f"audit-{id}").start()
        return job

    def cancel(self, id: str) -> Job:
        """Stop an audit; what its models answered is stored, so that the same audit resumes from there."""
        job = self.job(id)
        if job.state == "running":
            job.state = "cancelled"
            _stop(job.process)
        return job

    def close(self) -> None:
        """No audit outlives the dashboard that started it."""
        for id in list(self._jobs):
            self.cancel(id)


def _spawn(command: list[str]) -> tuple[subprocess.Popen[bytes], int]:
    """The process, and where what it prints is read. It is given a terminal, because it shows its progress to one."""
    shown = {"COLUMNS": "120", "TERM": "xterm", "NO_COLOR": "1"}
    usual: dict[str, Any] = {"stdin": subprocess.DEVNULL, "env": {**os.environ, **shown}}
    try:
        import pty
    except ImportError:  # no terminals of this kind on Windows: only the end is seen there
        piped = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **usual)
        assert piped.stdout is not None
        return piped, os.dup(piped.stdout.fileno())
    screen, terminal = pty.openpty()
    try:
        usual |= {"stdout": subprocess.DEVNULL, "stderr": terminal, "start_new_session": True}
        return subprocess.Popen(command, **usual), screen
    finally:
        os.close(terminal)


def _watch(job: Job, screen: int) -> None:
    rest = ""
    with contextlib.suppress(OSError):  # how a terminal says that nobody is left on it
        while chunk := os.read(screen, 65_536):
            *lines, rest = re.split(r"[\r\n]+", rest + chunk.decode(errors="replace"))
            for line in lines:
                _take(job, line)
            if len(rest) > 10_000:
                rest = ""
    os.close(screen)
    _take(job, rest)
    code = job.process.wait()
    job.seconds = time.monotonic() - job.started
    if job.state == "running":
        # Exit code 2 with results: a model failed, and the others were measured.
        results = (job.folder / ReadingStore.MANIFEST).is_file()
        job.state = "finished" if code == 0 or results else "failed"
    job.step = ""


def _take(job: Job, line: str) -> None:
    """A line is the bar of the current step, or something said."""
    text = " ".join(_CONTROL.sub("", line).split())
    if not text:
        return
    counted = _DONE_OF.search(text)
    if counted and ("━" in text or "╸" in text):
        job.step = re.split(r"[━╸╺]", text)[0].strip()
        job.done, job.total = (int(number.replace(",", "")) for number in counted.groups())
    elif not job.lines or job.lines[-1] != text:
        job.lines.append(text[:500])


def _stop(process: subprocess.Popen[bytes]) -> None:
    """The process and its own children, gently first."""
    with contextlib.suppress(ProcessLookupError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGINT)
        else:
            process.terminate()
        try:
            process.wait(_WAIT)
        except subprocess.TimeoutExpired:
            if os.name == "posix":
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
