"""The application: pages, API and static files behind one guard, every error one clear line; and its port."""

from __future__ import annotations

import contextlib
import socket
import threading
import webbrowser
from collections.abc import AsyncIterator, Callable
from importlib import resources
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Scope

from tiltmeter import __version__
from tiltmeter.errors import ModelFailed, TiltmeterError
from tiltmeter.web import comparisons, downloads, explore, json_api, pages
from tiltmeter.web.connections import PatientProtocol
from tiltmeter.web.dashboard import Dashboard, page
from tiltmeter.web.jobs import Busy
from tiltmeter.web.listing import Filters
from tiltmeter.web.security import MOST_BYTES, DashboardSettings, Guard, TooLarge
from tiltmeter.web.shelf import NotHere

_LINES = {404: "there is no such page", 405: "that is not possible here"}
#: The files of the pages, by name, with the package they come from: the stylesheet is the report's.
_STATIC = {
    "page.css": ("tiltmeter.views", "templates/page.css", "text/css"),
    "dashboard.css": ("tiltmeter.web", "static/dashboard.css", "text/css"),
    "dashboard.js": ("tiltmeter.web", "static/dashboard.js", "text/javascript"),
    "annotation.css": ("tiltmeter.web", "static/annotation.css", "text/css"),
    "annotation.js": ("tiltmeter.web", "static/annotation.js", "text/javascript"),
    "icon.svg": ("tiltmeter.web", "static/icon.svg", "image/svg+xml"),
}


def create_app(settings: DashboardSettings) -> Guard:
    """The dashboard of a folder, ready for a server."""
    dashboard = Dashboard.of(settings)

    @contextlib.asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        pages.overview(dashboard, Filters())  # so that the first reader need not wait for what is read but once
        yield
        dashboard.jobs.close()

    app = FastAPI(
        title="tiltmeter",
        version=__version__,
        summary="Readings of how far models lean, as JSON.",
        openapi_url="/api/openapi.json",
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    app.state.dashboard = dashboard
    shown = (pages.router, comparisons.router, explore.router, downloads.charts)
    for router in (*shown, downloads.router, json_api.router):
        app.include_router(router)
    app.add_api_route("/static/{name}", static_file, include_in_schema=False)
    for error in (TiltmeterError, TooLarge, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(error, _on_error)
    # FastAPI builds its routes when they are first needed, and silences a warning meanwhile, which is no safe thing to
    # do in two threads: done here, no reader meets it, or waits for it.
    app.openapi()
    return Guard(app, settings=settings, refuse=_refuse)


def static_file(name: str) -> Response:
    """A file that the pages need."""
    if name not in _STATIC:
        raise NotHere("there is no such file")
    package, path, kind = _STATIC[name]
    content = (resources.files(package) / path).read_bytes()
    return Response(content, media_type=kind, headers={"cache-control": "max-age=60"})


def _on_error(request: Request, error: Exception) -> Response:
    """The page of an error: its status, and its one line."""
    status, line = 500, "something went wrong: see the terminal in which the dashboard runs"
    if isinstance(error, TooLarge) or isinstance(error.__cause__, TooLarge):
        status, line = 413, f"that is too large: the limit is {MOST_BYTES // 1024} KB"
    elif isinstance(error, TiltmeterError):
        kinds = ((NotHere, 404), (Busy, 409), (ModelFailed, 502))
        status = next((status for kind, status in kinds if isinstance(error, kind)), 400)
        line = request.app.state.dashboard.shelf.plain(error)
    elif isinstance(error, RequestValidationError):
        first: dict[str, Any] = error.errors()[0]
        place = ".".join(str(step) for step in first.get("loc", ())[1:])
        status, line = 422, f"{place or 'the request'}: {first.get('msg', 'cannot be used')}"
    elif isinstance(error, HTTPException):
        status, line = error.status_code, _LINES.get(error.status_code, str(error.detail))
    return _failure(request.url.path, status, line)


def _failure(path: str, status: int, line: str) -> Response:
    if path.startswith("/api/"):
        return JSONResponse({"error": line}, status_code=status)
    return page("error.html", status=status, code=status, line=line)


def _refuse(scope: Scope, status: int, line: str) -> ASGIApp:
    if status == 401 and not scope["path"].startswith("/api/"):
        return page("token.html", status=401, line=line)
    return _failure(scope["path"], status, line)


def run(settings: DashboardSettings, *, announce: Callable[[str], None], open_browser: bool = False) -> bool:
    """Serve the dashboard until it is stopped; False where the address cannot be had."""
    what = f"dashboard of {settings.folder}"
    return listen(create_app(settings), settings, what, announce=announce, open_browser=open_browser)


def listen(
    app: Guard, settings: DashboardSettings, what: str, *, announce: Callable[[str], None], open_browser: bool = False
) -> bool:
    """Serve an application until it is stopped; False where the address cannot be had."""
    ipv6 = ":" in settings.host
    family, both = (socket.AF_INET6, socket.has_dualstack_ipv6()) if ipv6 else (socket.AF_INET, False)
    place = (settings.host, settings.port)
    try:
        listener = socket.create_server(place, family=family, backlog=128, dualstack_ipv6=both)
    except OSError:
        return False
    # The token is not part of what is printed: terminals are looked at by others, and kept in logs.
    address = f"http://{f'[{settings.host}]' if ipv6 else settings.host}:{settings.port}/"
    announce(f"{what}: {address} (Ctrl-C to stop)")
    if open_browser:
        threading.Timer(0.5, webbrowser.open, [address]).start()
    # No access log: a token may stand in an address. No server header: nobody needs it.
    config = uvicorn.Config(
        app, http=PatientProtocol, log_level="warning", access_log=False, server_header=False, lifespan="on", ws="none"
    )
    with listener:
        uvicorn.Server(config).run(sockets=[listener])
    return True
