"""What ClozeGender says of every occupation, on a causal language model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tiltmeter import measures
from tiltmeter.lab.calibrate.leans import Form, Leans, by_words, without_test
from tiltmeter.lab.calibrate.masked_leans import Sentences
from tiltmeter.lab.reference.frames import frames
from tiltmeter.measures.geometry import cosines
from tiltmeter.models import CachedModel
from tiltmeter.models.protocol import Question, Span


def causal_leans(model: CachedModel, occupations: Sequence[str]) -> list[Leans]:
    """ClozeGender as published and corrected; the similarities are those of the model's own vectors of bare words."""
    sentences = Sentences.of(occupations, frames().cloze)
    asked = [[row.continuation(ended=ended) for ended in (False, True)] for row in sentences.flat]
    found = model.answers(Question.CONTINUATIONS, [each for both in asked for each in both])
    chance = np.exp([[found[each].logprobs for each in both] for both in asked])  # (sentences, plain/ended, him/her)
    forms = sorted({form for row in sentences.flat for form in row.forms})
    spans = {word: Span(word, 0, len(word)) for word in (*forms, *occupations)}
    vectors = model.answers(Question.SPANS, list(spans.values()))
    near = cosines(
        np.array([vectors[spans[word]] for word in occupations], dtype=np.float64),
        np.array([vectors[spans[word]] for word in forms], dtype=np.float64),
    )
    row_of, column_of = {word: i for i, word in enumerate(occupations)}, {form: i for i, form in enumerate(forms)}
    similar = np.array(
        [[near[row_of[row.occupation], column_of[form]] for form in row.forms] for row in sentences.flat]
    )
    result = measures.cloze(*chance[:, 0].T, *similar.T, ended_1=chance[:, 1, 0], ended_2=chance[:, 1, 1])
    leans: list[Leans] = []
    both: tuple[tuple[Form, measures.ClozeScores], ...] = (("published", result), ("corrected", result.repaired))
    for form, scores in both:
        won = sentences.table([{1: 0.5, 2: -0.5, 0: 0.0}[winner] for winner in scores.winners])
        judge = without_test(won) if form == "published" else by_words(won)
        leans.append(sentences.leans("ClozeGender", form, "share of rows", won, judge))
    return leans
