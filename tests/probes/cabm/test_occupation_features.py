"""The three features of an occupation."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Sequence

import numpy as np
import pytest

from tests.probes.cabm.planted_vectors import (
    LEANS,
    OCCUPATIONS,
    SIDES,
    PlantedVectors,
    by_word,
    exact,
    leaning,
    reading,
    unlabelled,
)
from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Span
from tiltmeter.probes import make_probes
from tiltmeter.run.probe import run_probes
from tiltmeter.stimuli.sentences.marked import MarkedSet


def test_a_lean_that_sentences_have_without_any_occupation_is_no_lean_of_occupations():
    level = dict.fromkeys(LEANS, 0.0)
    found = reading(PlantedVectors(leaning(level, shared=0.15), noise=0.01), change=unlabelled)
    assert set(by_word(found, "group").values()) <= {"neutral", "too close to call"}
    assert by_word(found, "value") == pytest.approx(level, abs=0.02)


def test_a_text_that_has_men_more_often_shows_in_pmi_and_a_zero_count_is_flagged():
    def counted(made: MarkedSet) -> MarkedSet:
        men = dict.fromkeys(OCCUPATIONS[:30], (30, 10)) | dict.fromkeys(OCCUPATIONS[30:], (10, 30))
        return dataclasses.replace(unlabelled(made), counts={**men, OCCUPATIONS[0]: (40, 0)})

    found = reading(PlantedVectors(leaning(LEANS)), change=counted)
    pmi = by_word(found, "pmi")
    assert np.isfinite(list(pmi.values())).all()
    assert pmi[OCCUPATIONS[1]] > 1 > -1 > pmi[OCCUPATIONS[-1]]
    assert found.details.repaired.weights["pca"].values[0] > 0
    assert any(OCCUPATIONS[0] in note and "a count is 0" in note for note in found.notes)


def test_the_published_pmi_counts_by_pronoun_and_the_repaired_one_by_group():
    he, she = {"he": 20, "him": 20}, {"she": 20, "her": 20}

    def counted(made: MarkedSet) -> MarkedSet:
        # As often with men as with women, but with one case of the pronoun in some occupations.
        marks = dict.fromkeys(OCCUPATIONS, (he, she)) | dict.fromkeys(OCCUPATIONS[:9], ({"he": 39, "him": 1}, she))
        return dataclasses.replace(unlabelled(made), mark_counts=marks)

    found = reading(PlantedVectors(leaning(LEANS)), change=counted)
    published, repaired = by_word(found, "published_pmi"), by_word(found, "pmi")
    assert set(repaired.values()) == {0.0}
    assert published[OCCUPATIONS[0]] < -1 < 0 < published[OCCUPATIONS[-1]]


class Scattered:
    """A vector of its own for every place in every text."""

    def embed_spans(self, spans):
        seeds = (zlib.crc32(f"{span.text}/{span.start}".encode()) for span in spans)
        return np.stack([np.random.default_rng(seed).normal(size=8) for seed in seeds])


def test_published_features_are_of_the_sentences_that_the_source_has(tmp_path):
    """As the thesis takes them: its set has a sentence with he or with she, not each of them with both."""
    words = ["nurse", "clerk", "cook", "judge", "tailor", "miner", "baker", "guard", "mover", "farmer", "driver"]
    own = {
        word: (
            [f"The {word} came and he sat.", f"The {word} took his bag.", f"The {word} said he knew."],
            [f"The {word} ran when she saw it.", f"The {word} found her key."],
        )
        for word in words
    }
    own["driver"][1].clear()
    file = tmp_path / "mine.csv"
    lines = [f"{text},{word},{'MF'[side]}" for word, both in own.items() for side in (0, 1) for text in both[side]]
    file.write_text("\n".join(["sentence,occupation,group", *lines]), encoding="utf-8")
    found = run_probes(make_probes("cabm", data=file, method="pca"), Scattered(), cache=False, progress=False)[0]
    assert [note for note in found.notes if "driver" in note] == [
        "as published, versions made of its sentences stand in for the other group where mine has an occupation with "
        "one group only: driver",
        "PMI rests on smoothing alone for driver: a count is 0",
    ]
    own["driver"][1].extend(text.replace(" he ", " she ").replace(" his ", " her ") for text in own["driver"][0])

    def at(text: str, word: str) -> np.ndarray:
        start = text.index(f" {word} ") + 1 if word else 0
        return Scattered().embed_spans([Span(text, start, start + len(word))])[0]

    def unit(vectors: Sequence[np.ndarray]) -> np.ndarray:
        return np.mean(vectors, axis=0) / np.linalg.norm(np.mean(vectors, axis=0))

    texts = [[text for both in own.values() for text in both[side]] for side in (0, 1)]
    marks = [
        np.mean([unit([at(text, mark) for text in texts[side] if f" {mark} " in text]) for mark in pair], axis=0)
        for side, pair in enumerate([("he", "his"), ("she", "her")])
    ]
    for word, both in own.items():
        one, two = (np.mean([at(text, "") for text in side], axis=0) for side in both)
        assert by_word(found, "context")[word] == pytest.approx(np.linalg.norm(one - two), rel=1e-5)
        read = [[at(text, word) for text in side] for side in both]
        rows = [[vector] for side in read for vector in side] if word != "driver" else zip(*read, strict=True)
        cosines = [float(unit(row) @ (marks[0] - marks[1])) for row in rows]
        assert by_word(found, "published_cosine")[word] == pytest.approx(np.mean(cosines), rel=1e-5)


def test_pmi_of_balanced_sentences_is_left_out_and_said_so():
    found = exact()
    assert found.details.repaired.weights["pca"].values == pytest.approx([0, 0.5, 0.5])
    assert any(left.what == "PMI in the repaired score" for left in found.left_out)


def test_features_that_do_not_vary_are_one_clear_line():
    with pytest.raises(BadInput, match="no feature varies between occupations"):
        reading(PlantedVectors(lambda _: 0.25), change=unlabelled)


def test_a_model_that_does_not_tell_the_groups_apart_is_one_clear_line():
    with pytest.raises(BadInput, match=r"^the model reads sentences that say men and women alike"):
        reading(PlantedVectors(leaning(LEANS), sides=dict.fromkeys(SIDES, 1.0)), change=unlabelled)
