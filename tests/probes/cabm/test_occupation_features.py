"""The three features of an occupation."""

from __future__ import annotations

import dataclasses

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
