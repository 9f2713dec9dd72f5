"""Files by address: an audit in every form there is, the items of a reading, and charts.

Charts are drawn when a page asks for them, and kept, because drawing takes a second.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from tiltmeter.readings import Audit, Reading
from tiltmeter.views import exports
from tiltmeter.views.charts import OVERVIEW, Figure, inline_svg, of_reading
from tiltmeter.views.exports import to_csv, to_parquet
from tiltmeter.web.dashboard import Board, EscapedJson
from tiltmeter.web.listing import key_of
from tiltmeter.web.shelf import NotHere

router = APIRouter(tags=["downloads"])
charts = APIRouter(prefix="/charts", include_in_schema=False, default_response_class=EscapedJson)

#: The heat map is the last, because it takes both columns: the others fill them without a gap.
AUDIT_CHARTS = {name: OVERVIEW[name][0] for name in sorted(OVERVIEW, key="grid".__eq__)}
EFFECT_CHARTS = {name: AUDIT_CHARTS[name] for name in ("effects", "shares")}
Key = Annotated[str, Query(max_length=80)]

_AS_JSON = exports.Format("readings as JSON", "readings.json", lambda audit: _json(audit.to_dict()))
#: Every form of an audit.
FORMATS = {**exports.FORMATS, "json": _AS_JSON}
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
    disposition = f'attachment; filename="{name.lstrip("-")}"'
    return Response(body, media_type=kind, headers={"content-disposition": disposition})


def _json(values: object) -> str:
    return json.dumps(values, indent=1, ensure_ascii=False) + "\n"


@charts.get("/audits/{audit}/{name}.json")
def overview(board: Board, audit: str, name: str, model: Key = "", probe: Key = "") -> list[dict[str, Any]]:
    """A chart of many readings: of all of an audit, of one model or of one probe."""
    stored = board.shelf.look().audit(audit)
    entries = [entry for entry in stored.entries if model in ("", entry.model_key) and probe in ("", entry.probe_key)]
    if not entries or name not in OVERVIEW:
        raise NotHere("there is no such chart")

    def draw() -> list[dict[str, Any]]:
        figure = OVERVIEW[name][1]([entry.reading for entry in entries])
        return [] if figure is None else [_plain(figure)]

    return board.figures.get((name, audit, stored.stamp, model, probe), draw)


@charts.get("/audits/{audit}/{name}.svg")
def overview_picture(board: Board, audit: str, name: str, model: Key = "", probe: Key = "") -> Response:
    return _picture(overview(board, audit, name, model, probe))


@charts.get("/readings/{audit}/{file}.json")
def reading(board: Board, audit: str, file: str) -> list[dict[str, Any]]:
    """The charts of one reading."""
    _, whole = board.shelf.reading(audit, file)
    stamp = board.shelf.look().audit(audit).stamp
    return board.figures.get((audit, file, stamp), lambda: [_plain(figure) for figure in of_reading(whole)])


@charts.get("/readings/{audit}/{file}.svg")
def reading_picture(board: Board, audit: str, file: str) -> Response:
    return _picture(reading(board, audit, file))


def _picture(figures: list[dict[str, Any]]) -> Response:
    if not figures:
        raise NotHere("there is nothing to draw")
    return Response(figures[0]["svg"], media_type="image/svg+xml")


def _plain(figure: Figure) -> dict[str, Any]:
    values = {name: getattr(figure, name) for name in ("name", "title", "alt", "keeps_colours")}
    return {**values, "svg": inline_svg(figure)}
