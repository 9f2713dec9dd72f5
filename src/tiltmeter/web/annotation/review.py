"""Pages on which a person accepts or rejects the rows of a draft, and mends them."""

from __future__ import annotations

import dataclasses
import threading
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from tiltmeter.stimuli.annotation.rules import PLACE, broken_rule
from tiltmeter.stimuli.datasets.draft_file import CONTEXTS, Decision, DraftRow, read_draft, write_draft
from tiltmeter.stimuli.languages.language import language
from tiltmeter.stimuli.text import normalise
from tiltmeter.web.annotation.annotation_app import annotation_app
from tiltmeter.web.dashboard import Form, page
from tiltmeter.web.security import DashboardSettings, Guard
from tiltmeter.web.shelf import NotHere

Place = Annotated[int | None, Query(ge=1, le=1_000_000)]
_DECIDED: dict[str, Decision] = {"yes": "yes", "anyway": "yes", "no": "no", "later": ""}


@dataclasses.dataclass(frozen=True, slots=True)
class Review:
    """The draft that is looked at. It is read again for every page: somebody may have it open in a spreadsheet."""

    file: Path
    lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)

    def decide(self, id: str, decision: str, sentence: str, contexts: dict[str, str]) -> str | None:
        """Store what was decided of a row as it was mended; or say what keeps it from being accepted."""
        with self.lock:
            rows = list(read_draft(self.file))
            places = [place for place, row in enumerate(rows) if row.id == id]
            if not places or decision not in _DECIDED:
                raise NotHere("that row is no longer in the draft: go back to the start")
            mended = dataclasses.replace(rows[places[0]], sentence=sentence, contexts=contexts)
            if decision != "no" and (problem := _unusable(mended)):
                return problem
            if decision == "yes" and (problem := rule_of(mended)):
                return problem
            keep = rows[places[0]] if _unusable(mended) else mended
            rows[places[0]] = dataclasses.replace(keep, decision=_DECIDED[decision])
            write_draft(self.file, rows)
        return None


def _unusable(row: DraftRow) -> str | None:
    """What no cloze set can do without."""
    if row.sentence.count(PLACE) != 1:
        return f"the sentence needs {PLACE} once, where the pronoun stands"
    return None if row.contexts else "no context word: fill in the occupation, the noun or the verb"


def rule_of(row: DraftRow) -> str | None:
    """The rule that a row breaks, if it breaks one."""
    return broken_rule(row.sentence, row.contexts, row.pronouns, language(row.language))


def review_app(review: Review, settings: DashboardSettings) -> Guard:
    """The pages of a draft, ready for a server."""
    read_draft(review.file)
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @router.get("/")
    def show(n: Place = None) -> Response:
        return _page(review, n)

    @router.post("/rows/{id}")
    def decide(id: str, form: Form) -> Response:
        fields = {name: normalise(values[-1]) for name, values in form.items()}
        contexts = {name: fields[name] for name in CONTEXTS if fields.get(name)}
        sentence = fields.get("sentence", "")
        problem = review.decide(id, fields.get("decision", ""), sentence, contexts)
        if problem is None:
            return RedirectResponse("/", status_code=303)
        rows = read_draft(review.file)
        place = next(place for place, row in enumerate(rows, 1) if row.id == id)
        return _page(review, place, problem=problem, sentence=sentence, contexts=contexts)

    return annotation_app(router, settings)


def _page(
    review: Review, n: int | None, *, problem: str = "", sentence: str = "", contexts: dict[str, str] | None = None
) -> Response:
    rows = read_draft(review.file)
    waiting = [place for place, row in enumerate(rows, 1) if not row.decision]
    counts = {decision: sum(row.decision == decision for row in rows) for decision in ("yes", "no", "")}
    place = n if n is not None and n <= len(rows) else next(iter(waiting), None)
    about: dict[str, Any] = {"file": review.file.name, "total": len(rows), "counts": counts}
    if place is None:
        return page("review_done.html", **about)
    row = rows[place - 1]
    shown = row if not problem else dataclasses.replace(row, sentence=sentence, contexts=contexts or {})
    return page(
        "review.html",
        status=400 if problem else 200,
        **about,
        place=place,
        row=shown,
        contexts=CONTEXTS,
        problem=problem,
        may_insist=bool(problem) and _unusable(shown) is None,
        next_waiting=next((each for each in waiting if each > place), None),
    )
