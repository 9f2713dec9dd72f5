"""One HTTP client for all APIs: a deadline for a whole answer, a limit to its size, and no redirect."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

#: Bytes of one answer at most, unpacked: the largest that a provider gives, 2,048 vectors of 3,072 numbers, has 34 MB.
LARGEST_ANSWER = 64 << 20
#: From the path under the address and the body of a request to the body of the answer.
Post: TypeAlias = Callable[[str, Mapping[str, Any]], Any]


@dataclass(eq=False)
class FaultError(Exception):
    """Why a request has no usable answer. ``status`` is None where no HTTP error was answered."""

    reason: str
    status: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    code: str = ""
    no_credit: bool = False
    #: What to do about it, where whoever asked knows better than the status.
    advice: str = ""


class UnusableError(Exception):
    """An answer that came, and is not what was asked for."""


@contextmanager
def connect(address: str, key: str, timeout: float) -> Iterator[Post]:
    """A client for one address, which may be used by several threads."""
    import httpx

    # Anything but gzip could unpack one chunk to any size. A connection per request: it is what the deadline closes.
    headers = {"Authorization": f"Bearer {key}", "Accept-Encoding": "gzip"}
    limits = httpx.Limits(max_keepalive_connections=0)
    with httpx.Client(headers=headers, timeout=timeout, limits=limits, follow_redirects=False) as client:

        def post(path: str, body: Mapping[str, Any]) -> Any:
            with _deadline(timeout) as (watch, is_over):
                try:
                    with client.stream("POST", address + path, json=body, extensions={"trace": watch}) as answer:
                        content = _read(answer)
                except UnusableError:
                    raise
                except Exception as error:
                    if is_over() or isinstance(error, httpx.TimeoutException):
                        raise FaultError("no answer in time") from None
                    if isinstance(error, httpx.TransportError):
                        raise FaultError(f"the connection failed ({error})") from None
                    raise
            if answer.status_code != 200:
                raise _refusal(answer.status_code, answer.headers, content)
            return json.loads(content)

        yield post


@contextmanager
def _deadline(seconds: float) -> Iterator[tuple[Callable[[str, Any], None], Callable[[], bool]]]:
    """Ends the connection that ``watch`` is told of when the time is over: the timeouts of the client are for each
    single read, so that a server could hold it for ever with a byte now and then."""
    connections: list[socket.socket] = []
    over = threading.Event()

    def watch(event: str, info: Any) -> None:
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            connections.append(info["return_value"].get_extra_info("socket"))

    def end() -> None:
        over.set()
        for connection in connections:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield watch, over.is_set
    finally:
        timer.cancel()


def _read(answer: Any) -> bytes:
    if answer.headers.get("content-encoding", "identity").lower() not in ("identity", "gzip"):
        raise UnusableError("packed in a way that was not asked for")
    content = bytearray()
    for chunk in answer.iter_bytes():
        content += chunk
        if len(content) > LARGEST_ANSWER:
            raise UnusableError(f"more than {LARGEST_ANSWER >> 20} MB")
    return bytes(content)


def _refusal(status: int, headers: Mapping[str, str], content: bytes) -> FaultError:
    if status < 400:
        return FaultError("an answer that cannot be read")
    reason: Any = content.decode(errors="replace")
    code = kind = None
    # The three providers have three forms for it.
    with suppress(ValueError, RecursionError):
        body = json.loads(content)
        reason = body.get("error", body) if isinstance(body, dict) else body
    if isinstance(reason, dict):
        code, kind = reason.get("code"), reason.get("type")
        reason = reason.get("message") or reason.get("detail") or reason
    no_credit = status == 402 or "insufficient_quota" in (code, kind)
    return FaultError(str(reason), status=status, headers=headers, code=str(code), no_credit=no_credit)
