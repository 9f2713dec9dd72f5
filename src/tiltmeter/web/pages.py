"""Pages that show what audits have measured, and start further ones."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Annotated, Any
from weakref import WeakKeyDictionary

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from markupsafe import Markup

from tiltmeter.errors import BadInput, TiltmeterError, without_passwords
from tiltmeter.readings import Item, peers
from tiltmeter.readings.mitigation import FILE, Mitigation
from tiltmeter.views.report.wording import meanings, not_measured, origin
from tiltmeter.views.rows import ReadingRow
from tiltmeter.views.summary import summarise_rows
from tiltmeter.web import listing
from tiltmeter.web.dashboard import AskedFilters, Board, Dashboard, Form, Text, page, templates
from tiltmeter.web.downloads import audit_charts, audit_formats, effect_charts
from tiltmeter.web.offer import examples
from tiltmeter.web.shelf import StoredAudit

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

#: Models whose items stand side by side on a probe's page, if no others are chosen.
_SIDE_BY_SIDE = 4
_ITEMS = 50
#: The grids of audits as they were drawn, each kept as long as its audit is.
_glances: WeakKeyDictionary[StoredAudit, Markup] = WeakKeyDictionary()
Part = Annotated[int, Query(ge=1)]
Keys = Annotated[list[str] | None, Query(max_length=12)]


@router.get("/")
def overview(board: Board, filters: AskedFilters, view: Text = "grid", sort: Text = "", part: Part = 1) -> Response:
    shown = board.shelf.look()
    everything = shown.entries
    chosen = filters.chosen(everything) if filters.any else everything
    as_list = view == "list"
    return page(
        "overview.html",
        shown=shown,
        folder=board.shelf.folder.name,
        filters=filters,
        latest=sorted(shown.audits, key=lambda stored: stored.finished, reverse=True),
        models=list(dict.fromkeys(entry.reading.model for entry in everything)),
        kinds=sorted({entry.reading.probe for entry in everything}),
        dimensions=list(dict.fromkeys(entry.dimension for entry in everything)),
        counts=listing.count_verdicts(chosen),
        grid=None if as_list else listing.Grid.of(chosen),
        glance=_glance,
        rows=listing.Page.of(listing.sorted_entries(chosen, sort), part) if as_list else None,
        sort=sort,
        n_chosen=len(chosen),
        total=len(everything),
    )


def _glance(stored: StoredAudit) -> Markup:
    """The grid of an audit, which stays the same until the audit is written again."""
    if stored not in _glances:
        pieces: Any = templates().get_template("pieces.html").module
        _glances[stored] = Markup(pieces.glance(stored, stored.summary, ()))
    return _glances[stored]


@router.get("/audits/{audit}")
def audit_page(board: Board, audit: str) -> Response:
    stored = board.shelf.look().audit(audit)
    return page(
        "audit.html",
        stored=stored,
        skipped=not_measured(stored.audit),
        origin=origin(stored.audit),
        meanings=meanings(stored.audit.readings),
        charts=audit_charts(),
        formats=audit_formats(),
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
        summary=summarise_rows([entry.row for entry in entries], [name]),
        counts=listing.count_verdicts(entries),
        skipped=[skipped for skipped in stored.audit.skipped if skipped.model == name],
        charts=effect_charts(),
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
        charts=effect_charts(),
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


@router.get("/mitigation")
def mitigation_page(board: Board) -> Response:
    """Results of tiltmeter mitigate in the folder, or in folders directly in it."""
    # Here, because it draws: charts take a third of the memory of a dashboard.
    from tiltmeter.views.report.mitigation import mitigation_context

    root = board.shelf.folder
    results, notes = list[dict[str, Any]](), list[str]()
    for folder in (root, *sorted(path for path in root.iterdir() if path.is_dir())):
        if (folder / FILE).is_file():
            try:
                results.append(mitigation_context(Mitigation.load(folder)))
            except BadInput as error:
                notes.append(board.shelf.plain(error))
    return page("mitigated.html", results=results, notes=notes)


@router.get("/peers")
def peers_page(board: Board) -> Response:
    """Results of other tools in the folder, or in folders directly in it, each beside our readings of the same."""
    root = board.shelf.folder
    results, notes = list[peers.PeerResult](), list[str]()
    for folder in (root, *sorted(path for path in root.iterdir() if path.is_dir())):
        if (folder / peers.FILE).is_file():
            try:
                results += peers.load_peer_results(folder)
            except BadInput as error:
                notes.append(board.shelf.plain(error))
    entries = board.shelf.look().entries if results else []
    rows = [
        (one, [entry for entry in entries if entry.reading.probe == one.probe and one.is_of(entry.reading.model)])
        for one in results
    ]
    return page("peers.html", rows=rows, notes=notes, folder=root.name)


@router.get("/jobs")
def jobs_page(board: Board, model: Keys = None, suite: Text = "default") -> Response:
    return _jobs_page(board, {"model": model or [], "suite": [suite]})


@router.post("/jobs")
def start_job(board: Board, form: Form) -> Response:
    try:
        models = [*form.get("model", []), *_typed(form)]
        job = board.start_audit(form.get("name", [""])[-1], models, form.get("suite", [""])[-1])
    except TiltmeterError as error:
        return _jobs_page(board, form, error)
    return RedirectResponse(f"/jobs/{job.id}", status_code=303)


@router.get("/jobs/{id}")
def job_page(board: Board, id: str) -> Response:
    started = board.jobs.job(id)
    # As it is now: the audit continues while the page is made.
    return page("job.html", job=started, log=tuple(started.log))


@router.post("/jobs/{id}/cancel")
def cancel_job(board: Board, id: str) -> Response:
    board.jobs.cancel(id)
    return RedirectResponse(f"/jobs/{id}", status_code=303)


def _jobs_page(board: Dashboard, form: dict[str, list[str]], error: TiltmeterError | None = None) -> Response:
    now = datetime.datetime.now(datetime.UTC)
    models, chosen = board.offered(), form.get("model", [])
    # A model that is not on the list was typed, in this form or for the audit that is run again.
    offered = {model.spec for model in models}
    typed = [without_passwords(spec) for spec in (*_typed(form), *chosen) if spec not in offered]
    return page(
        "jobs.html",
        status=400 if error else 200,
        problem=board.shelf.plain(error) if error else "",
        jobs=board.jobs.all(),
        models=models,
        any_model=board.any_model,
        examples=examples(board.offer.allow_paid),
        suites=board.suites(),
        name=form.get("name", [f"audit-{now:%Y%m%d-%H%M%S}"])[-1],
        chosen=chosen,
        typed=typed,
        suite=form.get("suite", ["default"])[-1],
    )


def _typed(form: dict[str, list[str]]) -> list[str]:
    """Specs of models, one per line."""
    return [spec for spec in map(str.strip, form.get("specs", [""])[-1].splitlines()) if spec]
