"""The leans of reference vectors are exactly what was planted: in words, in texts, and in words in context."""

from __future__ import annotations

import numpy as np
import pytest

from tiltmeter.errors import BadInput
from tiltmeter.lab.reference.planted_text import planted
from tiltmeter.lab.reference.planted_vectors import PlantedVectors, VectorRecipe, vocabulary
from tiltmeter.lab.reference.reference import reference_folder
from tiltmeter.models import load
from tiltmeter.models.protocol import Span
from tiltmeter.probes import make_probes
from tiltmeter.run.probe import run_probes

OCCUPATIONS = list(planted(0.9))
UNIT = VectorRecipe().lean
TEXT = "She met the plumber yesterday."


@pytest.fixture(scope="module")
def model() -> PlantedVectors:
    return PlantedVectors("vectors-0.9")


def test_the_part_of_a_word_along_the_direction_is_its_lean(model):
    along = model.embed_words(OCCUPATIONS)[:, 0] / UNIT
    assert along == pytest.approx([2 * share - 1 for share in planted(0.9).values()], abs=1e-6)
    assert model.embed_words(["he", "Him", "aunt", "career", "family", "table"])[:, 0] / UNIT == pytest.approx(
        [1, 1, -1, 0.8, -0.8, 0], abs=1e-6
    )


def test_a_text_leans_as_its_words_do_on_average(model):
    assert model.lean(TEXT) == pytest.approx((-1 + 0.8) / 5)
    assert model.embed_texts([TEXT])[0, 0] / UNIT == pytest.approx(model.lean(TEXT), abs=1e-6)
    assert model.embed_spans([Span(TEXT, 0, 0)])[0] == pytest.approx(model.embed_texts([TEXT])[0])


def test_a_word_in_context_leans_as_the_word_and_a_little_as_its_text(model):
    where = TEXT.index("plumber")
    along = model.embed_spans([Span(TEXT, where, where + len("plumber"))])[0, 0] / UNIT
    assert along == pytest.approx(0.7 * 0.8 + 0.3 * model.lean(TEXT), abs=1e-6)


def test_without_a_dose_nothing_but_the_words_for_the_groups_leans():
    level = PlantedVectors("vectors-0.5")
    assert {word.lean for word in vocabulary(0.5).values()} == {1.0, -1.0, 0.0}
    assert not level.embed_words([*OCCUPATIONS, "career", "family"])[:, 0].any()


def test_doses_differ_along_the_direction_alone_and_seeds_in_everything_else():
    level, tilted, other = (
        PlantedVectors(name).embed_words(OCCUPATIONS) for name in ("vectors-0.5", "vectors-0.9", "vectors-0.9-seed1")
    )
    assert np.array_equal(level[:, 1:], tilted[:, 1:])
    assert np.array_equal(tilted[:, 0], other[:, 0])
    assert np.abs((tilted[:, 1:] * other[:, 1:]).sum(axis=1)).max() < 1  # of about 2: their topics differ too


def test_partners_and_forms_of_a_word_are_kin_and_others_are_not(model):
    him, he, aunt, uncle, nurse = model.embed_words(["him", "he", "aunt", "uncle", "nurse"])[:, 1:]
    assert min(he @ him, aunt @ uncle) > 1.1  # topic 1 and family .36, and noise
    assert abs(he @ uncle - 1) < 0.3
    assert abs(he @ nurse) < 0.5


def test_the_same_question_has_the_same_answer_and_the_identity_says_what_it_depends_on(model):
    again = PlantedVectors("vectors-0.90")
    assert np.array_equal(again.embed_texts([TEXT]), model.embed_texts([TEXT]))
    assert again.identity == model.identity
    others = (PlantedVectors(name).identity.revision for name in ("vectors-0.8", "vectors-0.9-seed1"))
    assert model.identity.revision not in others


def test_it_is_a_model_by_its_spec_and_probes_of_vectors_read_its_sign():
    spec = "reference:vectors-0.9"
    for kind in ("weat", "seat", "association"):
        effect = run_probes(make_probes(kind), spec, cache=False, progress=False)[0].effect
        assert effect.value > 0.5, kind
        assert effect.p_value <= 0.05, kind
    assert "planted vectors" in load(spec).note


def test_it_has_no_weights_to_train():
    with pytest.raises(BadInput, match="planted vectors and has no weights"):
        reference_folder("vectors-0.9")
    with pytest.raises(BadInput, match=r"unknown reference model 'vectors-0\.4'"):
        PlantedVectors("vectors-0.4")
