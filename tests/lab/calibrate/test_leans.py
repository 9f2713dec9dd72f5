"""What measures say of occupations, and the one number that they are calibrated by."""

from __future__ import annotations

import numpy as np
import pytest
from tiltmeter.lab.calibrate.cabm_leans import cabm_leans
from tiltmeter.lab.calibrate.leans import by_words, halves, lean_apart
from tiltmeter.lab.calibrate.masked_leans import masked_leans
from tiltmeter.lab.calibrate.vector_leans import vector_leans

from tests.reference import reference_model
from tiltmeter.lab.calibrate.calibration import with_men
from tiltmeter.lab.reference.frames import columns, frames, mark_spans, marked, occupation_span
from tiltmeter.lab.reference.planted_text import patterns, planted
from tiltmeter.models import CachedModel
from tiltmeter.models.transformers.hub import TransformerModel
from tiltmeter.statistics import by_unit, concatenated_d
from tiltmeter.stimuli import group

MEN = np.array([True, True, False, False])


def test_the_number_is_the_difference_between_the_halves():
    assert lean_apart(np.array([[3.0], [1.0], [1.0], [-1.0]]), MEN) == 2.0


def test_an_effect_size_is_divided_by_the_sd_of_all_values():
    values = np.array([[3.0, 1.0], [1.0, 2.0], [1.0, 0.0], [-1.0, -2.0]])
    expected = (1.75 - -0.5) / np.std(values, ddof=1)
    assert lean_apart(values, MEN, standardised=True) == pytest.approx(expected)
    one, two = (
        by_unit([3.0, 1.0, 1.0, 2.0], ["a", "a", "b", "b"]),
        by_unit([1.0, 0.0, -1.0, -2.0], ["c", "c", "d", "d"]),
    )
    assert lean_apart(values, MEN, standardised=True) == pytest.approx(concatenated_d(one, two))


def test_exchanging_the_halves_turns_the_sign():
    values = np.random.default_rng(0).normal(size=(4, 3))
    for standardised in (False, True):
        one, two = (lean_apart(values, men, standardised=standardised) for men in (MEN, ~MEN))
        assert one == pytest.approx(-two)


def test_permuting_words_rejects_a_level_model_in_one_case_of_twenty():
    values = np.random.default_rng(1).normal(size=(40, 2))
    judge = by_words(values)
    p_values = np.array([judge(men).p_value for men in halves(40, many=400, seed=[0])])
    assert 0.02 < (p_values <= 0.05).mean() < 0.085


def test_every_frame_holds_one_pronoun_and_one_occupation():
    for sets in (frames().masked, frames().cloze):
        for _, frame in columns(sets):
            row = marked(frame, "auditor")
            one, two = row.versions
            assert one != two
            assert "{" not in one
            assert one[row.start : row.end] == row.forms[0]
            assert row.prior.text[slice(*row.prior.hidden[0])] == "auditor"


def test_a_cloze_ends_in_its_pronoun():
    for _, frame in columns(frames().cloze):
        row = marked(frame, "nurse")
        assert row.text[row.end :] == "."
        found = row.continuation(ended=True)
        assert found.stem + found.endings[0] == row.text


def test_no_frame_is_a_sentence_that_the_models_learn_from():
    learned = {
        pattern.replace("{a_occupation}", "{occupation}") for pattern in patterns().patterns if pattern.count("{") == 2
    }
    asked = {
        frame.replace("{a_occupation}", "{occupation}")
        for sets in (frames().masked, frames().cloze)
        for _, frame in columns(sets)
    }
    assert len(asked & learned) <= 2  # "He works as a nurse." and the like cannot be said otherwise


def test_marks_and_occupations_are_found_where_they_stand():
    assert [span.word.lower() for span in mark_spans(0)][:3] == ["he", "him", "his"]
    assert occupation_span("This is the {occupation}.", "nurse").word == "nurse"


@pytest.fixture(scope="module")
def leans():
    words = list(planted(0.9))
    women = {word.text: float(word.properties["female_share"]) / 100 for word in group("occupations.all").words}
    model = CachedModel(TransformerModel(str(reference_model(0.9))), None)
    found = [*masked_leans(model, words), *cabm_leans(model, words, women), *vector_leans(model, words)]
    return {(each.measure, each.form): each for each in found}


@pytest.mark.parametrize(
    "key",
    [
        ("unmasking", "corrected"),
        ("LPBS", "published"),
        ("LPBS", "corrected"),
        ("pairs (nangia)", "corrected"),
        ("pairs (meade)", "corrected"),
        ("CABM (equal)", "corrected"),
    ],
)
def test_a_strong_tilt_is_seen_and_has_the_right_sign(leans, key):
    found = leans[key].judge(with_men(planted(0.9)))
    assert found.value > 0
    assert found.p_value <= 0.01


def test_the_number_of_a_measure_is_that_of_its_leans(leans):
    men = with_men(planted(0.9))
    for key, each in leans.items():
        if key[0] != "CEAT":  # which pools draws
            expected = lean_apart(each.values, men, standardised=each.standardised)
            assert each.judge(men).value == pytest.approx(expected, abs=1e-9), key


def test_all_measures_are_there(leans):
    names = {name.partition(" (")[0] for name, _ in leans}
    assert names == {"unmasking", "LPBS", "pairs", "CABM", "WEAT", "SEAT", "CEAT"}
