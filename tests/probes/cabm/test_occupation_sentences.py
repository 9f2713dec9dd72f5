"""Which sentences of occupations are asked about and used."""

from __future__ import annotations

import dataclasses

from tests.probes.cabm.planted_vectors import (
    LEANS,
    OCCUPATIONS,
    PlantedVectors,
    by_word,
    leaning,
    only,
    probe,
    reading,
    unlabelled,
)
from tests.reference import reference_model
from tiltmeter.models.protocol import Question
from tiltmeter.models.transformers.encoder import TransformerEncoder
from tiltmeter.stimuli.sentences.marked import MarkedSet, Versions


def test_an_occupation_seen_with_one_group_only_is_left_out_and_the_rest_scored():
    word = OCCUPATIONS[3]

    def one_sided(made: MarkedSet) -> MarkedSet:
        versions = (Versions(row.neutral, ((), row.by_group[1])) if row.unit == word else row for row in made.versions)
        return dataclasses.replace(unlabelled(made), versions=tuple(versions))

    found = reading(PlantedVectors(leaning(LEANS)), change=one_sided)
    assert word not in by_word(found, "value")
    assert found.n_units == 59
    (left,) = [left for left in found.left_out if left.what == f"'{word}'"]
    assert left.reason == "seen with women only, so the groups cannot be compared"


class Counting(TransformerEncoder):
    """Counts how often each text is read."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.read: list[tuple[int, ...]] = []

    def _compute(self, rows):
        self.read += [tuple(row.ids) for row in rows]
        return super()._compute(rows)


def test_every_sentence_is_read_once_whatever_is_asked_of_it(monkeypatch):
    monkeypatch.setattr("tiltmeter.models.transformers.encoder.CHUNK", 100)
    model = Counting(str(reference_model(0.9)))

    def few(made: MarkedSet) -> MarkedSet:
        return unlabelled(only(OCCUPATIONS[::5], made))

    asked = probe(change=few).asks(lambda question: question is Question.SPANS)
    assert asked is not None
    spans = list(dict.fromkeys(asked[Question.SPANS]))  # nothing is asked twice
    texts = {span.text for span in spans}
    assert len(spans) > 2.5 * len(texts)
    model.embed_spans(spans)
    # Occupations in 8 frames with he, she and neither; the frames alone, of which two come with a and with an.
    assert len(model.read) == len(texts) == 12 * 8 * 3 + 10 * 3
