"""The probes of the lab are those of users, and are told which occupations are with men."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference import reference_model
from tiltmeter.lab.calibrate.bench import AskedModel, Bench, ProbeMaker, with_men
from tiltmeter.lab.reference.planted_text import frames, planted
from tiltmeter.lab.reference.planted_vectors import PlantedVectors
from tiltmeter.models import CachedModel
from tiltmeter.models.transformers.hub import TransformerModel
from tiltmeter.probes import KINDS

WORDS = list(planted(0.9))
MEN = with_men(planted(0.9))


@pytest.fixture(scope="module")
def maker(tmp_path_factory) -> ProbeMaker:
    return ProbeMaker(tmp_path_factory.mktemp("lab"), WORDS)


@pytest.fixture(scope="module")
def probes(maker):
    masked = {"unmask": maker.unmask(frames().masked), **maker.of_masked_halves(frames().masked, MEN)}
    vectors = {
        "cabm": maker.cabm(frames().masked, forests=False),
        **maker.of_vector_halves(frames().plain, MEN),
        "ceat": maker.ceat(frames().plain, MEN),
    }
    return {"masked": masked, "vectors": vectors}


@pytest.fixture(scope="module")
def asked(probes) -> dict[str, AskedModel]:
    models = {"masked": TransformerModel(str(reference_model(0.9))), "vectors": PlantedVectors("vectors-0.9")}
    return {kind: AskedModel(CachedModel(model), probes[kind]) for kind, model in models.items()}


@pytest.fixture(scope="module")
def readings(asked, probes):
    return {name: found for kind, model in asked.items() for name, found in model.read(probes[kind]).items()}


def test_every_probe_is_of_a_kind_that_users_run(probes, maker):
    made = {**probes["masked"], **probes["vectors"], **maker.of_causal(frames().cloze)}
    assert {probe.kind.name for probe in made.values()} == {
        "unmask", "lpbs", "pronouns", "pairs", "cabm", "weat", "seat", "ceat", "wefat", "cloze",
    }  # fmt: skip
    assert all(probe.kind is KINDS[probe.kind.name] for probe in made.values())


def test_every_occupation_is_measured_in_every_frame(readings):
    for name in ("unmask", "cabm", "unmask-shares", "lpbs", "weat", "ceat", "wefat"):
        assert {item.unit for item in readings[name].items} == set(WORDS), name
        assert len(readings[name].items) == 60
    rows = {"pronouns": 16, "seat": 6, "pairs-nangia": 8, "pairs-meade": 8}
    assert {name: len(readings[name].items) for name in rows} == {name: 60 * n for name, n in rows.items()}


def test_halves_are_told_in_the_way_of_each_probe(readings):
    men = {word for word, man in zip(WORDS, MEN, strict=True) if man}
    for name in ("lpbs", "weat", "seat", "ceat"):
        first = readings[name].items[0].group
        assert {item.unit for item in readings[name].items if item.group == first} == men, name


@pytest.mark.parametrize(
    "name", ["unmask-shares", "lpbs", "pronouns", "pairs-nangia", "pairs-meade", "weat", "seat", "ceat", "wefat"]
)
def test_a_strong_tilt_is_seen_and_has_the_right_sign(readings, name):
    effect = readings[name].effect
    assert effect.value > effect.level
    assert effect.p_value <= 0.03  # the fewest attributes have 2 of 70 splits


def test_the_same_contexts_halved_the_other_way_turn_the_sign_of_ceat(asked, probes, readings, maker):
    turned = asked["vectors"].read({"ceat": maker.ceat_halved(probes["vectors"]["ceat"], ~MEN)})["ceat"]
    assert turned.effect.value == pytest.approx(-readings["ceat"].effect.value, rel=0.05)  # the draws differ


def test_any_halving_is_read_off_the_same_answers(asked, maker):
    men = np.random.default_rng(0).permutation(MEN)
    halved = {
        "masked": maker.of_masked_halves(frames().masked, men),
        "vectors": maker.of_vector_halves(frames().plain, men),
    }
    for kind, probes in halved.items():
        before = asked[kind].model.asked
        assert set(asked[kind].read(probes)) == set(probes)
        assert asked[kind].model.asked == before


def test_measures_of_vectors_are_put_to_planted_vectors_and_no_others(tmp_path):
    tools = Bench(tmp_path, only={"seat", "cabm"})
    asked = tools.ask((), 0.9, 0, None, kinds=["vectors"])
    assert asked.by_kind["vectors"].model.identity.name == "reference:vectors-0.9"
    assert {form.measure for form in asked.readings} == {
        "SEAT",
        *(f"CABM ({weighting})" for weighting in ("equal", "pca", "pca_rf", "shap_rf")),
    }
