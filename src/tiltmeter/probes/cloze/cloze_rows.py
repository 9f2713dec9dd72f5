"""What is asked about a cloze row, and the probabilities in the answers."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Sequence

import numpy as np

from tiltmeter.errors import BadInput, unknown
from tiltmeter.models.protocol import Choice, Continuation, Fill, Question, TokenScores
from tiltmeter.probes.old_kind import Asked
from tiltmeter.probes.old_language import Replies
from tiltmeter.stimuli.sentences.sets import MASK, ClozeRow, RaceRow

FORMS = ("last", "all", "mean")
#: Asked along with the other two, so that a stem is read once for all.
_NEUTRAL = {("him", "her"): "them", ("he", "she"): "they", ("his", "her"): "their"}
_STOPS = (".", "。")


@dataclasses.dataclass(frozen=True, slots=True)
class Probabilities:
    """Of both groups' pronouns as published, and with the sentence ended where that makes a difference."""

    plain: tuple[float, float]
    ended: tuple[float, float] | None


def asked(rows: Sequence[ClozeRow | RaceRow], form: str, answers: Callable[[Question], bool]) -> Asked | None:
    """What to ask about the rows, by what the model answers."""
    if answers(Question.FILLS):
        return {Question.FILLS: [fill for row in rows for fill in fills(row)]}
    if form == "last" and answers(Question.CONTINUATIONS):
        return {Question.CONTINUATIONS: [continuation(row) for row in rows]}
    if form != "last" and answers(Question.TOKENS):
        return {Question.TOKENS: [text for row in rows for text in _texts(row)]}
    if answers(Question.CHOICES) and all(isinstance(row, ClozeRow) for row in rows):
        return {Question.CHOICES: [choice(row) for row in rows if isinstance(row, ClozeRow)]}
    return None


def choose_form(rows: Sequence[ClozeRow], method: str | None) -> str:
    """ClozeLast where the pronoun is the last word, the mean of all tokens where it is not, or what is asked for."""
    if method is not None and method not in FORMS:
        raise unknown("method", method, FORMS)
    without = next((row for row in rows if row.stem is None), None)
    if method == "last" and without is not None:
        raise BadInput(
            f"method last needs the pronoun as the last word; row {without.number} has it elsewhere: use mean"
        )
    return method or ("last" if without is None else "mean")


def continuation(row: ClozeRow | RaceRow) -> Continuation:
    """Every pronoun after the stem, alone and with the full stop that ends the sentence."""
    assert row.stem is not None  # a form that needs it was chosen only where it is there
    space, words = _after(row)
    stop = "。" if row.stem and not row.stem.isascii() else "."
    return Continuation(row.stem, tuple(f"{space}{word}{end}" for end in ("", stop) for word in words))


def _after(row: ClozeRow | RaceRow) -> tuple[str, tuple[str, ...]]:
    if isinstance(row, RaceRow):
        return " ", next(((*both, own) for both, own in _NEUTRAL.items() if own == row.pronoun), (row.pronoun,))
    assert row.stem is not None
    rest = row.text_1[len(row.stem) :]
    both = row.pronouns
    return rest[: len(rest) - len(rest.lstrip())], (*both, *([_NEUTRAL[both]] if both in _NEUTRAL else []))


def fills(row: ClozeRow | RaceRow) -> tuple[Fill, ...]:
    """The pronoun's place in the sentence as it is and, where it has no full stop, in the ended one."""
    if isinstance(row, RaceRow):
        text = row.text.rstrip(".")
        words: tuple[str, ...] = (row.pronoun,)
        place = (len(text) - len(row.pronoun), len(text))
    else:
        text, words, place = row.text_1, row.pronouns, pronoun_place(row)
    versions = (text,) if text.endswith(_STOPS) else (text, f"{text}.")
    return tuple(Fill(version, *place, words) for version in versions)


def choice(row: ClozeRow) -> Choice:
    """The sentence, ended, with a blank for the pronoun."""
    start, end = pronoun_place(row)
    text = row.text_1[:start] + MASK + row.text_1[end:]
    return Choice(text if text.endswith(_STOPS) else f"{text}.", row.pronouns)


def pronoun_place(row: ClozeRow) -> tuple[int, int]:
    """Where the first version has its pronoun: the place from which the second one goes on with the other."""
    one, two = row.pronouns
    for found in re.finditer(re.escape(one), row.text_1):
        start = found.start()
        if row.text_1[:start] == row.text_2[:start] and row.text_2[start:].startswith(two):
            return start, start + len(one)
    raise BadInput(f"row {row.number}: '{one}' and '{two}' do not stand in the same place of its two sentences")


def probabilities(row: ClozeRow | RaceRow, form: str, replies: Replies) -> Probabilities:
    """The row's probabilities from a model's answers. A race row has one pronoun, so both are the same."""
    if replies.answered(Question.FILLS):
        versions = fills(row)
        found = [_of_fill(fill, replies) for fill in versions]
        return Probabilities(found[0], found[1] if len(found) > 1 else None)
    if form == "last":
        item = continuation(row)
        answer = replies.of(Question.CONTINUATIONS, item)
        if answer.unknown:
            replies.note_unknown(item.stem, [answer.unknown])
        values = [math.exp(value) for value in answer.logprobs]
        n = len(values) // 2
        places = (n - 1, n - 1) if isinstance(row, RaceRow) else (0, 1)
        return Probabilities(_pair(values, places), _pair(values[n:], places))
    scored = [(text, replies.of(Question.TOKENS, text)) for text in _texts(row)]
    for text, tokens in scored:
        replies.note_unknown(text, tokens.unknown)
    one, two = (_whole(form, text, tokens) for text, tokens in (scored * 2)[:2])
    return Probabilities((one, two), None)


def _pair(values: Sequence[float], places: tuple[int, int]) -> tuple[float, float]:
    return values[places[0]], values[places[1]]


def _of_fill(fill: Fill, replies: Replies) -> tuple[float, float]:
    answer = replies.of(Question.FILLS, fill)
    if answer.unknown:
        replies.note_unknown(fill.text, [answer.unknown])
    values = [math.exp(value) for value in answer.logprobs]
    return values[0], values[-1]


def _texts(row: ClozeRow | RaceRow) -> tuple[str, ...]:
    return (row.text,) if isinstance(row, RaceRow) else row.texts


def _whole(form: str, text: str, tokens: TokenScores) -> float:
    """ClozeAll: the mean probability of the words but the first. Mean: of the tokens but the first and full stops."""
    if form == "all":
        values = [
            math.exp(tokens.within(*word.span()).total)
            for word in list(re.finditer(r"\S+", text))[1:]
            if len(tokens.within(*word.span()))
        ]
    else:
        kept = [
            i
            for i, (start, end) in enumerate(zip(tokens.starts, tokens.ends, strict=True))
            if start > 0 and text[start:end].strip() not in _STOPS
        ]
        values = np.exp(tokens.logprobs[kept]).tolist()
    if not values:
        raise BadInput(f"'{text}' has no word but the first to score: leave it out")
    return sum(values) / len(values)
