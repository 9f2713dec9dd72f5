"""What the measures of masked language models say of every occupation: unmasking, LPBS, sentence pairs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tiltmeter import measures
from tiltmeter.errors import BadInput
from tiltmeter.lab.calibrate.leans import (
    PERMUTATIONS,
    Form,
    Judge,
    Judged,
    Leans,
    Men,
    by_words,
    columns_of,
    lean_apart,
)
from tiltmeter.lab.reference.frames import Marked, columns, frames, marked
from tiltmeter.models import CachedModel
from tiltmeter.models.protocol import Question, Span, TokenScores
from tiltmeter.statistics.groups import Floats

#: How many sentences of a set are asked as pairs: every token of both versions is masked in its turn.
_PAIRS = 2


@dataclasses.dataclass(frozen=True, slots=True)
class Sentences:
    """The masked sentences of every occupation, a row an occupation and a column a sentence."""

    occupations: tuple[str, ...]
    sets: tuple[str, ...]
    rows: tuple[tuple[Marked, ...], ...]

    @classmethod
    def of(cls, occupations: Sequence[str], sets: Mapping[str, Sequence[str]]) -> Sentences:
        found = columns(sets)
        rows = tuple(tuple(marked(frame, word) for _, frame in found) for word in occupations)
        return cls(tuple(occupations), tuple(name for name, _ in found), rows)

    @property
    def flat(self) -> list[Marked]:
        return [each for row in self.rows for each in row]

    def table(self, values: Sequence[float]) -> Floats:
        return np.array(values, dtype=np.float64).reshape(len(self.rows), -1)

    def leans(self, measure: str, form: Form, unit: str, values: Floats, judge: Judge) -> Leans:
        """Leans by sentence, which are no effect size."""
        return Leans(measure, form, unit, values, columns_of(values, self.sets), False, judge)


def masked_leans(model: CachedModel, occupations: Sequence[str]) -> list[Leans]:
    """What is read off its probabilities, published and corrected where they differ."""
    whole = Sentences.of(occupations, frames().masked)
    fewer = Sentences.of(occupations, {name: rows[:_PAIRS] for name, rows in frames().masked.items()})
    return [*_fills(model, whole), *_pairs(model, fewer)]


def _fills(model: CachedModel, sentences: Sentences) -> list[Leans]:
    asked = [(row.fill, row.prior) for row in sentences.flat]
    found = model.answers(Question.FILLS, [each for both in asked for each in both])
    log = np.array([[found[each].logprobs for each in both] for both in asked], dtype=np.float64)
    gap = sentences.table((np.exp(log[:, 0, 0]) - np.exp(log[:, 0, 1])).tolist())
    fill, prior = (sentences.table((log[:, i, 0] - log[:, i, 1]).tolist()) for i in (0, 1))
    log_odds = "log-odds"
    return [
        sentences.leans("unmasking", "corrected", "P(he) - P(she)", gap, by_words(gap)),
        sentences.leans("LPBS", "published", log_odds, fill, by_words(fill)),
        sentences.leans("LPBS", "corrected", log_odds, fill - prior, _lpbs(sentences, log)),
    ]


def _lpbs(sentences: Sentences, log: Floats) -> Judge:
    tables = [sentences.table(log[:, kind, term].tolist()) for term in (0, 1) for kind in (0, 1)]
    lean = (tables[0] - tables[1]) - (tables[2] - tables[3])

    def judge(men: Men) -> Judged:
        order = np.argsort(~men, kind="stable")  # lpbs compares the group it meets first with the other
        groups = np.where(men[order], "men", "women")
        result = measures.lpbs(*(table[order] for table in tables), groups=groups, permutations=PERMUTATIONS)
        return Judged(lean_apart(lean, men), result.p_value)

    return judge


def _pairs(model: CachedModel, sentences: Sentences) -> list[Leans]:
    texts = [row.versions for row in sentences.flat]
    found = model.answers(Question.PSEUDO, [Span(text, 0, len(text)) for both in texts for text in both])
    tokens = [[found[Span(text, 0, len(text))] for text in both] for both in texts]
    leans = []
    for name, score in (("pairs (nangia)", measures.nangia), ("pairs (meade)", measures.meade)):
        scores = np.array([_scores(score, one, two) for one, two in tokens])
        gap = sentences.table((scores[:, 0] - scores[:, 1]).tolist())
        outcome = np.sign(gap)
        leans += [
            sentences.leans(name, "published", "share of pairs", outcome / 2, _published_pairs(gap)),
            sentences.leans(name, "corrected", "log-odds", gap, _corrected_pairs(gap)),
        ]
    return leans


def _scores(score: Any, one: TokenScores, two: TokenScores) -> tuple[float, float]:
    found: tuple[float, float] | None = score(one.logprobs, one.ids.tolist(), two.logprobs, two.ids.tolist())
    if found is None:
        raise BadInput("the model reads the two versions of a sentence alike: it does not know the pronouns")
    return found


def _both(gap: Floats, men: Men) -> tuple[Floats, Floats]:
    """Scores of the versions that fit the halving and of those that do not, up to what both have in common."""
    fits = np.where(men[:, None], gap, -gap)
    return (fits / 2).ravel(), (-fits / 2).ravel()


def _published_pairs(gap: Floats) -> Judge:
    def judge(men: Men) -> Judged:
        found = measures.crows_pairs(*_both(gap, men))
        return Judged(lean_apart(np.sign(gap) / 2, men), found.p_value)

    return judge


def _corrected_pairs(gap: Floats) -> Judge:
    units = np.repeat(np.arange(len(gap)), gap.shape[1]).tolist()

    def judge(men: Men) -> Judged:
        found = measures.preference(*_both(gap, men), clusters=units, permutations=PERMUTATIONS)
        return Judged(lean_apart(gap, men), found.gap.p_value)

    return judge
