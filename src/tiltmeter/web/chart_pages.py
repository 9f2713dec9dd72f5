"""Charts by address: those of an audit, of one of its models or probes, and of a single reading.

They are drawn when a page asks for them, and kept, because drawing takes a second.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import Response

from tiltmeter.readings import Reading
from tiltmeter.views import charts
from tiltmeter.views.charts import Figure, inline_svg
from tiltmeter.web.dashboard import Board
from tiltmeter.web.shelf import NotHere

router = APIRouter(prefix="/charts", include_in_schema=False)

Readings = Sequence[Reading]
PValues = Sequence[float | None]
#: Charts of many readings by name: what a reader sees while they are drawn, and how they are.
_CHARTS: Mapping[str, tuple[str, Callable[[Readings, PValues], Figure | None]]] = {
    "effects": ("the effect sizes", lambda readings, p: charts.effects(readings, adjusted=p)),
    "shares": ("the shares", lambda readings, p: charts.shares(readings, adjusted=p)),
    "published": ("published against repaired values", lambda readings, _: charts.published_values(readings)),
    "published-p": ("published against repaired p-values", lambda readings, _: charts.published_p_values(readings)),
    "contexts": ("the contexts", lambda readings, _: charts.contexts(readings)),
    "calibration": ("dose and response", lambda readings, _: charts.calibration(readings)),
    "agreement": ("the agreement of the probes", lambda readings, _: charts.agreement_over_models(readings)),
    # The last, because it takes both columns: the others fill them without a gap.
    "grid": ("the heat map", lambda readings, p: charts.grid(readings, adjusted=p)),
}
AUDIT_CHARTS = {name: title for name, (title, _) in _CHARTS.items()}
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
    if not entries or name not in _CHARTS:
        raise NotHere("there is no such chart")

    def draw() -> list[dict[str, Any]]:
        figure = _CHARTS[name][1]([entry.reading for entry in entries], [entry.row.p_adjusted for entry in entries])
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
    return board.figures.get((audit, file, stamp), lambda: [_plain(figure) for figure in charts.of_reading(whole)])


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
