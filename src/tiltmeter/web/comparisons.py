"""Models side by side: their page, and its chart."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, Response

from tiltmeter.compare import Comparison, Comparisons, Side, compare
from tiltmeter.errors import BadInput
from tiltmeter.readings import p_number
from tiltmeter.views.terminal.comparison import interval, number
from tiltmeter.web.dashboard import Board, Dashboard, page
from tiltmeter.web.downloads import Drawn, charts, drawn, picture
from tiltmeter.web.listing import key_of
from tiltmeter.web.shelf import NotHere, Shown

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)
Sides = Annotated[list[str] | None, Query(max_length=50)]

#: More than these make a table that nobody reads.
MOST_SIDES = 6


@dataclasses.dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model of an audit, under a key for addresses."""

    key: str
    audit: str
    model: str


@router.get("/compare")
def compare_page(board: Board, side: Sides = None) -> Response:
    shown = board.shelf.look()
    chosen = list(dict.fromkeys(side or ()))
    problem, pairs = "", list[tuple[Comparison, tuple[str, str]]]()
    if len(chosen) > 1:
        try:
            pairs = list(zip(compared(board, shown, chosen).pairs, itertools.combinations(chosen, 2), strict=True))
        except NotHere:
            raise
        except BadInput as error:
            problem = board.shelf.plain(error)
    elif chosen:
        problem = "choose at least two"
    return page(
        "compare.html",
        choices=choices(shown),
        chosen=chosen,
        several=len(shown.audits) > 1,
        comparisons=pairs,
        problem=problem,
        most=MOST_SIDES,
        number=number,
        interval=interval,
        p_number=p_number,
    )


@charts.get("/compare.json")
def compare_charts(board: Board, side: Sides = None) -> Drawn:
    """Each pair of models: where both stand on every probe."""
    shown, keys = board.shelf.look(), list(dict.fromkeys(side or ()))
    sides = chosen_sides(board, shown, keys)
    stamps = tuple(shown.audit(choice.audit).stamp for choice in choices(shown) if choice.key in keys)

    def draw() -> Drawn:
        from tiltmeter.views.charts import dumbbells

        return drawn(dumbbells(compare(sides).pairs))

    return board.figures.get(("compare", *keys, *stamps), draw)


@charts.get("/compare.svg")
def compare_picture(board: Board, side: Sides = None) -> Response:
    return picture(compare_charts(board, side))


def choices(shown: Shown) -> list[ModelChoice]:
    """Every model of every audit."""
    return [
        ModelChoice(key_of(f"{stored.name} {model}"), stored.name, model)
        for stored in shown.audits
        for model in dict.fromkeys(entry.reading.model for entry in stored.entries)
    ]


def compared(board: Dashboard, shown: Shown, keys: Sequence[str]) -> Comparisons:
    """The models of these keys, all pairs."""
    return compare(chosen_sides(board, shown, keys))


def chosen_sides(board: Dashboard, shown: Shown, keys: Sequence[str]) -> list[Side]:
    """The models of these keys with their readings."""
    if not 2 <= len(keys) <= MOST_SIDES:
        raise BadInput(f"choose two to {MOST_SIDES} models, not {len(keys)}")
    by_key = {choice.key: choice for choice in choices(shown)}
    if not by_key.keys() >= {*keys}:
        raise NotHere("one of these models is not in the folder: choose from the list")
    return [_side(board, shown, by_key[key]) for key in keys]


def _side(board: Dashboard, shown: Shown, choice: ModelChoice) -> Side:
    stored = shown.audit(choice.audit)
    entries = [entry for entry in stored.entries if entry.reading.model == choice.model]
    readings = [board.shelf.reading(choice.audit, entry.file)[1] for entry in entries]
    # Two audits of one model are told apart by the name of the audit, not by where it lies on this machine.
    return Side(choice.model, choice.audit, (choice.model,), tuple(readings))
