"""The self-test sees a measure that was broken on purpose."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from typer.testing import CliRunner

from tests.lab.test_calibration import SETTINGS
from tiltmeter import cli_calibrate, measures
from tiltmeter.lab import selftest as lab
from tiltmeter.lab.leans import Leans, by_words
from tiltmeter.lab.text import planted

MEASURES = ("WEAT", "SEAT", "CEAT", "RIPA", "LPBS", "unmasking", "pairs", "ClozeGender", "CABM")


def models(sign: float = 1.0):
    """What good models would say: strong leans in the planted order at .9, noise at .5."""

    def read(_settings, dose, _seed, _store):
        truth = np.array(list(planted(dose).values()))[:, None] - 0.5
        noise = np.random.default_rng(0).normal(scale=0.001, size=(60, 1))
        return [
            Leans(*key, "units", values := sign * (truth + noise), ("all",), False, by_words(values))
            for key in lab.MUST_FOLLOW
        ]

    return read


@pytest.fixture(autouse=True)
def _no_training(monkeypatch):
    monkeypatch.setattr(lab, "reference_folder", lambda *_, **__: None)
    monkeypatch.setattr(lab, "read_models", models())


def failed() -> list[str]:
    return [check.what for check in lab.selftest(settings=SETTINGS) if not check.passed]


def test_a_sound_installation_reads_true():
    checks = lab.selftest(settings=SETTINGS)
    assert [check.what for check in checks if not check.passed] == []
    assert {check.what.partition(",")[0] for check in checks} >= set(MEASURES)


def test_the_sign_of_weat_turned_round_is_seen(monkeypatch):
    sound = measures.weat
    monkeypatch.setattr(
        measures,
        "weat",
        lambda *args, **options: dataclasses.replace(found := sound(*args, **options), effect_size=-found.effect_size),
    )
    assert failed() == ["WEAT, by hand"]


def test_a_measure_that_breaks_off_is_a_failed_check_and_the_others_go_on(monkeypatch):
    def broken(*_, **__):
        raise ValueError("shapes do not match")

    monkeypatch.setattr(measures, "lpbs", broken)
    assert failed() == ["LPBS, by hand"]


def test_models_read_the_wrong_way_round_are_seen(monkeypatch):
    monkeypatch.setattr(lab, "read_models", models(sign=-1.0))
    assert len(failed()) == 2 * len(lab.MUST_FOLLOW)


def test_the_command_says_so_and_its_exit_code_too(monkeypatch):
    sound = CliRunner().invoke(cli_calibrate.selftest_app)
    assert sound.exit_code == 0
    assert "this installation reads true" in sound.output
    monkeypatch.setattr(measures, "pronoun_gap", lambda *_, **__: type("Gap", (), {"gap": -0.15}))
    wrong = CliRunner().invoke(cli_calibrate.selftest_app)
    assert wrong.exit_code == 1
    assert "NOT TRUE: unmasking, by hand: expected 0.150000, found -0.150000" in wrong.output
    assert "do not trust this installation" in wrong.output
