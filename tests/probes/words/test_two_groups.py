from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import spearmanr
from tiltmeter.probes.words.sets import Query, StimulusSet

from tests.planted import CAREER_FAMILY, TERMS, Sentences, stacked, texts, twins, vector, words
from tiltmeter import measures, probe
from tiltmeter.models import Identity, Question
from tiltmeter.probes import KINDS, Probe, make_probe
from tiltmeter.run.probe import put
from tiltmeter.stimuli import group

RELIGIONS = ["identity.christian_terms", "identity.muslim_terms", "identity.jewish_terms"]
PLEASANT = ["attributes.pleasant", "attributes.unpleasant"]
SENTENCES = {
    "seat": (TERMS, CAREER_FAMILY),
    "association": (["gender.male_targets", "gender.female_targets"], ["association.career", "association.family"]),
}


def gendered(male: float, female: float) -> dict[str, np.ndarray]:
    return words(dict(zip([*TERMS, *CAREER_FAMILY], [male, female, 0.8, -0.8], strict=True)))


def sets(model: dict[str, np.ndarray], *addresses: str) -> list[np.ndarray]:
    return [stacked(model, group(address).texts) for address in addresses]


@pytest.mark.parametrize(
    ("male", "female", "leans"),
    [
        (0.3, -0.3, "male terms → career, female terms → family"),
        (-0.3, 0.3, "female terms → career, male terms → family"),
    ],
)
def test_weat_names_the_group_that_was_made_to_lean(male, female, leans):
    model = gendered(male, female)
    reading = probe("weat", model, cache=False)
    direct = measures.weat(*sets(model, *TERMS, *CAREER_FAMILY))
    assert reading.effect.value == direct.effect_size
    assert math.copysign(1, reading.effect.value) == math.copysign(1, male)
    assert (reading.effect.p_value, reading.effect.ci) == (direct.p_value, direct.ci)
    assert reading.leans == leans
    assert reading.strength == "large"
    first = leans.partition(" → ")[0]
    assert reading.plain_words.startswith(f"{first.capitalize()} lean towards career")
    assert f"d = {direct.effect_size:.2f}" in reading.plain_words


def test_weat_finds_no_lean_where_the_groups_cannot_be_told_apart():
    reading = probe("weat", twins(TERMS) | words({CAREER_FAMILY[0]: 0.8, CAREER_FAMILY[1]: -0.8}), cache=False)
    assert reading.effect.value == pytest.approx(0, abs=1e-12)
    assert reading.effect.p_value == 1
    assert reading.leans == "no clear lean"
    assert reading.plain_words.startswith("No clear tilt of male terms against female terms between career and family")
    assert "no proof of balance" in reading.plain_words


def test_the_items_of_weat_are_every_target_word_with_its_lean():
    model = gendered(0.3, -0.3)
    reading = probe("weat", model, cache=False)
    assert [item["word"] for item in reading.items] == [*group(TERMS[0]).texts, *group(TERMS[1]).texts]
    career, family = sets(model, *CAREER_FAMILY)
    he = model["he"].astype(float)
    expected = np.mean([he @ c for c in career.astype(float)]) - np.mean([he @ f for f in family.astype(float)])
    assert reading.items[0] == {"word": "he", "group": "male terms", "lean": pytest.approx(expected, abs=1e-6)}
    d = [item["lean"] for item in reading.items]
    assert reading.effect.value == pytest.approx((np.mean(d[:20]) - np.mean(d[20:])) / np.std(d, ddof=1))
    assert (reading.n_items, reading.n_units) == (40, 40)


def test_the_published_weat_stands_beside_as_a_one_sided_test():
    model = gendered(0.005, -0.005)
    reading = probe("weat", model, cache=False)
    direct = measures.weat(*sets(model, *TERMS, *CAREER_FAMILY), alternative="greater")
    assert reading.published.value == reading.effect.value
    assert reading.published.p_value == direct.p_value < reading.effect.p_value
    assert (reading.published.alternative, reading.effect.alternative) == ("greater", "two-sided")
    assert "one-sided" in reading.correction


def test_options_reach_the_measure_and_the_provenance():
    model = gendered(0.05, -0.05)
    reading = probe("weat", model, cache=False, alternative="less", seed=7, permutations=99)
    direct = measures.weat(*sets(model, *TERMS, *CAREER_FAMILY), alternative="less", seed=7, permutations=99)
    assert reading.effect.p_value == direct.p_value
    assert reading.provenance["settings"] == {"alternative": "less", "seed": 7, "permutations": 99}


@pytest.mark.parametrize("kind", SENTENCES)
@pytest.mark.parametrize(("lean", "first"), [(0.2, "male"), (-0.2, "female")])
def test_sentence_probes_name_the_group_that_was_made_to_lean(kind, lean, first):
    asked = make_probe(kind)
    (one, two), (a, b) = asked.query.targets, asked.query.attributes
    model = texts([(one, lean, 0.05), (two, -lean, 0.05), (a, 0.8, 0), (b, -0.8, 0)])
    reading = probe(kind, Sentences(model), cache=False)
    direct = measures.association(
        *(stacked(model, each.inputs) for each in (one, two, a, b)), units_1=one.units, units_2=two.units
    )
    assert reading.effect.value == direct.effect_size
    assert reading.effect.p_value == direct.p_value
    assert reading.published.value == direct.published.effect_size
    assert reading.published.p_value == direct.published.p_value
    assert math.copysign(1, reading.effect.value) == math.copysign(1, lean)
    assert reading.leans.startswith(f"{first} terms")
    assert "→ career" in reading.leans.split(", ")[0]
    assert (reading.n_items, reading.n_units) == (len(one.inputs) + len(two.inputs), len({*one.units, *two.units}))
    assert [item["text"] for item in reading.items] == [*one.inputs, *two.inputs]
    assert {item["word"] for item in reading.items} == {*one.units, *two.units}


@pytest.mark.parametrize("kind", SENTENCES)
def test_the_published_test_takes_word_effects_for_a_lean_and_the_headline_does_not(kind):
    # Neither group leans; each word leans its own way and takes all its sentences with it.
    rng = np.random.default_rng(5)
    inputs = {label: [f"{label} {word} {n}" for word in range(8) for n in range(12)] for label in "XY"}
    sets = {label: StimulusSet(label, tuple(texts), tuple(t[:3] for t in texts)) for label, texts in inputs.items()}
    poles = tuple(StimulusSet(label, (label,), (label,)) for label in "AB")
    asked = Probe(kind, kind, KINDS[kind], Query((sets["X"], sets["Y"]), poles))
    readings = []
    for _ in range(12):
        own = {unit: rng.uniform(-0.5, 0.5) for each in sets.values() for unit in dict.fromkeys(each.units)}
        vectors = {text: vector(text, own[text[:3]]) for texts in inputs.values() for text in texts}
        vectors |= {"A": vector("A", 0.9), "B": vector("B", -0.9)}
        readings.append(asked.read(Identity("own:null", "1"), {Question.TEXTS: vectors}))
    assert all(reading.published.p_value < reading.effect.p_value for reading in readings)
    assert sum(reading.leans != "no clear lean" for reading in readings) <= 2
    assert sum(reading.published.p_value <= 0.05 for reading in readings) >= 5
    assert "takes all 192 sentences as independent" in readings[0].correction
    assert "counts the 16 words" in readings[0].correction


@pytest.mark.parametrize(("male", "female", "nearer"), [(0.3, -0.3, "male terms"), (-0.3, 0.3, "female terms")])
def test_rnd_names_the_nearer_group(male, female, nearer):
    model = gendered(male, female)
    reading = probe("rnd", model, cache=False)
    direct = measures.rnd(*sets(model, *TERMS, "attributes.career"))
    assert (reading.effect.value, reading.effect.p_value) == (direct.score, direct.p_value)
    assert (reading.effect.value < 0) == (nearer == "male terms")
    assert reading.leans == f"career → {nearer}"
    assert reading.plain_words.startswith(f"Career: nearer to {nearer} than to ")
    assert [item["word"] for item in reading.items] == list(group("attributes.career").texts)


def test_rnd_finds_no_lean_where_the_groups_cannot_be_told_apart():
    reading = probe("rnd", twins(TERMS) | words({"attributes.career": 0.8}), cache=False)
    assert reading.effect.value == pytest.approx(0, abs=1e-12)
    assert reading.leans == "no clear lean"
    assert "not clearly nearer" in reading.plain_words


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


def test_multi_weat_names_the_group_and_the_set_it_leans_to_most():
    model = words(dict(zip([*RELIGIONS, *PLEASANT], [0.0, -0.6, 0.1, 0.8, -0.8], strict=True)))
    reading = probe("multi_weat", model, cache=False)
    direct = measures.multi_weat([*sets(model, *RELIGIONS)], [*sets(model, *PLEASANT)])
    assert (reading.effect.value, reading.effect.p_value) == (direct.effect_size, direct.p_value)
    assert reading.leans == "most: Muslim terms → unpleasant words"
    assert "Muslim terms towards unpleasant words" in reading.plain_words
    assert "Christian terms / Muslim terms" in reading.plain_words


def test_the_items_of_multi_weat_are_every_word_with_its_lean_to_every_set():
    model = words(dict(zip([*RELIGIONS, *PLEASANT], [0.0, -0.6, 0.1, 0.8, -0.8], strict=True)))
    reading = probe("multi_weat", model, cache=False)
    assert [item["word"] for item in reading.items] == [w for address in RELIGIONS for w in group(address).texts]
    assert len(reading.items) == reading.n_items
    pleasant, unpleasant = sets(model, *PLEASANT)
    muslim = next(item for item in reading.items if item["word"] == "Muslim")
    half = (np.mean(pleasant @ model["Muslim"]) - np.mean(unpleasant @ model["Muslim"])) / 2
    assert muslim["lean to pleasant words"] == pytest.approx(half, abs=1e-6)
    assert muslim["lean to unpleasant words"] == pytest.approx(-half, abs=1e-6)


def test_multi_weat_finds_no_lean_where_the_groups_cannot_be_told_apart():
    model = twins(RELIGIONS) | words({PLEASANT[0]: 0.8, PLEASANT[1]: -0.8})
    reading = probe("multi_weat", model, cache=False)
    assert reading.effect.value == pytest.approx(0, abs=1e-6)
    assert reading.effect.p_value == 1
    assert reading.leans == "no clear lean"
    assert "strongest" not in reading.plain_words


def test_a_model_of_texts_is_asked_for_words_as_texts():
    reading = probe("weat", Sentences(gendered(0.3, -0.3)), cache=False)
    assert reading.effect.value == probe("weat", gendered(0.3, -0.3), cache=False).effect.value


def test_ready_made_probes_are_put_to_one_model_in_order():
    asked = [make_probe("weat"), make_probe("rnd")]
    assert [reading.probe for reading in put(asked, gendered(0.3, -0.3), cache=False)] == ["weat", "rnd"]
