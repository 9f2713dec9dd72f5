"""The application behind the pages on which people judge: one guard, every error one clear line."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Scope

from tiltmeter.errors import TiltmeterError
from tiltmeter.web.app import static_file
from tiltmeter.web.dashboard import page
from tiltmeter.web.security import MOST_BYTES, DashboardSettings, Guard, TooLarge
from tiltmeter.web.shelf import NotHere

_LINES = {404: "there is no such page: open the link as it was sent to you", 405: "that is not possible here"}


def annotation_app(router: APIRouter, settings: DashboardSettings) -> Guard:
    """The pages of a router, with the files they need, behind the guard of the dashboard."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.include_router(router)
    app.add_api_route("/static/{name}", static_file, include_in_schema=False)
    for error in (TiltmeterError, TooLarge, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(error, _on_error)
    return Guard(app, settings=settings, refuse=_refuse)


def _on_error(_request: Request, error: Exception) -> Response:
    status, line = 500, "something went wrong: tell whoever sent you the link"
    if isinstance(error, TooLarge) or isinstance(error.__cause__, TooLarge):
        status, line = 413, f"that is too large: the limit is {MOST_BYTES // 1024} KB"
    elif isinstance(error, TiltmeterError):
        status, line = 404 if isinstance(error, NotHere) else 400, str(error)
    elif isinstance(error, RequestValidationError):
        first: dict[str, Any] = error.errors()[0]
        status, line = 422, f"{'.'.join(map(str, first.get('loc', ())[1:]))}: {first.get('msg', 'cannot be used')}"
    elif isinstance(error, HTTPException):
        status, line = error.status_code, _LINES.get(error.status_code, str(error.detail))
    return page("annotation_error.html", status=status, line=line)


def _refuse(_scope: Scope, status: int, line: str) -> ASGIApp:
    if status == 401:
        return page("token.html", status=401, line=line)
    return page("annotation_error.html", status=status, line=line)
