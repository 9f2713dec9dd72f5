"""Starting an audit, watching it, and stopping it."""

from __future__ import annotations

import datetime

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from tiltmeter.errors import BadInput, TiltmeterError
from tiltmeter.run.suite import suite_summaries
from tiltmeter.web.dashboard import Board, Dashboard, Form, page
from tiltmeter.web.jobs import Job

router = APIRouter(prefix="/jobs", include_in_schema=False, default_response_class=HTMLResponse)


@router.get("")
def jobs(board: Board) -> Response:
    return _page(board, {}, "")


@router.post("")
def start(board: Board, form: Form) -> Response:
    try:
        job = start_audit(board, form.get("name", [""])[-1], form.get("model", []), form.get("suite", [""])[-1])
    except TiltmeterError as error:
        return _page(board, form, board.shelf.plain(error), status=400)
    return RedirectResponse(f"/jobs/{job.id}", status_code=303)


@router.get("/{id}")
def job(board: Board, id: str) -> Response:
    started = board.jobs.job(id)
    # As they are now: the audit continues to print while the page is made.
    return page("job.html", job=started, lines=tuple(started.lines))


@router.post("/{id}/cancel")
def cancel(board: Board, id: str) -> Response:
    board.jobs.cancel(id)
    return RedirectResponse(f"/jobs/{id}", status_code=303)


def start_audit(board: Dashboard, name: str, models: list[str], suite: str) -> Job:
    """Start an audit of models and a suite that are on offer."""
    if suite not in suites(board):
        raise BadInput("that suite is not on offer: take one of the list")
    return board.jobs.start(
        name, [board.offer.whole(board.check_model(spec)) for spec in models], suite_place(board, suite)
    )


def suites(board: Dashboard) -> dict[str, str]:
    """The suites that come with tiltmeter, and YAML files in the folder, each with what it holds."""
    shipped = {suite["suite"]: f"{suite['probes']} probes: {suite['description']}" for suite in suite_summaries()}
    files = (path for path in sorted(board.shelf.folder.glob("*.y*ml")) if path.is_file() and not path.is_symlink())
    return shipped | {path.name: "a file in the folder" for path in files if path.suffix in (".yaml", ".yml")}


def suite_place(board: Dashboard, suite: str) -> str:
    return str(board.shelf.folder / suite) if suite.endswith((".yaml", ".yml")) else suite


def _page(board: Dashboard, form: dict[str, list[str]], problem: str, *, status: int = 200) -> Response:
    now = datetime.datetime.now(datetime.UTC)
    return page(
        "jobs.html",
        status=status,
        jobs=board.jobs.all(),
        models=board.offered(),
        suites=suites(board),
        name=form.get("name", [f"audit-{now:%Y%m%d-%H%M%S}"])[-1],
        chosen=form.get("model", []),
        suite=form.get("suite", ["default"])[-1],
        problem=problem,
    )
