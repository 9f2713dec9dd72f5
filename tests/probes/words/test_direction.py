from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.planted import stacked
from tests.probes.words.planted_jobs import JOBS as OCCUPATIONS
from tests.probes.words.planted_jobs import gender_kin, job_sets, jobs
from tests.probes.words.planted_pairs import JOBS, PAIRS, alternating, model, sides
from tiltmeter import measures, probe


@pytest.mark.parametrize(
    ("lean", "leans", "says"),
    [
        (0.3, "occupations → female", "lean towards female"),
        (-0.3, "occupations → male", "lean towards male"),
        (0.0, "no clear lean", "Undecided: chance could explain it"),
    ],
)
def test_ripa_names_the_side_of_the_pairs_that_words_were_made_to_lean_to(lean, leans, says):
    vectors = model(alternating(lean))
    reading = probe("ripa", vectors, cache=False)
    direct = measures.ripa(stacked(vectors, JOBS), *sides(vectors))
    assert (reading.effect.value, reading.effect.ci) == (direct.score, direct.ci)
    assert reading.effect.p_value == direct.p_value
    assert reading.effect.value == pytest.approx(lean, abs=1e-6)
    assert reading.leans == leans
    assert says in reading.plain_words
    assert [item.value for item in reading.items] == list(direct.by_word)


def test_direct_bias_is_the_mean_size_of_the_lean_and_names_the_words_at_the_ends():
    leans = [0.01 * i - 0.29 for i in range(len(JOBS))]
    vectors = model(leans)
    reading = probe("direct-bias", vectors, cache=False)
    axis = measures.bias_direction(*sides(vectors))
    assert reading.effect.value == measures.direct_bias(stacked(vectors, JOBS), axis).score
    assert reading.effect.value == pytest.approx(np.mean(np.abs(leans)), abs=1e-6)
    assert f"Most towards female: {JOBS[-1]}; most towards male: {JOBS[0]}." in reading.plain_words
    assert [item.value for item in reading.items] == pytest.approx(leans, abs=1e-6)
    assert probe("direct-bias", model([0.0] * len(JOBS)), cache=False).effect.value == pytest.approx(0, abs=1e-6)


def test_a_pair_with_an_unknown_word_is_dropped_whole():
    vectors = model(alternating(0.3))
    del vectors["she"]
    reading = probe("ripa", vectors, cache=False)
    left = [each for each in reading.left_out if each.what.startswith("pair")]
    assert [(each.what, "'she' is out of vocabulary" in each.reason) for each in left] == [("pair she/he", True)]
    kept = [pair for pair in PAIRS.pairs if "she" not in pair]
    direct = measures.ripa(
        stacked(vectors, JOBS),
        stacked(vectors, [one for one, _ in kept]),
        stacked(vectors, [two for _, two in kept]),
    )
    assert reading.effect.value == direct.score


@pytest.mark.parametrize("kind", ["semaxis", "same"])
@pytest.mark.parametrize(
    ("lean", "leans"),
    [(0.3, "occupations → female terms"), (-0.3, "occupations → male terms"), (0.0, "no clear lean")],
)
def test_axis_probes_name_the_pole_that_was_made_to_be_nearer(kind, lean, leans):
    model = jobs(lean)
    reading = probe(kind, model, cache=False)
    words_, female, male = job_sets(model)
    if kind == "semaxis":
        direct = measures.semaxis(words_, female, male, **gender_kin())
        assert (reading.effect.value, reading.effect.p_value) == (direct.mean, direct.p_value)
        assert reading.plain_words.startswith("On the axis from male terms (-) to female terms (+), occupations stand")
        assert [item.value for item in reading.items] == list(direct.scores)
    else:
        found = measures.same(words_, [female, male])
        assert (reading.effect.value, reading.effect.p_value) == (found.score, found.p_value)
        assert [item.value for item in reading.items] == list(found.by_word)
        assert ("do not clearly lean either way" in reading.plain_words) == (leans == "no clear lean")
    assert reading.leans == leans
    assert [item.label for item in reading.items] == list(OCCUPATIONS.texts)


def test_a_size_without_a_test_claims_nothing():
    reading = probe("direct-bias", model([0.9 * (-1) ** i for i in range(len(JOBS))]), cache=False)
    assert 0.0 not in reading.effect.ci
    assert reading.effect.p_value is None
    assert reading.effect.significant is None
    assert "it is not tested" in reading.plain_words


def test_of_a_single_pair_the_reading_says_that_others_are_not_asked():
    one = dataclasses.replace(PAIRS, pairs=PAIRS.pairs[:1])
    reading = probe("ripa", model(alternating(0.3)), pairs=one, cache=False)
    assert "how much another one would change the result is unknown" in reading.plain_words
    many = probe("ripa", model(alternating(0.3)), cache=False)
    assert dict(many.evidence.independent)["definitional gender pairs"] == len(PAIRS.pairs)
    assert many.effect.p_value >= max(p for _, p in many.evidence.p_values)
