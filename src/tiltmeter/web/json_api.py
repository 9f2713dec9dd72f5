"""The same in JSON, for programs: described at /api/openapi.json."""

from __future__ import annotations

import dataclasses
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response
from pydantic import BaseModel, ConfigDict, Field

from tiltmeter.web.comparisons import Sides, choices, compared
from tiltmeter.web.dashboard import AskedFilters, Board, EscapedJson, Text, page
from tiltmeter.web.downloads import audit_formats
from tiltmeter.web.explore import MOST_TEXT, MOST_WORDS, ask_sentence, ask_words, word_list
from tiltmeter.web.listing import Entry, matching_items
from tiltmeter.web.shelf import StoredAudit

router = APIRouter(prefix="/api", tags=["api"], default_response_class=EscapedJson)

Values = dict[str, Any]
Start = Annotated[int, Query(ge=0)]
Most = Annotated[int, Query(ge=0, le=10_000)]
Words = Annotated[list[str], Field(max_length=MOST_WORDS)]


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SentenceQuestion(_Body):
    """A sentence with one [MASK], and words to compare there."""

    model: str
    sentence: str = Field(max_length=MOST_TEXT)
    words: Words = ["he", "she"]


class WordsQuestion(_Body):
    """One or two lists of words, and two poles between which they lean."""

    model: str
    x: Words
    y: Words = []
    a: Words
    b: Words


class NewAudit(_Body):
    """An audit to start; its results go into a folder of that name."""

    name: str
    models: list[str]
    suite: str = "default"


@router.get("", include_in_schema=False, response_class=HTMLResponse)
def described(request: Request) -> Response:
    return page("api.html", schema=request.app.openapi())


@router.get("/audits")
def audits(board: Board) -> Values:
    """The audits of the folder, and what could not be read."""
    shown = board.shelf.look()
    return {"audits": [_audit(stored) for stored in shown.audits], "notes": list(shown.notes)}


@router.get("/audits/{audit}")
def audit(board: Board, audit: str) -> Values:
    """One audit: the grid of dimensions and models, its readings without items, and what was not measured."""
    stored = board.shelf.look().audit(audit)
    values = stored.audit.to_dict()
    rows = [{**row, "file": entry.file} for row, entry in zip(values["readings"], stored.entries, strict=True)]
    return {
        **_audit(stored),  # "readings" becomes the rows themselves
        "summary": stored.summary.to_dict(),
        "readings": rows,
        "skipped": values["skipped"],
        "downloads": {name: f"/audits/{stored.name}/download/{name}" for name in audit_formats()},
    }


@router.get("/readings")
def readings(board: Board, filters: AskedFilters) -> list[Values]:
    """Readings of all audits without their items, filtered as on the first page: one row per reading.

    ``verdict`` is clear, suggestive, undecided, level or untested; of a control ``works``, ``does not work`` or
    ``undecided``.
    """
    return [_short(entry) for entry in filters.chosen(board.shelf.look().entries)]


@router.get("/audits/{audit}/readings/{file}")
def reading(board: Board, audit: str, file: str, q: Text = "", start: Start = 0, most: Most = 1000) -> Values:
    """One reading with its items, or a part of them: schema 2, as it is stored.

    ``effect`` and ``published`` have a ``scale`` (d, share, correlation, eta, difference, coherence, distance, size),
    from which level and direction follow; ``poles`` say what lies above and below level, ``statistic`` how the effect
    follows from the items. Every item has ``label``, ``unit``, ``group``, ``value`` and further columns. ``p_holm`` is
    the p-value after Holm's correction for the tests of its model, ``n_matching`` how many items hold the words of
    ``q``.
    """
    entry, whole = board.shelf.reading(audit, file)
    items = matching_items(whole.items, q)
    values = dataclasses.replace(whole, items=tuple(items[start : start + most])).to_dict()
    return {**values, "p_holm": entry.row.verdict.p_corrected, "n_matching": len(items)}


@router.get("/compare")
def compare(board: Board, side: Sides = None) -> Values:
    """Two to six models side by side by their keys; without keys, the models there are."""
    shown = board.shelf.look()
    if not side:
        return {"sides": [dataclasses.asdict(choice) for choice in choices(shown)]}
    comparisons = compared(board, shown, side)
    left = [
        {"first": pair.first, "second": pair.second, "probes": {left.id: left.reason for left in pair.not_compared}}
        for pair in comparisons.pairs
        if pair.not_compared
    ]
    return {"rows": comparisons.rows(), "not_compared": left}


@router.get("/models")
def models(board: Board) -> list[Values]:
    """The models that may be asked."""
    return [dataclasses.asdict(offered) for offered in board.offered()]


@router.get("/suites")
def suites_on_offer(board: Board) -> dict[str, str]:
    """The suites an audit can be started with."""
    return board.suites()


@router.post("/explore/sentence")
def sentence(board: Board, question: SentenceQuestion) -> Values:
    """What a language model expects at the mask of a sentence."""
    spec = board.check_model(question.model)
    return ask_sentence(board.offer, spec, question.sentence, word_list("\n".join(question.words))).to_dict()


@router.post("/explore/words")
def words(board: Board, question: WordsQuestion) -> Values:
    """How lists of words lean between two poles: a reading that is not stored."""
    spec = board.check_model(question.model)
    lists = [(name, word_list("\n".join(getattr(question, name)))) for name in ("x", "y", "a", "b")]
    return ask_words(board.offer, spec, lists).to_dict()


@router.get("/lexicons")
def lexicons(board: Board) -> Values:
    """Groups of words by address."""
    return {name: {"label": group.label, "words": len(group.words)} for name, group in board.lexicons.groups().items()}


@router.get("/lexicons/{address}")
def group(board: Board, address: str) -> Values:
    """The words of a group."""
    chosen = board.lexicons.group(address)
    return {"label": chosen.label, "language": chosen.language, "words": list(chosen.texts)}


@router.post(
    "/lexicons",
    openapi_extra={"requestBody": {"content": {"application/yaml": {"schema": {"type": "string"}}}, "required": True}},
)
async def add_lexicon(board: Board, request: Request) -> Values:
    """A lexicon of one's own in YAML, to explore with; it is kept until the dashboard stops."""
    lexicon = board.lexicons.add(await request.body())
    groups = {f"own_{lexicon.name}.{key}": len(group.words) for key, group in lexicon.groups.items()}
    return {"groups": groups, "warnings": list(lexicon.warnings)}


@router.get("/jobs")
def jobs(board: Board) -> list[Values]:
    """The audits started here, the newest first."""
    return [job.to_dict() for job in board.jobs.all()]


@router.post("/jobs", status_code=201)
def start(board: Board, wanted: NewAudit) -> Values:
    """Start an audit."""
    return board.start_audit(wanted.name, wanted.models, wanted.suite).to_dict()


@router.get("/jobs/{id}")
def job(board: Board, id: str) -> Values:
    """How far an audit has got."""
    return board.jobs.job(id).to_dict()


@router.post("/jobs/{id}/cancel")
def cancel(board: Board, id: str) -> Values:
    """Stop an audit."""
    return board.jobs.cancel(id).to_dict()


def _audit(stored: StoredAudit) -> Values:
    names = {"name": stored.name, "suite": stored.audit.suite, "models": list(stored.audit.models)}
    notes = list(stored.audit.notes)
    return {**names, "readings": len(stored.entries), "finished": stored.finished, "notes": notes}


def _short(entry: Entry) -> Values:
    row, reading, effect = entry.row, entry.reading, entry.reading.effect
    return {
        "audit": entry.audit,
        "file": entry.file,
        **{name: getattr(reading, name) for name in ("model", "id", "probe")},
        "title": row.title,
        "dimension": reading.dimension,
        "is_control": reading.control,
        "verdict": row.verdict.state,
        **{name: getattr(reading, name) for name in ("leans", "direction", "strength")},
        "statistic": effect.name,
        "scale": effect.scale.name,
        **{name: getattr(effect, name) for name in ("value", "level", "p_value")},
        "ci": [effect.ci.low, effect.ci.high] if effect.ci else None,
        "p_holm": row.verdict.p_corrected,
    }
