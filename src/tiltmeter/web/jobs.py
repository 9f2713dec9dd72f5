"""Audits started from the dashboard: each a process of its own, watched through the steps that it tells."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from tiltmeter.errors import BadInput, without_passwords
from tiltmeter.progress import ERROR, MODEL, REPORT, Step
from tiltmeter.readings import ReadingStore
from tiltmeter.web.shelf import NotHere

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_WORKER = ("-P", "-m", "tiltmeter.web.worker")
#: Without leave to pay nothing may be bought: a suite in the folder may name a paid model too, for its word vectors.
NOTHING = "0 requests, 0 tokens"
#: Rows of the log, and characters of a message.
_MOST_ROWS, _MOST_TEXT, _WAIT = 500, 1_000, 5.0


JobState: TypeAlias = Literal["running", "finished", "failed", "cancelled"]


class Busy(BadInput):
    """An audit is running, and the machine is not large enough for two."""


@dataclasses.dataclass(slots=True)
class LogRow:
    """One phase on one model, from its first step to its last: when it began, in seconds, and how far it came."""

    seconds: float
    step: Step

    def to_dict(self) -> dict[str, Any]:
        return {"seconds": round(self.seconds, 1), **dataclasses.asdict(self.step)}


@dataclasses.dataclass(slots=True)
class Job:
    """One audit; ``problem`` says why one has failed."""

    id: str
    name: str
    models: tuple[str, ...]
    suite: str
    folder: Path
    process: subprocess.Popen[bytes]
    started: float
    state: JobState = "running"
    models_done: int = 0
    problem: str = ""
    log: list[LogRow] = dataclasses.field(default_factory=list)
    seconds: float = 0.0

    @property
    def command(self) -> str:
        """The same audit on the command line."""
        return shlex.join(["tiltmeter", "audit", *self.models, "--suite", self.suite, "--out", self.name])

    @property
    def now(self) -> Step:
        """The step it is at."""
        return self.log[-1].step if self.log else Step("starting")

    def take(self, step: Step) -> None:
        """Enter a step into the log: as a row of its own, or into the row of its phase."""
        if step.phase == MODEL:
            self.models_done = step.done
            return
        if step.phase == ERROR:
            self.problem = step.message
        if step.phase == REPORT:
            self.models_done = len(self.models)
        last = self.log[-1].step if self.log else None
        if last and not step.message and (last.phase, last.model) == (step.phase, step.model):
            self.log[-1].step = step
        elif len(self.log) < _MOST_ROWS:
            self.log.append(LogRow(time.monotonic() - self.started, step))

    def to_dict(self) -> dict[str, Any]:
        spent = self.seconds or time.monotonic() - self.started
        values = {name: getattr(self, name) for name in ("id", "name", "suite", "state", "problem", "models_done")}
        now, log = dataclasses.asdict(self.now), [row.to_dict() for row in tuple(self.log)]
        return {**values, "models": list(self.models), "seconds": round(spent, 1), "now": now, "log": log}


class Jobs:
    """The audits started since the dashboard was; each writes into a folder of its own in ``folder``."""

    def __init__(self, folder: Path, *, allow_paid: bool = False) -> None:
        self._folder = folder
        self._budget = None if allow_paid else NOTHING
        self._jobs: dict[str, Job] = {}
        self._lock = threading.Lock()

    def all(self) -> list[Job]:
        return list(reversed(self._jobs.values()))

    def job(self, id: str) -> Job:
        if id not in self._jobs:
            raise NotHere("there is no such audit among those started here")
        return self._jobs[id]

    def start(self, name: str, models: Sequence[str], suite: str) -> Job:
        """Run an audit into a new folder, as ``tiltmeter audit`` would."""
        if not _NAME.fullmatch(name) or name == "readings":
            raise BadInput("the name is made of letters, digits, '.', '_' and '-', and begins with a letter or digit")
        if not models:
            raise BadInput("choose at least one model")
        target = self._folder / name
        with self._lock:
            if any(job.state == "running" for job in self._jobs.values()):
                raise Busy("an audit is running: wait until it ends, or cancel it")
            if target.is_symlink() or (target / ReadingStore.MANIFEST).exists():
                raise BadInput(f"there is an audit '{name}' already: give this one another name")
            if target.exists() and not (target / "readings").is_dir():
                raise BadInput(f"'{name}' is taken: give the audit another name")
            order = {"models": list(models), "suite": suite, "out": str(target), "budget": self._budget}
            process = _spawn(json.dumps(order).encode())
            id = f"{len(self._jobs) + 1}"
            shown = tuple(map(without_passwords, models))
            job = self._jobs[id] = Job(id, name, shown, Path(suite).name, target, process, time.monotonic())
        threading.Thread(target=_watch, args=(job,), daemon=True, name=f"audit-{id}").start()
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


def _spawn(order: bytes) -> subprocess.Popen[bytes]:
    """The process, which reads its order from a pipe: a spec may hold a password, and everyone sees command lines."""
    process = subprocess.Popen(
        [sys.executable, *_WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True
    )
    assert process.stdin is not None
    with contextlib.suppress(OSError), process.stdin as pipe:  # one that is gone already says so by its exit code
        pipe.write(order)
    return process


def _watch(job: Job) -> None:
    assert job.process.stdout is not None
    with job.process.stdout as steps:
        for line in steps:
            step = Step(**json.loads(line))
            # Where the folder lies on this machine is nobody's business.
            message = step.message.replace(f"{job.folder.parent}{os.sep}", "")
            job.take(dataclasses.replace(step, message=message[:_MOST_TEXT]))
    code = job.process.wait()
    job.seconds = time.monotonic() - job.started
    if job.state == "running" and code != 0 and not job.problem:
        job.problem = _ended(code)
    if job.state == "running":
        job.state = "failed" if code else "finished"


def _ended(code: int) -> str:
    """Why a process ended that could not say so itself."""
    if code == -signal.SIGKILL:
        return "the process was killed, as systems do when memory runs out: audit fewer or smaller models at a time"
    return f"the process ended without a message (code {code}): see the terminal in which the dashboard runs"


def _stop(process: subprocess.Popen[bytes]) -> None:
    """The process and its own children, gently first."""
    with contextlib.suppress(ProcessLookupError):
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGTERM)
        else:
            process.terminate()
        try:
            process.wait(_WAIT)
        except subprocess.TimeoutExpired:
            if os.name == "posix":
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
