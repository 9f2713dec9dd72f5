"""What the measures of vectors say of every occupation: WEAT of words alone and in context, SEAT, CEAT."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

import numpy as np

from tiltmeter import measures
from tiltmeter.lab.calibrate.leans import PERMUTATIONS, Judge, Judged, Leans, Men, columns_of
from tiltmeter.lab.reference.frames import columns, frames, mark_spans, occupation_span
from tiltmeter.measures.geometry import leans as leans_of
from tiltmeter.measures.geometry import unit
from tiltmeter.models import CachedModel
from tiltmeter.models.protocol import Question, Span
from tiltmeter.statistics.groups import Floats

T = TypeVar("T")

_EFFECT = "effect size d"
#: Draws of CEAT; its effect is steady to the second digit.
_DRAWS = 200


def vector_leans(model: CachedModel, occupations: Sequence[str]) -> list[Leans]:
    """Every measure of vectors, published and corrected where they differ."""
    named = columns(frames().plain)
    inside = [[occupation_span(frame, word) for _, frame in named] for word in occupations]
    marks = [mark_spans(side) for side in (0, 1)]
    alone = [[Span(each.word.lower(), 0, len(each.word)) for each in side] for side in marks]
    words = [Span(word, 0, len(word)) for word in occupations]
    whole = [[Span(span.text, 0, 0) for span in row] for row in inside]
    whole_marks = [[Span(span.text, 0, 0) for span in side] for side in marks]
    spans = [*words, *(span for rows in (inside, marks, alone, whole, whole_marks) for row in rows for span in row)]
    found = model.answers(Question.SPANS, spans)

    def vectors(rows: Sequence[Sequence[Span]]) -> Floats:
        return np.array([[found[span] for span in row] for row in rows], dtype=np.float64)

    sets = tuple(name for name, _ in named)
    in_context, sentences = vectors(inside), vectors(whole)
    return [
        _weat("WEAT (word alone)", vectors([words])[0], *vectors(alone), of_sets={}),
        _weat("WEAT (in context)", _mean(in_context), *vectors(marks), of_sets=_means(in_context, sets)),
        *_seat(sentences, *vectors(whole_marks), sets=sets),
        *_ceat(in_context, *vectors(marks), sets=sets),
    ]


def _mean(vectors: Floats) -> Floats:
    """Of unit vectors, so that no context counts more for being longer."""
    return np.stack([unit(each).mean(axis=0) for each in vectors])


def _means(vectors: Floats, sets: Sequence[str]) -> dict[str, Floats]:
    named = np.array(sets)
    return {name: _mean(vectors[:, named == name]) for name in dict.fromkeys(sets)}


def _weat(name: str, vectors: Floats, a: Floats, b: Floats, *, of_sets: Mapping[str, Floats]) -> Leans:
    def judge(men: Men) -> Judged:
        found = measures.weat(vectors[men], vectors[~men], a, b, permutations=PERMUTATIONS)
        return Judged(found.effect_size, found.p_value)

    values, *by_set = (leans_of(each, a, b)[:, None] for each in (vectors, *of_sets.values()))
    return Leans(name, "corrected", _EFFECT, values, dict(zip(of_sets, by_set, strict=True)), True, judge)


def _once(judged: Callable[[Men], T]) -> Callable[[Men], T]:
    """The same with its last answers kept: both forms of a measure come out of one computation."""
    kept: dict[bytes, T] = {}

    def answer(men: Men) -> T:
        key = men.tobytes()
        if key not in kept:
            kept[key] = judged(men)
        return kept[key]

    return answer


def _by_sentence(vectors: Floats, a: Floats, b: Floats) -> Floats:
    n, sentences, width = vectors.shape
    return leans_of(vectors.reshape(-1, width), a, b).reshape(n, sentences)


def _seat(vectors: Floats, a: Floats, b: Floats, *, sets: tuple[str, ...]) -> list[Leans]:
    _, sentences, width = vectors.shape

    @_once
    def judged(men: Men) -> measures.AssociationResult:
        one, two = (vectors[side].reshape(-1, width) for side in (men, ~men))
        units = [np.repeat(np.arange(side.sum()), sentences).tolist() for side in (men, ~men)]
        return measures.association(one, two, a, b, units_1=units[0], units_2=units[1], permutations=PERMUTATIONS)

    def published(men: Men) -> Judged:
        found = judged(men).published
        return Judged(found.effect_size, found.p_value)

    def corrected(men: Men) -> Judged:
        found = judged(men)
        return Judged(found.effect_size, found.p_value)

    values = _by_sentence(vectors, a, b)
    return [
        Leans("SEAT", "published", _EFFECT, values, columns_of(values, sets), True, published),
        Leans("SEAT", "corrected", _EFFECT, values, columns_of(values, sets), True, corrected),
    ]


def _ceat(vectors: Floats, a: Floats, b: Floats, *, sets: tuple[str, ...]) -> list[Leans]:
    marks = [each[:, None] for each in (a, b)]  # every word that says a group stands in one sentence

    @_once
    def judged(men: Men) -> measures.CeatResult:
        one, two = (list(vectors[side]) for side in (men, ~men))
        return measures.ceat(one, two, list(marks[0]), list(marks[1]), draws=_DRAWS, permutations=PERMUTATIONS)

    def published(men: Men) -> Judged:
        found = judged(men)
        return Judged(found.effect_size, found.p_value)

    def corrected(men: Men) -> Judged:
        found = judged(men).repaired
        return Judged(found.effect_size, found.p_value)

    values = _by_sentence(vectors, a, b)
    forms: tuple[tuple[str, Judge], ...] = (("published", published), ("corrected", corrected))
    return [
        Leans(
            "CEAT",
            "published" if form == "published" else "corrected",
            _EFFECT,
            values,
            columns_of(values, sets),
            True,
            judge,
        )
        for form, judge in forms
    ]
