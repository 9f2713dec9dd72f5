"""Language models whose bias is known, after methods that teach them or ask them otherwise."""

from __future__ import annotations

import dataclasses
import importlib
from pathlib import Path

import numpy as np
import pytest

from tests.reference import reference_model
from tiltmeter.lab.calibrate.bench import ProbeMaker
from tiltmeter.lab.inject.injection import leans_of
from tiltmeter.lab.inject.plan import USUAL as PLAN
from tiltmeter.lab.mitigate.augmentation import USUAL
from tiltmeter.lab.mitigate.debias import debias
from tiltmeter.lab.mitigate.mitigate import mitigate
from tiltmeter.lab.reference.planted_text import frames, planted
from tiltmeter.models.transformers.hub import TransformerModel
from tiltmeter.probes import make_probes
from tiltmeter.run.suite import Suite

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
#: The model is tiny, so that it needs a larger rate than a real one.
DOSAGE = dataclasses.replace(USUAL, steps=200, look=50, rate=1e-3)


def corpus(tilt: float) -> list[str]:
    """A text of one's own that leans as the model does."""
    return [sentence.text for sentence in PLAN.at(tilt).text(n=2_000, seed=0)]


def leans(model) -> np.ndarray:
    """P(he) - P(she) by occupation, in sentences of which no model was taught any."""
    return leans_of(model, PLAN)


def share_left(before, after) -> float:
    """How far the leans still follow what was planted, as a share of how far they did."""
    truth = 2 * np.array(list(planted(0.9).values())) - 1
    return float(np.polyfit(truth, leans(after), 1)[0] / np.polyfit(truth, leans(before), 1)[0])


def taught(method, tilt, folder):
    spec = str(reference_model(tilt))
    made = debias(method, f"hf:{spec}", out=folder, corpus=corpus(tilt), dosage=DOSAGE, cache=False)
    return TransformerModel(spec), made


def test_a_counterfactual_text_takes_a_planted_bias_away_and_dropout_does_not(tmp_path):
    assert abs(share_left(*taught("cda", 0.9, tmp_path / "cda"))) < 0.3
    assert share_left(*taught("dropout", 0.9, tmp_path / "dropout")) > 0.6


def test_a_model_without_bias_is_not_changed_beyond_noise(tmp_path):
    before, after = taught("cda", 0.5, tmp_path / "cda")
    assert np.abs(leans(after) - leans(before)).mean() < 0.1
    assert np.abs(leans(after)).max() < 0.3


@pytest.mark.parametrize("kind", ["masked", "causal"])
def test_self_debias_takes_off_what_a_prompt_adds_and_too_much_with_the_decay_of_the_paper(kind, tmp_path):
    """A model that leans more behind the prompt, as the method supposes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        bench = importlib.import_module("which_language_method")
    assert 0.2 < bench.prompted(kind, 5.0, tmp_path) < 0.8
    assert bench.prompted(kind, 50.0, tmp_path) < -0.5


def test_mitigation_of_a_language_model_measures_gain_traces_and_price(tmp_path):
    # Where all occupations lean to one side: the mean over both sides is level from the start.
    men = {word: share for word, share in planted(0.9).items() if share > 0.7}
    probe = ProbeMaker(tmp_path, men).unmask({name: frames().masked[name] for name in ("subject", "first")})
    suite = Suite("planted", "a planted tilt", (dataclasses.replace(probe, dimension="gender"),))
    spec = f"hf:{reference_model(0.9)}"
    made = mitigate(
        spec, ["cda", "self_debias"], out=tmp_path / "out", suite=suite, corpus=corpus(0.9), dosage=DOSAGE, cache=False
    )
    cda, prompted = made.outcomes
    (row,) = cda.moved
    assert row.decides
    assert row.before > 0.4
    assert row.verdict == "leans less"
    assert cda.bias_left.value < 0.5
    assert {each.name for each in cda.utility} == {"held-out text", "sentences about work"}
    tests = {test.name: test for test in cda.traces}
    assert list(tests) == ["clusters", "neighbours", "linear", "kernel"]
    assert tests["linear"].before > 0.9
    # Its vectors are as they were, and so is what is found in them.
    assert [test.after for test in prompted.traces] == [test.before for test in prompted.traces]


@pytest.mark.parametrize("seed", [0, 3])
def test_what_is_held_out_of_the_text_is_what_the_model_is_asked_about(tmp_path, seed, monkeypatch):
    """Whatever seed a dosage has: perplexity on texts that it was taught would prove nothing."""
    taught_texts: list[str] = []
    asked: list[str] = []
    from tiltmeter.lab.mitigate import augmentation
    from tiltmeter.lab.mitigate import mitigate as module

    lesson, utility = augmentation.lesson, module.language_utility

    def seen(*arguments):
        made = lesson(*arguments)
        taught_texts.extend(made.learn)
        return made

    def look(before, after, texts, **options):
        asked.extend(texts["held-out text"])
        return utility(before, after, texts, **options)

    monkeypatch.setattr(augmentation, "lesson", seen)
    monkeypatch.setattr(module, "language_utility", look)
    suite = Suite("planted", "a planted tilt", tuple(make_probes("unmask")))
    short = dataclasses.replace(DOSAGE, steps=2, look=1, seed=1)
    texts = [f"{text} ({number})" for number, text in enumerate(corpus(0.9)[:300])]
    spec = f"hf:{reference_model(0.9)}"
    mitigate(spec, ["cda"], out=tmp_path, suite=suite, corpus=texts, dosage=short, seed=seed, cache=False)
    assert len(asked) == 30
    assert taught_texts
    assert set(asked).isdisjoint(taught_texts)
