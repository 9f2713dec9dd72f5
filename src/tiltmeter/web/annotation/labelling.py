"""Pages on which several people say which word they expect, each through a personal link and in a personal order."""

from __future__ import annotations

import csv
import dataclasses
import io
import secrets
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from tiltmeter.errors import BadInput
from tiltmeter.files import write_atomically
from tiltmeter.stimuli.annotation.labels import (
    EITHER,
    LINKS,
    LabelItem,
    Labels,
    LabelTask,
    check_people,
    read_person,
    write_person,
)
from tiltmeter.stimuli.datasets.csv_tables import read_table
from tiltmeter.web.annotation.annotation_app import annotation_app
from tiltmeter.web.dashboard import Form, page
from tiltmeter.web.security import DashboardSettings, Guard
from tiltmeter.web.shelf import NotHere

#: Bytes of chance in a link.
_TOKEN = 24
Place = Annotated[int | None, Query(ge=1, le=1_000_000)]


@dataclasses.dataclass(frozen=True, slots=True)
class Labelling:
    """A folder of labels, the task in it, and who labels by which token, in the order in which they were named."""

    folder: Path
    task: LabelTask
    stage: int
    people: Mapping[str, str]
    lock: threading.Lock = dataclasses.field(default_factory=threading.Lock)

    @classmethod
    def start(cls, folder: Path, task: LabelTask, names: Sequence[str], *, stage: int = 1) -> Labelling:
        """Make the folder ready: the task is stored, and whoever is new gets a link."""
        if stage not in (1, 2):
            raise BadInput(f"stage is 1 (as they think) or 2 (after looking things up), not {stage}")
        before = _read_links(folder)
        names = check_people(names) if names or not before else ()
        check_people([*dict.fromkeys([*before.values(), *names])])
        task.store(folder)
        known = {name: token for token, name in before.items()}
        people = {known.get(name) or secrets.token_urlsafe(_TOKEN): name for name in dict.fromkeys([*known, *names])}
        return cls(folder, task, stage, people)

    def write_links(self, address: str) -> Path:
        """The link of everybody, in a file that only its owner can read."""
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerows(
            [("person", "link"), *((name, f"{address}label/{token}") for token, name in self.people.items())]
        )
        write_atomically(self.folder / LINKS, text.getvalue().encode(), mode=0o600)
        return self.folder / LINKS

    def person(self, token: str) -> str:
        # Every token is compared in the time it takes, whoever's it is.
        names = [name for known, name in self.people.items() if secrets.compare_digest(known.encode(), token.encode())]
        if not names:
            raise NotHere("there is no such page: open the link as it was sent to you")
        return names[0]

    def given(self, person: str) -> Labels:
        return read_person(self.folder, self.task, person)

    def label(self, person: str, item: str, label: str) -> None:
        """Store one answer; a later one to the same item takes its place."""
        if label not in self.task.labels:
            raise BadInput("that is not one of the words: choose one on the page")
        if item not in {each.id for each in self.task.items}:
            raise BadInput("that sentence is not one of these: go back and reload the page")
        with self.lock:
            before = self.given(person)
            write_person(self.folder, self.task, Labels(person, {**before.given, (self.stage, item): label}))

    def choices(self, person: str, item: LabelItem) -> list[tuple[str, str]]:
        """Labels with the words that stand for them, in the order that this person sees."""
        both = list(zip(self.task.groups, item.words, strict=True))
        if self.task.first_group(list(self.people.values()).index(person)):
            both.reverse()
        return [*both, *([(EITHER, "either")] if self.task.either else [])]


def _read_links(folder: Path) -> dict[str, str]:
    file = folder / LINKS
    if not file.is_file():
        return {}
    rows = read_table(file).need("person", "link")
    return {row["link"].rpartition("/")[2]: row["person"] for row in rows}


def labelling_app(labelling: Labelling, settings: DashboardSettings) -> Guard:
    """The pages of a labelling, ready for a server."""
    router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse)

    @router.get("/")
    def welcome() -> Response:
        return page("annotation_error.html", status=404, line="Open the link that was sent to you: it is yours alone.")

    @router.get("/label/{token}")
    def ask(token: str, n: Place = None) -> Response:
        person = labelling.person(token)
        order = labelling.task.order(person, labelling.stage)
        labels = labelling.given(person).stage(labelling.stage)
        waiting = [place for place, item in enumerate(order, 1) if item.id not in labels]
        place = n if n is not None and n <= len(order) else next(iter(waiting), None)
        about: dict[str, Any] = {"token": token, "person": person, "stage": labelling.stage, "total": len(order)}
        done = len(order) - len(waiting)
        if place is None:
            return page("label_done.html", **about)
        item = order[place - 1]
        return page(
            "label.html",
            **about,
            item=item,
            place=place,
            done=done,
            choices=labelling.choices(person, item),
            chosen=labels.get(item.id, ""),
            language=labelling.task.language,
        )

    @router.post("/label/{token}")
    def answer(token: str, form: Form) -> Response:
        person = labelling.person(token)
        labelling.label(person, form.get("item", [""])[-1], form.get("label", [""])[-1])
        return RedirectResponse(f"/label/{token}", status_code=303)

    return annotation_app(router, settings)
