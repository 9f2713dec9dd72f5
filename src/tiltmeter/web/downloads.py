"""Files to download: an audit in every form there is, and the items of a reading."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from fastapi import APIRouter
from fastapi.responses import Response

from tiltmeter.readings import Audit, Reading
from tiltmeter.views import exports
from tiltmeter.views.exports.frames import to_csv, to_parquet
from tiltmeter.web.dashboard import Board
from tiltmeter.web.listing import key_of
from tiltmeter.web.shelf import NotHere

router = APIRouter(tags=["downloads"])

#: Every form of an audit.
FORMATS = {
    **exports.FORMATS,
    "json": exports.Format("readings as JSON", "readings.json", lambda audit: _json(audit.to_dict())),
}
_KINDS = {
    ".html": "text/html",
    ".md": "text/markdown",
    ".csv": "text/csv",
    ".json": "application/json",
    ".tex": "application/x-tex",
}
_ITEMS: Mapping[str, Callable[[Reading], str | bytes]] = {
    "csv": lambda reading: to_csv(reading.to_frame()),
    "json": lambda reading: _json(reading.to_dict()["items"]),
    "parquet": lambda reading: to_parquet(reading.to_frame()),
}


@router.get("/audits/{audit}/download/{format}", response_class=Response)
def audit_file(board: Board, audit: str, format: str) -> Response:
    """An audit as a file: html, md, csv, parquet, latex, model-card or json."""
    if format not in FORMATS:
        raise NotHere(f"there is no such form of an audit: take one of {', '.join(FORMATS)}")
    stored = board.shelf.look().audit(audit)
    form = FORMATS[format]
    return _file(form.make(Audit.load(stored.folder)), f"{key_of(audit)[:-9]}-{form.file}")


@router.get("/audits/{audit}/readings/{file}/items/{format}", response_class=Response)
def items_file(board: Board, audit: str, file: str, format: str) -> Response:
    """The items of a reading as a file: csv, json or parquet."""
    if format not in _ITEMS:
        raise NotHere(f"there is no such form of items: take one of {', '.join(_ITEMS)}")
    entry, reading = board.shelf.reading(audit, file)
    return _file(_ITEMS[format](reading), f"{key_of(entry.file)[:-9]}.{format}")


def _file(content: str | bytes, name: str) -> Response:
    """Always as a download: a report has styles of its own, which no page here may have."""
    kind = _KINDS.get(name[name.rindex(".") :], "application/octet-stream")
    body = content if isinstance(content, bytes) else content.encode(errors="backslashreplace")
    return Response(
        body, media_type=kind, headers={"content-disposition": f'attachment; filename="{name.lstrip("-")}"'}
    )


def _json(values: object) -> str:
    return json.dumps(values, indent=1, ensure_ascii=False) + "\n"
