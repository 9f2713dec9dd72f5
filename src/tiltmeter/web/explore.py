"""Questions typed by a reader: what stands at a mask, and how words of one's own lean; and their page."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from tiltmeter.errors import BadInput, TiltmeterError
from tiltmeter.models import CachedModel, Question
from tiltmeter.models.protocol import Blank, Continuation, Fill
from tiltmeter.probes import make_probes
from tiltmeter.readings import Reading
from tiltmeter.run.probe import run_probes, stored
from tiltmeter.statistics import Result
from tiltmeter.stimuli import Group
from tiltmeter.stimuli.sentences.sentence import MASK
from tiltmeter.stimuli.text import normalise
from tiltmeter.views.rows import ReadingRow
from tiltmeter.web.dashboard import Board, Dashboard, Form, page
from tiltmeter.web.jobs import Busy
from tiltmeter.web.offer import Offer

MOST_WORDS, MOST_LETTERS, MOST_TEXT = 300, 80, 2_000
_TOP = 10


@dataclasses.dataclass(frozen=True, slots=True)
class Candidate(Result):
    """A word at the mask: how probable, and its share among the words that were compared."""

    word: str
    probability: float
    share: float


@dataclasses.dataclass(frozen=True, slots=True)
class MaskAnswer(Result):
    """What a language model expects. ``top`` are a masked model's own words; ``whole`` compares whole sentences."""

    model: str
    sentence: str
    kind: str
    candidates: tuple[Candidate, ...]
    top: tuple[tuple[str, float], ...] = ()
    whole: tuple[Candidate, ...] = ()


def ask_sentence(offer: Offer, spec: str, sentence: str, words: Sequence[str]) -> MaskAnswer:
    """What the model expects at the mask of a sentence, of these words and of all it knows."""
    text = " ".join(sentence.split())
    if text.count(MASK) != 1:
        raise BadInput(f"the sentence must hold one {MASK}, and it holds {text.count(MASK)}")
    if len(text) > MOST_TEXT:
        raise BadInput(f"the sentence has {len(text):,} letters: at most {MOST_TEXT:,} are taken")
    if not 1 <= len(words) <= 20:
        raise BadInput("give one to twenty words to compare at the mask")
    start = text.index(MASK)
    if start == 0:
        words = [word[:1].upper() + word[1:] for word in words]
    with offer.busy, stored(True) as store:
        model = CachedModel(offer.loaded(spec), store)
        if model.answers_question(Question.FILLS):
            return _masked(model, spec, text, start, words)
        if model.answers_question(Question.CONTINUATIONS):
            return _causal(model, spec, text, start, words)
    raise BadInput(f"{spec} is not a language model, so it expects nothing at a mask: ask it about word lists instead")


def _masked(model: CachedModel, spec: str, text: str, start: int, words: Sequence[str]) -> MaskAnswer:
    fill = Fill(text, start, start + len(MASK), tuple(words))
    answer = model.answers(Question.FILLS, [fill])[fill]
    best: tuple[tuple[str, float], ...] = ()
    if model.answers_question(Question.LIKELIEST):
        blank = Blank.of(text, MASK, k=_TOP)
        likeliest = model.answers(Question.LIKELIEST, [blank])[blank]
        best = tuple(zip(likeliest.words, map(math.exp, likeliest.logprobs), strict=True))
    return MaskAnswer(spec, text, "masked", _candidates(words, answer.logprobs), best)


def _causal(model: CachedModel, spec: str, text: str, start: int, words: Sequence[str]) -> MaskAnswer:
    """A causal model sees what stands before the mask; what stands after it enters with the whole sentence."""
    stem, rest = text[:start].rstrip(), text[start + len(MASK) :]
    if not stem:
        raise BadInput(f"{spec} reads from left to right: put some words before {MASK}")
    item = Continuation(stem, tuple(f" {word}" for word in words))
    answer = model.answers(Question.CONTINUATIONS, [item])[item]
    whole: tuple[Candidate, ...] = ()
    if rest.strip():
        ends = Continuation(stem, tuple(f" {word}{rest}" for word in words))
        whole = _candidates(words, model.answers(Question.CONTINUATIONS, [ends])[ends].logprobs)
    return MaskAnswer(spec, text, "causal", _candidates(words, answer.logprobs), (), whole)


def _candidates(words: Sequence[str], logprobs: Sequence[float]) -> tuple[Candidate, ...]:
    most = max(logprobs)
    shares = [math.exp(logprob - most) for logprob in logprobs]
    total = sum(shares)
    rows = zip(words, logprobs, shares, strict=True)
    return tuple(Candidate(word, math.exp(logprob), share / total) for word, logprob, share in rows)


def ask_words(offer: Offer, spec: str, lists: Sequence[tuple[str, Sequence[str]]]) -> Reading:
    """How words lean between two poles: ``lists`` are two targets (the second may be empty) and two attributes.

    Two targets give WEAT's effect size, one alone its place on the axis between the poles.
    """
    groups = [Group.of(f"typed.{label}", words, label=label) if words else None for label, words in lists]
    first, second, *poles = groups
    if first is None or any(pole is None for pole in poles):
        raise BadInput("fill in the first list of words and both poles; the second list may stay empty")
    targets = [first, second] if second else [first]
    probes = make_probes("weat" if second else "semaxis", id="explored", targets=targets, attributes=poles)
    with offer.busy:
        return run_probes(probes, offer.loaded(spec), progress=False)[0]


def word_list(text: str) -> list[str]:
    """The words of a list as people type one.

    >>> word_list("nurse, doctor\\n\\n doctor;chef ")
    ['nurse', 'doctor', 'chef']
    """
    words = list(dict.fromkeys(filter(None, map(normalise, re.split(r"[,;\n]+", text)))))
    if len(words) > MOST_WORDS:
        raise BadInput(f"a list of {len(words):,} words is too long: the limit is {MOST_WORDS}")
    long = next((word for word in words if len(word) > MOST_LETTERS), None)
    if long:
        raise BadInput(f"'{long[:20]}…' has {len(long)} letters: the limit for a word is {MOST_LETTERS}")
    return words


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
        return _page(board, typed, problem=board.shelf.plain(error), status=_status(error))
    return _page(board, typed, answer=answer)


@router.post("/words")
def words(board: Board, form: Form) -> Response:
    typed = {name: form.get(name, [""])[-1] for name in ("model", *LISTS, *(f"{name}_group" for name in LISTS))}
    try:
        spec = board.check_model(typed["model"])
        reading = ask_words(board.offer, spec, [_list(board, typed, name) for name in LISTS])
    except TiltmeterError as error:
        return _page(board, typed, problem=board.shelf.plain(error), status=_status(error))
    row = ReadingRow(reading, reading.title)
    return _page(board, typed, reading=row, items=reading.units())


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


def _status(error: TiltmeterError) -> int:
    return 409 if isinstance(error, Busy) else 400


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
