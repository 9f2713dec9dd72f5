"""The self-test passes on a sound installation, and sees what was broken on purpose."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.reference import selftest_cache
from tiltmeter import measures
from tiltmeter.cli import lab as cli_lab
from tiltmeter.lab.calibrate import selftest as lab
from tiltmeter.models import CachedModel, VectorStore
from tiltmeter.models.protocol import Question

BY_HAND = (
    *("WEAT", "SEAT", "CEAT", "RIPA", "LPBS", "unmasking"),
    *("pairs", "pairs (nangia)", "pairs (meade)", "ClozeGender", "CABM"),
)
OF_SPANS = {"CEAT", "CABM (equal)"}
OF_FILLS = {"unmasking", "LPBS"}
OF_PAIRS = {"pairs (nangia)", "pairs (meade)"}


@pytest.fixture(autouse=True, scope="module")
def models():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TILTMETER_CACHE", str(selftest_cache()))
        yield


@pytest.fixture(scope="module")
def checks():
    with VectorStore() as store:
        return lab.selftest(store=store)


def failed(store: VectorStore | None = None) -> set[str]:
    """The measures of which something does not read true."""
    return {check.what.partition(",")[0] for check in lab.selftest(store=store) if not check.passed}


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
    names = {check.what.partition(",")[0] for check in checks}
    assert names == {*BY_HAND, *(measure for measure, _ in lab.MUST_FOLLOW)}
    with_effect = [check for check in checks if "its effect" in check.what]
    assert len(with_effect) == 5  # LPBS, pairs, WEAT, SEAT, CEAT: the others compare no halves
    assert len(checks) == len(BY_HAND) + 3 * len(lab.MUST_FOLLOW) + len(with_effect)


@pytest.mark.parametrize(
    ("question", "change", "seen"),
    [
        (Question.FILLS, swapped, OF_FILLS),
        (Question.CONTINUATIONS, swapped, {"ClozeGender"}),
        (Question.FILLS, shuffled, OF_FILLS),
        (Question.CONTINUATIONS, shuffled, {"ClozeGender"}),
        (Question.SPANS, shuffled, OF_SPANS),
        (Question.WORDS, shuffled, {"WEAT"}),
        (Question.TEXTS, shuffled, {"SEAT"}),
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
def test_wrong_answers_of_models_are_seen(question, change, seen, monkeypatch):
    wrong_answers(monkeypatch, question, change)
    with VectorStore() as store:
        assert failed(store) >= seen


def test_pairs_counted_the_wrong_way_round_are_seen(monkeypatch):
    for name in ("nangia", "meade"):
        sound = getattr(measures, name)
        monkeypatch.setattr(measures, name, lambda *args, sound=sound: (found := sound(*args)) and found[::-1])
    with VectorStore() as store:
        assert failed(store) == OF_PAIRS


def turned(name, field):
    def turn(found):
        return dataclasses.replace(found, **{field: -np.asarray(getattr(found, field))})

    return name, turn


@pytest.mark.parametrize(
    ("name", "turn", "seen"),
    [
        (*turned("weat", "effect_size"), {"WEAT"}),
        (*turned("association", "effect_size"), {"SEAT"}),
        (*turned("lpbs", "associations"), {"LPBS"}),
        (*turned("cabm", "scores"), {"CABM", "CABM (equal)"}),
        (*turned("pronoun_gap", "gap"), {"unmasking"}),
    ],
)
def test_a_sign_that_was_turned_round_is_seen(name, turn, seen, monkeypatch):
    sound = getattr(measures, name)
    monkeypatch.setattr(measures, name, lambda *args, **options: turn(sound(*args, **options)))
    with VectorStore() as store:
        assert failed(store) == seen


def test_a_measure_that_breaks_off_is_a_failed_check_and_the_others_go_on(monkeypatch):
    def broken(*_, **__):
        raise ValueError("shapes do not match")

    monkeypatch.setattr(measures, "ripa", broken)
    with VectorStore() as store:
        assert failed(store) == {"RIPA"}


def test_the_command_says_so_and_its_exit_code_too(checks, monkeypatch):
    monkeypatch.setattr(lab, "selftest", lambda: checks)
    sound = CliRunner().invoke(cli_lab.app)
    assert sound.exit_code == 0
    assert f"this installation reads true ({len(checks)} checks)" in sound.output
    wrong = lab.SelfCheck("unmasking, by hand", "0.150000", "-0.150000", False)
    monkeypatch.setattr(lab, "selftest", lambda: [wrong, *checks[1:]])
    found = CliRunner().invoke(cli_lab.app)
    assert found.exit_code == 1
    assert "NOT TRUE: unmasking, by hand: expected 0.150000, found -0.150000" in found.output
    assert "do not trust this installation" in found.output
