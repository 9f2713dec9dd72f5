"""Charts by address: those of an audit, of one of its models or probes, and of a single reading."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from tiltmeter.web.dashboard import Board
from tiltmeter.web.shelf import NotHere

router = APIRouter(prefix="/charts", include_in_schema=False)

#: The charts of a page by name, with what a reader is told while they are drawn.
EFFECT_CHARTS = {"effects": "the effect sizes", "shares": "the shares"}
AUDIT_CHARTS = {
    **EFFECT_CHARTS,
    "published": "published against corrected values",
    "published-p": "published against corrected p-values",
    "contexts": "the contexts",
    "calibration": "dose and response",
    "agreement": "the agreement of the probes",
    # The last, because it takes both columns: the others fill them without a gap.
    "grid": "the heat map",
}
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
    if not entries:
        raise NotHere("there is nothing to draw")
    return board.drawings.overview(name, entries, (audit, stored.stamp, model, probe))


@router.get("/audits/{audit}/{name}.svg")
def overview_picture(board: Board, audit: str, name: str, model: Key = "", probe: Key = "") -> Response:
    return _picture(overview(board, audit, name, model, probe))


@router.get("/readings/{audit}/{file}.json")
def reading(board: Board, audit: str, file: str) -> list[dict[str, Any]]:
    """The charts of one reading."""
    _, found = board.shelf.reading(audit, file)
    return board.drawings.reading(found, (audit, file, board.shelf.look().audit(audit).stamp))


@router.get("/readings/{audit}/{file}.svg")
def reading_picture(board: Board, audit: str, file: str) -> Response:
    return _picture(reading(board, audit, file))


def _picture(figures: list[dict[str, Any]]) -> Response:
    if not figures:
        raise NotHere("there is nothing to draw")
    return Response(figures[0]["svg"], media_type="image/svg+xml")
