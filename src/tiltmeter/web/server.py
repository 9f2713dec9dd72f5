"""The dashboard on a port."""

from __future__ import annotations

import socket
import threading
import webbrowser
from collections.abc import Callable

import uvicorn

from tiltmeter.web.app import create_app
from tiltmeter.web.settings import Settings


def run(settings: Settings, *, announce: Callable[[str], None], open_browser: bool = False) -> bool:
    """Serve until it is stopped; False where the address cannot be had."""
    app = create_app(settings)
    try:
        listener = _listen(settings)
    except OSError:
        return False
    address = _address(settings)
    announce(f"dashboard of {settings.folder}: {address} (Ctrl-C to stop)")
    if open_browser:
        threading.Timer(0.5, webbrowser.open, [address]).start()
    # No access log: a token may stand in an address. No server header: nobody needs it.
    config = uvicorn.Config(app, log_level="warning", access_log=False, server_header=False, lifespan="on")
    with listener:
        uvicorn.Server(config).run(sockets=[listener])
    return True


def _listen(settings: Settings) -> socket.socket:
    kind = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    listener = socket.socket(kind, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((settings.host, settings.port))
        listener.listen(128)
    except OSError:
        listener.close()
        raise
    return listener


def _address(settings: Settings) -> str:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    # The token is not part of what is printed: terminals are looked at by others, and kept in logs.
    return f"http://{host}:{settings.port}/"
