"""Half-sent requests shut nobody out."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
import uvicorn

from tiltmeter.web import connections
from tiltmeter.web.app import create_app
from tiltmeter.web.security import DashboardSettings

WHOLE = b"GET /static/icon.svg HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


@pytest.fixture
def port(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """A running dashboard that has room for 20 connections and waits half a second."""
    monkeypatch.setattr(connections, "MOST_CONNECTIONS", 20)
    monkeypatch.setattr(connections, "PATIENCE", 0.5)
    app = create_app(DashboardSettings(folder))
    config = uvicorn.Config(app, http=connections.PatientProtocol, log_level="critical", lifespan="off", ws="none")
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield listener.getsockname()[1]
        server.should_exit = True
        thread.join()


def connected(port: int, sent: bytes) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=10)
    connection.sendall(sent)
    return connection


def is_ended(connection: socket.socket) -> bool:
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def test_hundreds_of_half_sent_requests_do_not_keep_a_reader_out(port: int) -> None:
    with ExitStack() as stack:
        slow = [stack.enter_context(closing(connected(port, WHOLE[:20]))) for _ in range(300)]
        began = time.monotonic()
        reader = stack.enter_context(closing(connected(port, WHOLE)))
        assert reader.recv(100).startswith(b"HTTP/1.1 200")
        assert time.monotonic() - began < 5
        assert all(map(is_ended, slow))


@pytest.mark.parametrize(
    "sent",
    [
        b"",
        WHOLE[:20],
        b"POST /api/lexicons HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Content-Length: 9\r\n\r\nname",
    ],
)
def test_a_request_that_does_not_come_is_not_waited_for(port: int, sent: bytes) -> None:
    with closing(connected(port, sent)) as slow:
        assert is_ended(slow)


def test_a_second_request_on_a_connection_has_the_same_time_as_the_first(port: int) -> None:
    with closing(connected(port, WHOLE)) as connection:
        answer = b""
        while not answer.endswith(b"</svg>\n"):
            answer += connection.recv(65_536)
        connection.sendall(WHOLE)
        assert connection.recv(100).startswith(b"HTTP/1.1 200")
        connection.sendall(WHOLE[:20])
        while connection.recv(65_536):
            pass
