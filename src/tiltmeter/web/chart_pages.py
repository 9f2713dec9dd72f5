"""Charts by address: those of an audit, of one of its models or probes, and of a single reading.

They are drawn when a page asks for them, and kept, because drawing takes a second.
"""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from tiltmeter.views.charts import OVERVIEW, Figure, inline_svg, of_reading
from tiltmeter.web.dashboard import Board
from tiltmeter.web.shelf import NotHere

router = APIRouter(prefix="/charts", include_in_schema=False)

#: The heat map is the last, because it takes both columns: the others fill them without a gap.
AUDIT_CHARTS = {name: OVERVIEW[name][0] for name in sorted(OVERVIEW, key="grid".__eq__)}
EFFECT_CHARTS = {name: AUDIT_CHARTS[name] for name in ("effects", "shares")}
Key = Annotated[str, Query(max_length=80)]


@router.get("/audits/{audit}/{name}.json")
def overview(board: Board, audit: str, name: str, model: Key = "", probe: Key = "") -> list[dict[str, Any]]:
    """A chart of many readings: of all of an audit, of one model or of one probe."""
    stored = board.shelf.look().audit(audit)
    entries = [
        entry
        for entry in stored.entries
        if (not model or entry.model_key == model) and (not probe or entry.probe_key == probe)
    ]
    if not entries or name not in OVERVIEW:
        raise NotHere("there is no such chart")

    def draw() -> list[dict[str, Any]]:
        figure = OVERVIEW[name][1]([entry.reading for entry in entries], [entry.row.p_adjusted for entry in entries])
        return [] if figure is None else [_plain(figure)]

    return board.figures.get((name, audit, stored.stamp, model, probe), draw)


@router.get("/audits/{audit}/{name}.svg")
def overview_picture(board: Board, audit: str, name: str, model: Key = "", probe: Key = "") -> Response:
    return _picture(overview(board, audit, name, model, probe))


@router.get("/readings/{audit}/{file}.json")
def reading(board: Board, audit: str, file: str) -> list[dict[str, Any]]:
    """The charts of one reading."""
    _, whole = board.shelf.reading(audit, file)
    stamp = board.shelf.look().audit(audit).stamp
    return board.figures.get((audit, file, stamp), lambda: [_plain(figure) for figure in of_reading(whole)])


@router.get("/readings/{audit}/{file}.svg")
def reading_picture(board: Board, audit: str, file: str) -> Response:
    return _picture(reading(board, audit, file))


def _picture(figures: list[dict[str, Any]]) -> Response:
    if not figures:
        raise NotHere("there is nothing to draw")
    return Response(figures[0]["svg"], media_type="image/svg+xml")


def _plain(figure: Figure) -> dict[str, Any]:
    return {
        "name": figure.name,
        "title": figure.title,
        "alt": figure.alt,
        "keeps_colours": figure.keeps_colours,
        "svg": inline_svg(figure),
    }
