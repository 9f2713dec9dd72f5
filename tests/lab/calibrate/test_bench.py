"""The probes of the lab are those of users, and are told which occupations are with men."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reference import reference_model
from tiltmeter.lab.calibrate.bench import AskedModel, ProbeMaker, with_men
from tiltmeter.lab.reference.planted_text import frames, planted
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
    plain = frames().plain
    return {
        **maker.of_masked(frames().masked),
        **maker.of_masked_halves(frames().masked, MEN),
        **maker.of_vector_halves(plain, MEN),
        "ceat": maker.ceat(plain, MEN),
    }


@pytest.fixture(scope="module")
def asked(probes) -> AskedModel:
    return AskedModel(CachedModel(TransformerModel(str(reference_model(0.9)))), probes)


@pytest.fixture(scope="module")
def readings(asked, probes):
    return asked.read(probes)


def test_every_probe_is_of_a_kind_that_users_run(probes, maker):
    made = {**probes, **maker.of_causal(frames().cloze)}
    assert {probe.kind.name for probe in made.values()} == {
        "unmask", "lpbs", "pronouns", "pairs", "cabm", "weat", "seat", "ceat", "cloze",
    }  # fmt: skip
    assert all(probe.kind is KINDS[probe.kind.name] for probe in made.values())


def test_every_occupation_is_measured_in_every_frame(readings):
    for name in ("unmask", "cabm", "unmask-shares", "lpbs", "weat", "ceat"):
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
    "name", ["unmask-shares", "lpbs", "pronouns", "pairs-nangia", "pairs-meade", "weat", "seat", "ceat"]
)
def test_a_strong_tilt_is_seen_and_has_the_right_sign(readings, name):
    effect = readings[name].effect
    assert effect.value > effect.level
    assert effect.p_value <= 0.01


def test_the_same_contexts_halved_the_other_way_turn_the_sign_of_ceat(asked, probes, readings, maker):
    turned = asked.read({"ceat": maker.ceat_halved(probes["ceat"], ~MEN)})["ceat"]
    assert turned.effect.value == pytest.approx(-readings["ceat"].effect.value, rel=0.05)  # the draws differ


def test_any_halving_is_read_off_the_same_answers(asked, maker):
    men = np.random.default_rng(0).permutation(MEN)
    before = asked.model.asked
    halved = maker.of_masked_halves(frames().masked, men) | maker.of_vector_halves(frames().plain, men)
    assert set(asked.read(halved)) == set(halved)
    assert asked.model.asked == before
