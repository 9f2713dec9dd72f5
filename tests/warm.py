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
import select
import signal
import socket
import subprocess
import sys
import traceback
import weakref
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import IO, Any, NoReturn

#: What commands import when they need it.
HEAVY = (
    *("torch", "transformers.models.bert.modeling_bert", "transformers.models.auto.modeling_auto", "httpx", "pandas"),
    *("scipy.stats", "statsmodels.stats.power", "sklearn.linear_model", "pyarrow.parquet", "altair", "vl_convert"),
)
#: Libraries that would start threads as they are imported: a fork has none of them, but may wait for what they held.
_WITHOUT_THREADS = {"OPENBLAS_NUM_THREADS": "1", "JE_ARROW_MALLOC_CONF": "background_thread:false"}
_LARGEST = 1 << 18


class Warm:
    """One command in a process of its own; a ``subprocess.Popen`` in miniature.

    Its number and its exit code come over a channel that no other command shares, so whatever became of the commands
    before it, they are its own.
    """

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
        request = {"arguments": list(arguments), "env": dict(env), "folder": str(folder or Path.cwd())}
        self._replies, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        weakref.finalize(self, self._replies.close)  # not everyone waits for the end of what they started
        with theirs, open(os.devnull, "r+b") as nothing:  # noqa: PTH123
            streams = [nothing if stream == subprocess.DEVNULL else stream for stream in (stdin, stdout, stderr)]
            handles = [stream if isinstance(stream, int) else stream.fileno() for stream in streams]
            # A path may be no UTF-8; JSON's own escapes carry that.
            socket.send_fds(_server(), [json.dumps(request).encode()], [*handles, theirs.fileno()])
        self.pid = self._reply()
        assert self.pid > 0, "a signal to it would go to a whole group of processes"
        self.returncode: int | None = None

    def poll(self) -> int | None:
        self._replies.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            self._ended()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        self._replies.settimeout(timeout)
        return self._ended()

    def _ended(self) -> int:
        if self.returncode is None:
            self.returncode = self._reply()
        return self.returncode

    def _reply(self) -> int:
        reply = self._replies.recv(_LARGEST)
        if not reply:
            raise RuntimeError("the server of warm processes has ended: its own error says why")
        return int(reply)

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


@functools.cache
def _server() -> socket.socket:
    """The way to this process's server, which starts at the first command and ends with this process."""
    here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    root = Path(__file__).parents[1]
    with there:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.warm"], cwd=root, stdin=there, env={**os.environ, **_WITHOUT_THREADS}
        )
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
    #: The commands under way: their number and where their exit code is due, by a handle that is ready when they end.
    running: dict[int, tuple[int, socket.socket]] = {}
    while True:
        ready, _, _ = select.select([client, *running], [], [])
        for ended in set(ready) & running.keys():
            _report(ended, *running.pop(ended))
        if client in ready:
            message, handles, *_ = socket.recv_fds(client, _LARGEST, 4)
            if not message:
                break
            pid, replies = _start(client, message, handles)
            running[os.pidfd_open(pid)] = pid, replies
    for pid, _ in running.values():
        os.kill(pid, signal.SIGKILL)


def _start(client: socket.socket, message: bytes, handles: list[int]) -> tuple[int, socket.socket]:
    """A process that becomes the command, and where its replies go."""
    replies = socket.socket(fileno=handles.pop())
    check_single_thread()
    pid = os.fork()
    if pid == 0:
        client.close()
        replies.close()
        _become(**json.loads(message), handles=handles)
    for handle in handles:
        os.close(handle)
    _send(replies, pid)
    return pid, replies


def _report(ended: int, pid: int, replies: socket.socket) -> None:
    os.close(ended)
    with replies:
        _send(replies, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))


def _send(replies: socket.socket, number: int) -> None:
    with contextlib.suppress(BrokenPipeError):  # who asked no longer listens
        replies.send(str(number).encode())


def check_single_thread() -> None:
    """A fork has the thread that forked alone: whatever lock another one held would never open in it."""
    tasks = Path("/proc/self/task")
    threads = sorted((task / "comm").read_text().strip() for task in tasks.iterdir())
    assert len(threads) == 1, f"{len(threads)} threads where one may fork: {', '.join(threads)}"


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
