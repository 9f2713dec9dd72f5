"""The self-test passes on a sound installation, and sees what was broken on purpose."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.reference import selftest_cache
from tiltmeter import measures
from tiltmeter.cli.lab import app
from tiltmeter.lab.calibrate import selftest as lab
from tiltmeter.lab.calibrate.hand_examples import hand_examples
from tiltmeter.models import CachedModel, VectorStore
from tiltmeter.models.protocol import Question
from tiltmeter.statistics import estimates, families, intervals

OF_TEXTS, OF_SPANS, OF_WORDS = {"SEAT"}, {"CEAT", "CABM (equal)"}, {"WEAT", "WEFAT"}
OF_FILLS = {"unmasking (shares)", "LPBS"}


@pytest.fixture(autouse=True, scope="module")
def models():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TILTMETER_CACHE", str(selftest_cache()))
        yield


@pytest.fixture(scope="module")
def checks():
    with VectorStore() as store:
        return lab.selftest(store=store)


def failed(*kinds: str) -> set[str]:
    """The measures and statistics of which something does not read true, on reference models of these kinds."""
    with VectorStore() as store:
        checks = lab.selftest(store=store, kinds=kinds)
    return {check.what.partition(",")[0] for check in checks if not check.passed}


def wrong_answers(monkeypatch, question, change):
    """Let models answer a question otherwise: ``change`` takes a list of answers."""
    sound = CachedModel.answers

    def answers(self, asked, inputs, **options):
        found = sound(self, asked, inputs, **options)
        if asked is not question:
            return found
        own = list(dict.fromkeys(inputs))
        return dict(zip(own, change([found[each] for each in own]), strict=True))

    monkeypatch.setattr(CachedModel, "answers", answers)


def swapped(found):
    return [dataclasses.replace(each, logprobs=each.logprobs[::-1]) for each in found]


def shuffled(found):
    return [found[at] for at in np.random.default_rng(0).permutation(len(found))]


def test_a_sound_installation_reads_true(checks):
    assert [check for check in checks if not check.passed] == []
    assert len(checks) == len(hand_examples()) + len(lab.LIMITS)
    assert {measure for measure, _ in lab.LIMITS} == set(lab.MEASURES)


def test_every_measure_must_order_the_occupations_and_lean_their_way():
    for measure, (kind, _) in lab.MEASURES.items():
        assert lab.LIMITS[measure, lab.ORDER].low >= 0.48, measure  # shuffled, they reach it once in 10,000
        assert lab.LIMITS[measure, lab.TILTED].low >= 0, measure
        if measure != "ClozeGender":
            level = lab.LIMITS[measure, lab.UNTILTED if kind == "vectors" else lab.SDS_UNTILTED]
            assert level.low < 0 < level.high, measure


@pytest.mark.parametrize(
    ("question", "change", "kind", "seen"),
    [
        (Question.FILLS, swapped, "masked", OF_FILLS),
        (Question.CONTINUATIONS, swapped, "causal", {"ClozeGender"}),
        (Question.FILLS, shuffled, "masked", OF_FILLS),
        (Question.CONTINUATIONS, shuffled, "causal", {"ClozeGender"}),
        (Question.SPANS, shuffled, "vectors", OF_SPANS),
        (Question.WORDS, shuffled, "vectors", OF_WORDS),
        (Question.TEXTS, shuffled, "vectors", OF_TEXTS),
    ],
    ids=[
        "groups swapped",
        "endings swapped",
        "fills shuffled",
        "endings shuffled",
        "words in context shuffled",
        "words shuffled",
        "texts shuffled",
    ],
)
def test_wrong_answers_of_models_are_seen(question, change, kind, seen, monkeypatch):
    wrong_answers(monkeypatch, question, change)
    assert failed(kind) == seen


def test_pairs_counted_the_wrong_way_round_are_seen(monkeypatch):
    for name in ("nangia", "meade"):
        sound = getattr(measures, name)
        monkeypatch.setattr(measures, name, lambda *args, sound=sound: (found := sound(*args)) and found[::-1])
    assert failed("masked") == {"pairs (nangia)", "pairs (meade)"}


def turned(name, field):
    def turn(found):
        return dataclasses.replace(found, **{field: -np.asarray(getattr(found, field))})

    return name, turn


@pytest.mark.parametrize(
    ("name", "turn", "seen"),
    [
        (*turned("weat", "effect_size"), {"WEAT"}),
        (*turned("association", "effect_size"), {"SEAT"}),
        (*turned("wefat", "effect_sizes"), {"WEFAT"}),
        (*turned("cabm", "scores"), {"CABM", "CABM (equal)"}),
    ],
)
def test_a_sign_that_was_turned_round_is_seen_by_hand_and_through_the_probes(name, turn, seen, monkeypatch):
    sound = getattr(measures, name)
    monkeypatch.setattr(measures, name, lambda *args, **options: turn(sound(*args, **options)))
    checks = lab.selftest(kinds=["vectors"])
    wrong = [check.what for check in checks if not check.passed]
    assert {what.partition(",")[0] for what in wrong} == seen
    assert {"by hand" in what for what in wrong} == {True, False}


def test_the_effect_of_lpbs_is_that_of_the_measure(monkeypatch):
    sound = measures.lpbs

    def turned_round(*args, **options):
        found = sound(*args, **options)
        return found if found.effect_size is None else dataclasses.replace(found, effect_size=-found.effect_size)

    monkeypatch.setattr(measures, "lpbs", turned_round)
    with VectorStore() as store:
        wrong = {check.what for check in lab.selftest(store=store, kinds=["masked"]) if not check.passed}
    assert wrong == {"LPBS, d, by hand", f"LPBS, {lab.TILTED}"}


def without_prior(monkeypatch):
    sound = measures.lpbs
    flat = lambda prior: np.full_like(prior, -1.0)  # noqa: E731
    monkeypatch.setattr(
        measures, "lpbs", lambda f_1, p_1, f_2, p_2, **options: sound(f_1, flat(p_1), f_2, flat(p_2), **options)
    )


def without_studentising(monkeypatch):
    def plain(masks, total, size):
        return masks @ total / (masks @ size) - ~masks @ total / (~masks @ size)

    monkeypatch.setattr(families, "_studentised", plain)


def two_sided_for_one_sided(monkeypatch):
    sound = families.p_from_null
    monkeypatch.setattr(
        families,
        "p_from_null",
        lambda null, seen, **options: sound(null, seen, **{**options, "alternative": "two-sided"}),
    )


def one_sided_for_two_sided(monkeypatch):
    sound = families.p_from_null
    monkeypatch.setattr(
        families,
        "p_from_null",
        lambda null, seen, **options: sound(null, seen, **{**options, "alternative": "greater"}),
    )


def words_for_families(monkeypatch):
    monkeypatch.setattr(families, "as_labels", lambda _, n: np.arange(n))


def attributes_left_out(monkeypatch):
    sound = families.crossed_test

    def of_targets(*args, **options):
        found = sound(*args, **options)
        return dataclasses.replace(found, p_value=found.by_targets.p_value)

    monkeypatch.setattr(families, "crossed_test", of_targets)


def shorter(interval):
    middle, reach = (interval.low + interval.high) / 2, 0.9 * (interval.high - interval.low) / 2
    return dataclasses.replace(interval, low=middle - reach, high=middle + reach)


def interval_of_effects_too_short(monkeypatch):
    sound = intervals._centred_interval
    monkeypatch.setattr(intervals, "_centred_interval", lambda *args, **options: shorter(sound(*args, **options)))


def interval_of_shares_too_short(monkeypatch):
    sound = estimates.wilson
    monkeypatch.setattr(estimates, "wilson", lambda *args, **options: shorter(sound(*args, **options)))


@pytest.mark.parametrize(
    ("mutate", "seen"),
    [
        (without_prior, {"LPBS"}),
        (without_studentising, {"permutation of unequal groups", "targets and attributes"}),
        (two_sided_for_one_sided, {"permutation of unequal groups"}),
        (one_sided_for_two_sided, {"permutation of unequal groups", "WEAT", "targets and attributes"}),
        (words_for_families, {"permutation of families"}),
        (attributes_left_out, {"targets and attributes"}),
        (interval_of_effects_too_short, {"effect size"}),
        (interval_of_shares_too_short, {"pairs"}),
    ],
)
def test_an_error_in_the_statistics_is_seen_by_hand(mutate, seen, monkeypatch):
    mutate(monkeypatch)
    assert failed() >= seen


def test_a_measure_that_breaks_off_is_a_failed_check_and_the_others_go_on(monkeypatch):
    def broken(*_, **__):
        raise ValueError("shapes do not match")

    monkeypatch.setattr(measures, "ripa", broken)
    assert failed() == {"RIPA"}


def test_the_command_says_so_and_its_exit_code_too(checks, monkeypatch):
    monkeypatch.setattr(lab, "selftest", lambda: checks)
    sound = CliRunner().invoke(app)
    assert sound.exit_code == 0
    assert f"this installation measures correctly ({len(checks)} checks)" in sound.output
    wrong = lab.SelfCheck("unmasking, by hand", "0.150000", "-0.150000", False)
    monkeypatch.setattr(lab, "selftest", lambda: [wrong, *checks[1:]])
    found = CliRunner().invoke(app)
    assert found.exit_code == 1
    assert "WRONG: unmasking, by hand: expected 0.150000, found -0.150000" in found.output
    assert "do not trust this installation" in found.output
