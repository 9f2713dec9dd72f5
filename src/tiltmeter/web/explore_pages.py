"""The page to ask models something of one's own: a sentence with a mask, or lists of words."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from tiltmeter.errors import TiltmeterError
from tiltmeter.views.rows import ReadingRow, unit_values
from tiltmeter.web.dashboard import Board, Dashboard, Form, page
from tiltmeter.web.explore import ask_sentence, ask_words, word_list

router = APIRouter(prefix="/explore", include_in_schema=False, default_response_class=HTMLResponse)

#: The lists of a question, with what they are called and what they hold at first.
LISTS = {
    "x": ("First words", "engineer, mechanic, pilot, programmer, carpenter"),
    "y": ("Second words (may stay empty)", "nurse, teacher, librarian, receptionist, hairdresser"),
    "a": ("First pole", "he, him, his, man, father, brother"),
    "b": ("Second pole", "she, her, hers, woman, mother, sister"),
}
_SENTENCE = {"sentence": "The nurse said that [MASK] was tired.", "words": "he, she"}


@router.get("")
def explore(board: Board, model: str = "") -> Response:
    return _page(board, {"model": model})


@router.post("/sentence")
def sentence(board: Board, form: Form) -> Response:
    typed = {name: form.get(name, [""])[-1] for name in ("model", "sentence", "words")}
    try:
        spec = board.check_model(typed["model"])
        answer = ask_sentence(board.offer, spec, typed["sentence"], word_list(typed["words"]))
    except TiltmeterError as error:
        return _page(board, typed, problem=board.shelf.plain(error), status=400)
    return _page(board, typed, answer=answer)


@router.post("/words")
def words(board: Board, form: Form) -> Response:
    typed = {name: form.get(name, [""])[-1] for name in ("model", *LISTS, *(f"{name}_group" for name in LISTS))}
    try:
        spec = board.check_model(typed["model"])
        reading = ask_words(board.offer, spec, [_list(board, typed, name) for name in LISTS])
    except TiltmeterError as error:
        return _page(board, typed, problem=board.shelf.plain(error), status=400)
    row = ReadingRow(reading, reading.title, reading.effect.p_value)
    return _page(board, typed, reading=row, items=unit_values(reading))


@router.post("/lexicon")
def lexicon(board: Board, form: Form) -> Response:
    """A lexicon pasted as text; a file goes the same way, by the script of the page."""
    try:
        board.lexicons.add(form.get("yaml", [""])[-1].encode())
    except TiltmeterError as error:
        return _page(board, {}, problem=board.shelf.plain(error), status=400)
    return RedirectResponse("/explore#words", status_code=303)


def _list(board: Dashboard, typed: dict[str, str], name: str) -> tuple[str, list[str]]:
    """What was typed, or else the group that was chosen; called by its first words, or by the group's name."""
    words = word_list(typed[name])
    chosen = typed[f"{name}_group"]
    if chosen and not words:
        group = board.lexicons.group(chosen)
        return group.label, list(group.texts)
    shown = ", ".join(words[:3])
    return f"{shown} …" if len(words) > 3 else shown, words


def _page(board: Dashboard, typed: dict[str, str], *, status: int = 200, **answers: Any) -> Response:
    usual = {**_SENTENCE, **{name: text for name, (_, text) in LISTS.items()}, "model": ""}
    return page(
        "explore.html",
        status=status,
        models=board.offered(),
        typed={**usual, **typed},
        lists={name: label for name, (label, _) in LISTS.items()},
        groups=board.lexicons.groups(),
        **{"problem": "", "answer": None, "reading": None, "items": None, **answers},
    )
