"""Commands in processes of their own that find everything imported: a server that has done so forks for each.

Most of what a short command costs is importing, which is the same every time. What a process has for itself (its
environment, folder, streams, exit code, and being killed) is as if it had been started anew; what Python and libraries
read from the environment when they start is not, and its hashes are seeded as those of the other forks are.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import gc
import importlib
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import traceback
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any, NoReturn

#: What commands import when they need it.
HEAVY = (
    *("torch", "transformers.models.bert.modeling_bert", "transformers.models.auto.modeling_auto", "openai", "pandas"),
    *("scipy.stats", "statsmodels.stats.power", "sklearn.linear_model", "pyarrow.parquet", "altair", "vl_convert"),
)
_LARGEST = 1 << 18


class Warm:
    """One command in a process of its own; a ``subprocess.Popen`` in miniature."""

    def __init__(
        self,
        arguments: Iterable[str],
        *,
        env: Mapping[str, str],
        folder: Path | None = None,
        stdin: IO[Any] | int = subprocess.DEVNULL,
        stdout: IO[Any] | int = subprocess.DEVNULL,
        stderr: IO[Any] | int = subprocess.DEVNULL,
    ) -> None:
        self._server = _server()
        self._server.setblocking(True)
        request = {"arguments": list(arguments), "env": dict(env), "folder": str(folder or Path.cwd())}
        with open(os.devnull, "r+b") as nothing:  # noqa: PTH123
            given = [nothing if each == subprocess.DEVNULL else each for each in (stdin, stdout, stderr)]
            handles = [each if isinstance(each, int) else each.fileno() for each in given]
            # A path may be no UTF-8; JSON's own escapes carry that.
            socket.send_fds(self._server, [json.dumps(request).encode()], handles)
        self.pid = int(self._server.recv(_LARGEST))
        self.returncode: int | None = None

    def poll(self) -> int | None:
        self._server.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            self._ended()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        self._server.settimeout(timeout)
        return self._ended()

    def _ended(self) -> int:
        if self.returncode is None:
            self.returncode = int(self._server.recv(_LARGEST))
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


@functools.cache
def _server() -> socket.socket:
    """The way to this process's server, which starts at the first command and ends with this process."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with there:
        process = subprocess.Popen([sys.executable, "-m", "tests.warm"], cwd=Path(__file__).parents[1], stdin=there)
    atexit.register(process.wait)
    atexit.register(here.close)
    return here


def _serve(client: socket.socket) -> None:
    import tiltmeter

    for name in HEAVY:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    for module in pkgutil.walk_packages(tiltmeter.__path__, "tiltmeter."):
        with contextlib.suppress(ImportError):
            importlib.import_module(module.name)
    gc.freeze()
    while True:
        message, handles, *_ = socket.recv_fds(client, _LARGEST, 3)
        if not message:
            return
        pid = os.fork()
        if pid == 0:
            client.close()
            _become(**json.loads(message), handles=handles)
        for handle in handles:
            os.close(handle)
        client.send(str(pid).encode())
        client.send(str(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])).encode())


def _become(arguments: list[str], env: dict[str, str], folder: str, handles: list[int]) -> NoReturn:
    from tiltmeter.cli.app import main

    code: Any = 1
    try:
        for number, handle in enumerate(handles):
            os.dup2(handle, number)
            os.close(handle)
        os.environ.clear()
        os.environ.update(env)
        os.chdir(folder)
        sys.argv = ["tiltmeter", *arguments]
        main()
    except SystemExit as end:
        code = end.code
    except BaseException:
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    _serve(socket.socket(fileno=os.dup(0)))
