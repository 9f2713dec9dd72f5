"""Files by address: an audit in every form there is, the items of a reading, and charts.

Charts are drawn when a page asks for them, and kept, because drawing takes a second.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

from fastapi import APIRouter, Query
from fastapi.responses import Response

from tiltmeter.readings import Audit, Reading
from tiltmeter.web.dashboard import Board, EscapedJson
from tiltmeter.web.listing import key_of
from tiltmeter.web.shelf import NotHere

# What draws and writes is imported where it is used: it takes a third of the memory of a dashboard.
if TYPE_CHECKING:
    from tiltmeter.views.charts import Figure
    from tiltmeter.views.exports import Format

router = APIRouter(tags=["downloads"])
charts = APIRouter(prefix="/charts", include_in_schema=False, default_response_class=EscapedJson)

Key = Annotated[str, Query(max_length=80)]
Drawn: TypeAlias = list[dict[str, Any]]


def audit_charts() -> dict[str, str]:
    """The charts of an audit by name, with what each shows."""
    from tiltmeter.views.charts import OVERVIEW

    # The heat map is the last, because it takes both columns: the others fill them without a gap.
    return {name: OVERVIEW[name][0] for name in sorted(OVERVIEW, key="grid".__eq__)}


def effect_charts() -> dict[str, str]:
    """Those of one model or one probe."""
    return {name: title for name, title in audit_charts().items() if name in ("effects", "shares")}


def audit_formats() -> dict[str, Format]:
    """Every form of an audit."""
    from tiltmeter.views import exports

    as_json = exports.Format("readings as JSON", "readings.json", lambda audit: _json(audit.to_dict()))
    return {**exports.FORMATS, "json": as_json}


_KINDS = {
    ".html": "text/html",
    ".md": "text/markdown",
    ".csv": "text/csv",
    ".json": "application/json",
    ".tex": "application/x-tex",
}
_ITEMS = ("csv", "json", "parquet")


@router.get("/audits/{audit}/download/{format}", response_class=Response)
def audit_file(board: Board, audit: str, format: str) -> Response:
    """An audit as a file: html, md, csv, parquet, latex, model-card or json."""
    formats = audit_formats()
    if format not in formats:
        raise NotHere(f"there is no such format of an audit: choose one of {', '.join(formats)}")
    stored = board.shelf.look().audit(audit)
    from tiltmeter.views.exports import content_files

    form, stem = formats[format], key_of(audit)[:-9]
    files = content_files(Path(f"{stem}-{form.file}"), form.make(Audit.load(stored.folder)))
    if len(files) == 1:
        ((path, content),) = files.items()
        return _file(content, path.name)
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        for path, content in files.items():
            packed.writestr(path.name, content)
    return _file(archive.getvalue(), f"{stem}-{format}.zip")


@router.get("/audits/{audit}/readings/{file}/items/{format}", response_class=Response)
def items_file(board: Board, audit: str, file: str, format: str) -> Response:
    """The items of a reading as a file: csv, json or parquet."""
    if format not in _ITEMS:
        raise NotHere(f"there is no such format of items: choose one of {', '.join(_ITEMS)}")
    entry, reading = board.shelf.reading(audit, file)
    return _file(_items(reading, format), f"{key_of(entry.file)[:-9]}.{format}")


def _items(reading: Reading, format: str) -> str | bytes:
    from tiltmeter.views.exports import to_csv, to_parquet

    if format == "json":
        return _json(reading.to_dict()["items"])
    return to_parquet(reading) if format == "parquet" else to_csv([item.to_dict() for item in reading.items])


def _file(content: str | bytes, name: str) -> Response:
    """Always as a download: a report has styles of its own, which no page here may have."""
    kind = _KINDS.get(name[name.rindex(".") :], "application/octet-stream")
    body = content if isinstance(content, bytes) else content.encode(errors="backslashreplace")
    disposition = f'attachment; filename="{name.lstrip("-")}"'
    return Response(body, media_type=kind, headers={"content-disposition": disposition})


def _json(values: object) -> str:
    return json.dumps(values, indent=1, ensure_ascii=False) + "\n"


@charts.get("/audits/{audit}/{name}.json")
def overview(board: Board, audit: str, name: str, model: Key = "", probe: Key = "") -> Drawn:
    """A chart of many readings: of all of an audit, of one model or of one probe."""
    stored = board.shelf.look().audit(audit)
    entries = [entry for entry in stored.entries if model in ("", entry.model_key) and probe in ("", entry.probe_key)]
    if not entries or name not in audit_charts():
        raise NotHere("there is no such chart")

    def draw() -> Drawn:
        from tiltmeter.views.charts import OVERVIEW

        return drawn([OVERVIEW[name][1]([entry.reading for entry in entries])])

    return board.figures.get((name, audit, stored.stamp, model, probe), draw)


@charts.get("/audits/{audit}/{name}.svg")
def overviewpicture(board: Board, audit: str, name: str, model: Key = "", probe: Key = "") -> Response:
    return picture(overview(board, audit, name, model, probe))


@charts.get("/readings/{audit}/{file}.json")
def reading(board: Board, audit: str, file: str) -> Drawn:
    """The charts of one reading."""
    _, whole = board.shelf.reading(audit, file)
    stamp = board.shelf.look().audit(audit).stamp

    def draw() -> Drawn:
        from tiltmeter.views.charts import of_reading

        return drawn(of_reading(whole))

    return board.figures.get((audit, file, stamp), draw)


@charts.get("/readings/{audit}/{file}.svg")
def readingpicture(board: Board, audit: str, file: str) -> Response:
    return picture(reading(board, audit, file))


def picture(figures: Drawn) -> Response:
    """The first of some charts as a picture, for pages without script."""
    if not figures:
        raise NotHere("there is nothing to draw")
    return Response(figures[0]["svg"], media_type="image/svg+xml")


def drawn(figures: Iterable[Figure | None]) -> Drawn:
    """Charts as a page takes them; what does not apply to the readings is left out."""
    from tiltmeter.views.charts import inline_svg

    names = ("name", "title", "alt")
    return [
        {**{name: getattr(figure, name) for name in names}, "svg": inline_svg(figure)}
        for figure in figures
        if figure is not None
    ]
