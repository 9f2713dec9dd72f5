"""Pages that show what audits have measured, compare models side by side, and start audits."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from tiltmeter.compare import Comparisons, Side, compare
from tiltmeter.errors import BadInput, TiltmeterError
from tiltmeter.readings import Item, p_number
from tiltmeter.views.report.words import meanings, not_measured, origin, verdict
from tiltmeter.views.rows import ReadingRow
from tiltmeter.views.terminal.comparison import interval, number
from tiltmeter.web import listing
from tiltmeter.web.dashboard import Board, Dashboard, Form, page
from tiltmeter.web.downloads import AUDIT_CHARTS, EFFECT_CHARTS, FORMATS
from tiltmeter.web.shelf import NotHere, Shown

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

#: Models whose items stand side by side on a probe's page, if no others are chosen.
_SIDE_BY_SIDE = 4
_ITEMS = 50
Text = Annotated[str, Query(max_length=500)]
Part = Annotated[int, Query(ge=1)]
Keys = Annotated[list[str] | None, Query(max_length=12)]


@router.get("/")
def overview(
    board: Board,
    q: Text = "",
    audit: Text = "",
    model: Text = "",
    probe: Text = "",
    lean: Text = "",
    view: Text = "grid",
    sort: Text = "",
    part: Part = 1,
) -> Response:
    shown = board.shelf.look()
    everything = shown.entries
    filters = listing.Filters(q, audit, model, probe, lean)
    chosen = filters.chosen(everything) if filters.any else everything
    as_list = view == "list"
    return page(
        "overview.html",
        shown=shown,
        folder=board.shelf.folder.name,
        filters=filters,
        leans={name: label for name, (label, _) in listing.LEANS.items()},
        models=list(dict.fromkeys(entry.reading.model for entry in everything)),
        kinds=sorted({entry.reading.probe for entry in everything}),
        grid=None if as_list else listing.Grid.of(chosen),
        rows=listing.Page.of(listing.sorted_entries(chosen, sort), part) if as_list else None,
        sort=sort,
        n_chosen=len(chosen),
        total=len(everything),
        clear=sum(entry.clear for entry in chosen),
    )


@router.get("/audits/{audit}")
def audit_page(board: Board, audit: str) -> Response:
    stored = board.shelf.look().audit(audit)
    return page(
        "audit.html",
        stored=stored,
        verdict=verdict(stored.audit),
        skipped=not_measured(stored.audit),
        origin=origin(stored.audit),
        meanings=meanings(stored.audit.readings),
        charts=AUDIT_CHARTS,
        formats=FORMATS,
    )


@router.get("/audits/{audit}/models/{key}")
def model_page(board: Board, audit: str, key: str, sort: Text = "") -> Response:
    shown = board.shelf.look()
    stored = shown.audit(audit)
    name = stored.model(key)
    entries = [entry for entry in stored.entries if entry.reading.model == name]
    return page(
        "model.html",
        stored=stored,
        name=name,
        entries=listing.sorted_entries(entries, sort),
        sort=sort,
        verdict=next((model for model in verdict(stored.audit).models if model.model == name), None),
        skipped=[skipped for skipped in stored.audit.skipped if skipped.model == name],
        charts=EFFECT_CHARTS,
        can_ask=any(offered.spec == name for offered in board.offered(shown)),
    )


@router.get("/audits/{audit}/probes/{key}")
def probe_page(
    board: Board, audit: str, key: str, model: Keys = None, q: Text = "", sort: Text = "", part: Part = 1
) -> Response:
    stored = board.shelf.look().audit(audit)
    entries = stored.probe(key)
    chosen = [entry for entry in entries if entry.model_key in (model or ())] or entries[:_SIDE_BY_SIDE]
    columns, items = _side_by_side(board, chosen)
    return page(
        "probe.html",
        stored=stored,
        key=key,
        entries=entries,
        meaning=meanings([entry.reading for entry in entries])[0],
        charts=EFFECT_CHARTS,
        chosen=[entry.model_key for entry in chosen],
        columns=columns,
        **_part(items, q, sort, part),
    )


@router.get("/audits/{audit}/readings/{file}")
def reading_page(board: Board, audit: str, file: str, q: Text = "", sort: Text = "", part: Part = 1) -> Response:
    entry, reading = board.shelf.reading(audit, file)
    return page(
        "reading.html",
        entry=entry,
        row=ReadingRow(reading, entry.row.title),
        meaning=meanings([reading])[0],
        columns=listing.item_columns(reading),
        **_part(reading.items, q, sort, part),
    )


def _part(items: Sequence[Item], q: str, sort: str, part: int) -> dict[str, Any]:
    """The part of a table of items that a reader asked for."""
    rows = listing.sorted_items(listing.matching_items(items, q), sort)
    return {"items": listing.Page.of(rows, part, size=_ITEMS), "q": q, "sort": sort}


def _side_by_side(board: Dashboard, entries: Sequence[listing.Entry]) -> tuple[dict[str, str], list[Item]]:
    """The units of one probe, a column per model: the names of the columns, and the rows."""
    rows: dict[tuple[str, str], dict[str, float]] = {}
    columns: dict[str, str] = {}
    for entry in entries:
        _, reading = board.shelf.reading(entry.audit, entry.file)
        values = reading.units()
        if values is None:
            continue
        columns[entry.model_key] = reading.model
        for row in values.rows:
            rows.setdefault((row.label, row.group), {})[entry.model_key] = row.value
    return columns, [Item(label, label, group, None, by_model) for (label, group), by_model in rows.items()]


@router.get("/jobs")
def jobs_page(board: Board) -> Response:
    return _jobs_page(board, {})


@router.post("/jobs")
def start_job(board: Board, form: Form) -> Response:
    try:
        job = board.start_audit(form.get("name", [""])[-1], form.get("model", []), form.get("suite", [""])[-1])
    except TiltmeterError as error:
        return _jobs_page(board, form, error)
    return RedirectResponse(f"/jobs/{job.id}", status_code=303)


@router.get("/jobs/{id}")
def job_page(board: Board, id: str) -> Response:
    started = board.jobs.job(id)
    # As they are now: the audit continues to print while the page is made.
    return page("job.html", job=started, lines=tuple(started.lines))


@router.post("/jobs/{id}/cancel")
def cancel_job(board: Board, id: str) -> Response:
    board.jobs.cancel(id)
    return RedirectResponse(f"/jobs/{id}", status_code=303)


def _jobs_page(board: Dashboard, form: dict[str, list[str]], error: TiltmeterError | None = None) -> Response:
    now = datetime.datetime.now(datetime.UTC)
    return page(
        "jobs.html",
        status=400 if error else 200,
        problem=board.shelf.plain(error) if error else "",
        jobs=board.jobs.all(),
        models=board.offered(),
        suites=board.suites(),
        name=form.get("name", [f"audit-{now:%Y%m%d-%H%M%S}"])[-1],
        chosen=form.get("model", []),
        suite=form.get("suite", ["default"])[-1],
    )


#: More than these make a table that nobody reads.
MOST_SIDES = 6


@dataclasses.dataclass(frozen=True, slots=True)
class ModelChoice:
    """A model of an audit, under a key for addresses."""

    key: str
    audit: str
    model: str


@router.get("/compare")
def compare_page(board: Board, side: Annotated[list[str] | None, Query(max_length=50)] = None) -> Response:
    shown = board.shelf.look()
    chosen = list(dict.fromkeys(side or ()))
    problem, comparisons = "", None
    if len(chosen) > 1:
        try:
            comparisons = compared(board, shown, chosen)
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
        comparisons=comparisons,
        problem=problem,
        most=MOST_SIDES,
        number=number,
        interval=interval,
        p_number=p_number,
    )


def choices(shown: Shown) -> list[ModelChoice]:
    """Every model of every audit."""
    return [
        ModelChoice(listing.key_of(f"{stored.name} {model}"), stored.name, model)
        for stored in shown.audits
        for model in dict.fromkeys(entry.reading.model for entry in stored.entries)
    ]


def compared(board: Dashboard, shown: Shown, keys: Sequence[str]) -> Comparisons:
    """The models of these keys, all pairs."""
    if not 2 <= len(keys) <= MOST_SIDES:
        raise BadInput(f"choose two to {MOST_SIDES} models, not {len(keys)}")
    by_key = {choice.key: choice for choice in choices(shown)}
    if not by_key.keys() >= {*keys}:
        raise NotHere("one of these models is not in the folder: choose from the list")
    return compare([_side(board, shown, by_key[key]) for key in keys])


def _side(board: Dashboard, shown: Shown, choice: ModelChoice) -> Side:
    stored = shown.audit(choice.audit)
    entries = [entry for entry in stored.entries if entry.reading.model == choice.model]
    readings = [board.shelf.reading(choice.audit, entry.file)[1] for entry in entries]
    # Two audits of one model are told apart by the name of the audit, not by where it lies on this machine.
    return Side(choice.model, Path(choice.audit), (choice.model,), tuple(readings))
