from __future__ import annotations

import math

import numpy as np
import pytest

from tests.planted import Sentences, kin, stacked, texts, vector
from tiltmeter import measures, probe
from tiltmeter.errors import BadInput
from tiltmeter.models import Identity, Question
from tiltmeter.probes import KINDS, Probe, make_probes
from tiltmeter.probes.words.word_sets import WordList, WordStimuli
from tiltmeter.run.probe import run_probes

SENTENCES = ("seat", "association")


@pytest.mark.parametrize("kind", SENTENCES)
@pytest.mark.parametrize(("lean", "first"), [(0.2, "male"), (-0.2, "female")])
def test_sentence_probes_name_the_group_that_was_made_to_lean(kind, lean, first):
    asked = make_probes(kind)[0]
    (one, two), (a, b) = asked.stimuli.targets, asked.stimuli.attributes
    model = texts([(one, lean, 0.05), (two, -lean, 0.05), (a, 0.8, 0), (b, -0.8, 0)])
    reading = probe(kind, Sentences(model), cache=False)
    direct = measures.association(
        *(stacked(model, each.inputs) for each in (one, two, a, b)),
        units_1=one.units,
        units_2=two.units,
        attribute_units_1=a.units,
        attribute_units_2=b.units,
        **kin(*(f"gender.{side}_{'terms' if kind == 'seat' else 'targets'}" for side in ("male", "female"))),
        published_alternative="greater" if kind == "seat" else "two-sided",
    )
    assert reading.effect.value == direct.effect_size
    assert reading.effect.p_value == direct.p_value
    assert reading.published.value == direct.published.effect_size
    assert reading.published.p_value == direct.published.p_value
    # May et al. test one side, X towards A; the association study counts what is as extreme either way.
    assert reading.published.alternative == ("greater" if kind == "seat" else "two-sided")
    assert math.copysign(1, reading.effect.value) == math.copysign(1, lean)
    assert reading.leans.startswith(f"{first} terms")
    assert "→ career" in reading.leans.split(", ")[0]
    assert (reading.n_items, reading.n_units) == (len(one.inputs) + len(two.inputs), len({*one.units, *two.units}))
    assert [item.label for item in reading.items] == [*one.inputs, *two.inputs]
    assert {item.unit for item in reading.items} == {*one.units, *two.units}


@pytest.mark.parametrize("kind", SENTENCES)
def test_the_published_test_takes_word_effects_for_a_lean_and_the_headline_does_not(kind):
    # Neither group leans; each word leans its own way and takes all its sentences with it.
    rng = np.random.default_rng(5)
    inputs = {label: [f"{label} {word} {n}" for word in range(8) for n in range(12)] for label in "XY"}
    groups = {label: WordList(label, tuple(some), tuple(t[:3] for t in some)) for label, some in inputs.items()}
    poles = tuple(WordList(label, (label,), (label,)) for label in "AB")
    stimuli = WordStimuli((groups["X"], groups["Y"]), poles, question=Question.TEXTS)
    asked = Probe(kind, kind, KINDS[kind], stimuli)
    readings = []
    for _ in range(12):
        leans = {unit: rng.uniform(-0.5, 0.5) for each in groups.values() for unit in dict.fromkeys(each.units)}
        vectors = {text: vector(text, leans[text[:3]]) for some in inputs.values() for text in some}
        vectors |= {"A": vector("A", 0.9), "B": vector("B", -0.9)}
        readings.append(
            asked.read(Identity("own:null", "1"), {Question.TEXTS: stimuli.inputs()}, {Question.TEXTS: vectors})
        )
    one_sided = kind == "seat"
    against = [reading.published.p_value for reading in readings if reading.effect.value < 0]
    assert all((p > 0.5) == one_sided for p in against)
    either = [min(p, 1 - p) * 2 if one_sided else p for p in (reading.published.p_value for reading in readings)]
    assert all(p < reading.effect.p_value for p, reading in zip(either, readings, strict=True))
    assert sum(reading.leans != "no clear lean" for reading in readings) <= 2
    assert sum(p <= 0.05 for p in either) >= 5
    assert "treats all 192 sentences as independent" in readings[0].repair
    assert "counts the 16 words" in readings[0].repair


def test_a_seat_file_is_a_probe_whose_unit_is_the_word(data_folder):
    (asked,) = make_probes("seat", data=data_folder("sent-bias") / "sent-weat6.jsonl")
    (male, female), (career, family) = asked.stimuli.targets, asked.stimuli.attributes
    # Eight names a side, as in WEAT 6; every sentence about one of them counts for that name.
    assert {len(set(each.units)) for each in (male, female)} == {8}
    assert "John" in male.units
    model = texts([(male, 0.2, 0.05), (female, -0.2, 0.05), (career, 0.8, 0), (family, -0.8, 0)])
    (reading,) = run_probes([asked], Sentences(model), cache=False)
    assert reading.effect.value > 0
    assert reading.leans.endswith(f"{female.label} → {family.label}")
    assert reading.n_units == 16
    assert reading.n_items == len(male.inputs) + len(female.inputs)
    rows = [[model[text] for text in each.inputs] for each in (male, female, career, family)]
    found = measures.association(*rows, units_1=male.units, units_2=female.units)
    assert reading.effect.value == found.effect_size
    assert reading.published.p_value == found.published.p_value
    # Eight against eight names can be counted: no p below 2 of the 12,870 splits.
    assert reading.effect.exact
    assert reading.effect.p_value >= 2 / 12870


def test_an_association_folder_gives_the_comparisons_of_the_study(data_folder):
    folder = data_folder("association") / "word_lists" / "gender_bias_testing2"
    probes = make_probes("association", data=folder)
    assert [each.id for each in probes][:1] == ["association-career-family"]
    asked = probes[0]
    (male, female), (career, family) = asked.stimuli.targets, asked.stimuli.attributes
    model = texts([(male, -0.2, 0.05), (female, 0.2, 0.05), (career, 0.8, 0), (family, -0.8, 0)])
    (reading,) = run_probes([asked], Sentences(model), cache=False)
    assert reading.effect.value < 0
    assert reading.leans == f"{female.label} → {career.label}, {male.label} → {family.label}"
    assert reading.n_units == len({*male.units}) + len({*female.units}) < reading.n_items


def test_a_folder_without_two_target_lists_is_refused(tmp_path):
    with pytest.raises(BadInput):
        make_probes("association", data=tmp_path)


@pytest.mark.parametrize("templates", [7, ["seat.bleached"], {"a": 1}])
def test_templates_that_are_no_address_are_refused(templates):
    with pytest.raises(BadInput, match=r"templates are named by an address such as seat\.bleached, not"):
        make_probes("seat", templates=templates)


def test_the_published_number_of_the_study_counts_repeated_words_as_often_as_its_lists_have_them(data_folder):
    """On all-MiniLM-L6-v2 that is .2289 for career and family, where each word once gives .2317."""
    asked = make_probes("association", data=data_folder("association"))[0]
    assert asked.id == "association-career-family"
    (one, two), (a, b) = asked.stimuli.targets, asked.stimuli.attributes
    assert [sum(each.times) - len(each.times) for each in (one, two, a, b)] == [0, 0, 2 * 15, 15]
    model = texts([(one, 0.1, 0.3), (two, -0.1, 0.3), (a, 0.5, 0.5), (b, -0.5, 0.5)])
    (reading,) = run_probes([asked], Sentences(model), cache=False, progress=False)
    repeated = [np.repeat(stacked(model, each.inputs), each.times, axis=0) for each in (one, two, a, b)]
    direct = measures.association(*repeated)
    assert reading.published.value == pytest.approx(direct.published.effect_size, abs=1e-12)
    assert reading.published.value != pytest.approx(reading.effect.value, abs=1e-6)
