from __future__ import annotations

import dataclasses
import json

import pytest

from tests.reference import reference_model
from tiltmeter.errors import BadInput
from tiltmeter.lab.inject import fine_tuning
from tiltmeter.lab.inject.plan import USUAL as PLAN
from tiltmeter.lab.mitigate.augmentation import DROPOUT, USUAL, held_out_texts, lesson, partners_of, read_texts, taught
from tiltmeter.lab.mitigate.debias import debias
from tiltmeter.lab.mitigate.fit_words import word_sets

PAIRS = word_sets("gender.gender")
SHORT = dataclasses.replace(USUAL, sentences=200, steps=6, look=2, rate=1e-3)


def spec() -> str:
    return f"hf:{reference_model(0.9)}"


def corpus() -> list[str]:
    """Sentences in which men and women do what the stereotype says."""
    return [sentence.text for sentence in PLAN.at(0.9).text(n=600, seed=0)]


def test_every_text_stands_beside_its_counterfactual_and_the_rest_is_counted():
    texts = ["He is a nurse.", "She gave her flowers.", "It rained.", "Mary is a plumber."] * 5
    made = lesson("cda", PAIRS, list(dict.fromkeys(texts)) + [f"She saw tree {n}." for n in range(30)], USUAL)
    pairs = dict(zip(made.learn[::2], made.learn[1::2], strict=True))
    assert pairs["She saw tree 3."] == "He saw tree 3."
    assert all(text not in made.learn for text in made.test)
    assert made.dropout is None
    counts = made.notes["counts"]
    assert counts["swapped"] == len(pairs)
    assert sum(counts[name] for name in counts if name != "texts") == counts["texts"]


def test_dropout_teaches_the_text_as_it_is():
    made = lesson("dropout", PAIRS, [f"She saw tree {n}." for n in range(30)], USUAL)
    assert made.dropout == DROPOUT
    assert not any(text.startswith("He") for text in made.learn)


def test_partners_lead_both_ways_and_names_change_places():
    partners = partners_of(PAIRS)
    assert (partners["he"], partners["she"], partners["James"]) == ("she", "he", "Mary")


def test_texts_are_held_out_by_the_seed():
    texts = [f"text {number}" for number in range(100)]
    learn, test = held_out_texts(texts, seed=1)
    assert (len(learn), len(test), sorted([*learn, *test])) == (90, 10, sorted(texts))
    assert held_out_texts(texts, seed=1) == (learn, test)
    assert held_out_texts(texts, seed=2) != (learn, test)


def test_a_corpus_is_one_text_per_line(tmp_path):
    (path := tmp_path / "text.txt").write_text("He  ran.\n\nShe ran.\nHe ran.\n", encoding="utf-8")
    assert read_texts(path) == ["He ran.", "She ran."]


def test_a_run_that_was_killed_resumes_at_its_checkpoint(tmp_path, monkeypatch):
    from transformers import TrainerCallback

    class Killed(BaseException):
        pass

    class Kill(TrainerCallback):
        def on_step_end(self, _args, state, _control, **_):
            if state.global_step == 5:
                raise Killed

    texts, sound = corpus(), fine_tuning.callbacks
    monkeypatch.setattr(fine_tuning, "callbacks", lambda patience: [*sound(patience), Kill()])
    with pytest.raises(Killed):
        taught("cda", spec(), out=tmp_path, sets=PAIRS, corpus=texts, dosage=SHORT)
    assert (tmp_path / "checkpoints" / "checkpoint-4").is_dir()
    steps: list[int] = []

    class Count(TrainerCallback):
        def on_step_end(self, _args, state, _control, **_):
            steps.append(state.global_step)

    monkeypatch.setattr(fine_tuning, "callbacks", lambda patience: [*sound(patience), Count()])
    model, training = taught("cda", spec(), out=tmp_path, sets=PAIRS, corpus=texts, dosage=SHORT)
    assert steps == [5, 6]
    assert training.steps == 6
    assert model.head == "masked"
    assert json.loads((tmp_path / "text.json").read_text())["counts"]["swapped"] > 100
    with pytest.raises(BadInput, match="made in another way"):
        taught("dropout", spec(), out=tmp_path, sets=PAIRS, corpus=texts, dosage=SHORT)


@pytest.mark.parametrize(
    ("model", "texts", "message"),
    [
        ({"he": [1.0, 2.0]}, ["He ran."], "cda fine-tunes a language model: give its spec"),
        ("bundled:glove", ["He ran."], "cannot be fine-tuned"),
        ("bundled:glove", None, "a text with --corpus"),
    ],
)
def test_what_cannot_be_taught_is_one_line(tmp_path, model, texts, message):
    with pytest.raises(BadInput, match=message):
        debias("cda", model, out=tmp_path / "m", corpus=texts)
    assert not (tmp_path / "m").exists()


def test_a_text_without_groups_teaches_nothing():
    with pytest.raises(BadInput, match="none of the 2 texts names a group"):
        lesson("cda", PAIRS, ["It rained.", "It snowed."], USUAL)
