"""Probes of nearness: ECT, MAC, RND and RNSB."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from tests.planted import TERMS, gendered, sets, twins, vector, words
from tests.probes.words.planted_jobs import job_sets, jobs
from tiltmeter import measures, probe
from tiltmeter.stimuli import group


def test_ect_is_1_for_groups_that_cannot_be_told_apart_and_below_for_groups_that_lean():
    jobs = {word: vector(word, 0.6 * (-1) ** i) for i, word in enumerate(group("occupations.all").texts)}
    same = probe("ect", twins(TERMS) | jobs, cache=False)
    assert same.effect.value == pytest.approx(1)
    assert (same.effect.level, same.effect.better, same.leans) == (1.0, "nearer to 1 is better", "")
    model = gendered(0.5, -0.5) | jobs
    reading = probe("ect", model, cache=False)
    male, female, occupations = sets(model, *TERMS, "occupations.all")
    near = [occupations @ side.mean(axis=0) for side in (male, female)]
    assert reading.effect.value == pytest.approx(spearmanr(*near).statistic)
    assert reading.effect.value < 0
    assert len(reading.items) == reading.n_items == 60


def test_mac_is_the_mean_distance_and_names_no_group():
    model = jobs(0.3)
    reading = probe("mac", model, cache=False)
    words_, female, male = job_sets(model)
    assert reading.effect.value == measures.mac(words_, [female, male]).score
    assert reading.leans == ""
    technician = reading.items[0]
    assert technician.label == "technician"
    near = np.mean(female.astype(float) @ model["technician"].astype(float))
    assert technician.columns["distance to female terms"] == pytest.approx(1 - near, abs=1e-6)


@pytest.mark.parametrize(("male", "female", "nearer"), [(0.3, -0.3, "male terms"), (-0.3, 0.3, "female terms")])
def test_rnd_names_the_nearer_group(male, female, nearer):
    model = gendered(male, female)
    reading = probe("rnd", model, cache=False)
    names = (*TERMS, "attributes.career")
    direct = measures.rnd(*sets(model, *names), families=[group(name).families for name in names])
    assert (reading.effect.value, reading.effect.p_value) == (direct.repaired.score, direct.repaired.p_value)
    assert (reading.published.value, reading.published.p_value) == (direct.score, direct.p_value)
    assert (reading.effect.value < 0) == (nearer == "male terms")
    assert reading.leans == f"career → {nearer}"
    assert reading.plain_words.startswith(f"Career lie nearer to {nearer} than to ")
    assert [item.label for item in reading.items] == list(group("attributes.career").texts)


def test_rnd_finds_no_lean_where_the_groups_cannot_be_told_apart():
    reading = probe("rnd", twins(TERMS) | words({"attributes.career": 0.8}), cache=False)
    assert reading.effect.value == pytest.approx(0, abs=1e-12)
    assert reading.leans == "no clear lean"
    assert reading.verdict.state == "undecided"


RELIGIONS = ["identity.christian_terms", "identity.muslim_terms", "identity.jewish_terms"]
PLEASANT = {"attributes.pleasant": 0.8, "attributes.unpleasant": -0.8}


def test_rnsb_names_the_group_that_was_made_to_sound_negative():
    model = words(dict(zip(RELIGIONS, [0.3, -0.7, 0.3], strict=True)) | PLEASANT)
    reading = probe("rnsb", model, cache=False)
    shares = np.array([item.value for item in reading.items])
    assert reading.effect.value == pytest.approx(np.sum(shares * np.log(shares * len(shares))))
    assert len(shares) == sum(len(group(address).texts) for address in RELIGIONS)
    assert reading.effect.p_value <= 0.05
    assert reading.leans == "Muslim terms → unpleasant words"
    assert "unevenly" in reading.plain_words
    assert "Muslim terms get most" in reading.plain_words
    assert sum(item.value for item in reading.items) == pytest.approx(1)


def test_rnsb_finds_no_lean_where_all_terms_have_one_vector():
    one = vector("one", 0.1)
    model = {word: one for address in RELIGIONS for word in group(address).texts} | words(PLEASANT)
    reading = probe("rnsb", model, cache=False)
    assert reading.effect.value == pytest.approx(0, abs=1e-9)
    assert reading.leans == "no clear lean"
    assert reading.verdict.state == "undecided"


def test_readings_of_nearness_say_how_many_independent_words_they_rest_on():
    model = gendered(0.3, -0.3)
    of_rnd = probe("rnd", model, cache=False)
    assert of_rnd.effect.p_value == max(p for _, p in of_rnd.evidence.p_values)
    worth = dict(of_rnd.evidence.independent)
    assert worth["male terms"] == len(set(group(TERMS[0]).families)) < len(group(TERMS[0]).texts)
    of_mac = probe("mac", model | words({"occupations.all": 0.0}), cache=False)
    assert [label for label, _ in of_mac.evidence.independent] == ["occupations"]
    assert of_mac.evidence.p_values == ()
    of_rnsb = probe("rnsb", words(dict.fromkeys(RELIGIONS, 0.0) | PLEASANT), cache=False)
    assert [label for label, _ in of_rnsb.evidence.independent] == [group(address).label for address in PLEASANT]
    assert of_rnsb.evidence.p_values == (("sentiment words dealt at random", of_rnsb.effect.p_value),)
