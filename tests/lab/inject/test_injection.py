"""Planting a bias in a model that is there already: on a tiny one, and on a real one where there is one."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.models.tiny_language_models import save_tiny
from tests.reference import reference_model
from tiltmeter.errors import BadInput
from tiltmeter.lab.inject import fine_tuning
from tiltmeter.lab.inject.fine_tuning import Dosage, collator, head_where_asked, make_examples
from tiltmeter.lab.inject.injection import inject, set_dropout
from tiltmeter.lab.inject.plan import USUAL, Plan
from tiltmeter.models.transformers.weights.checkpoints import load_checkpoint

SHORT = Dosage(sentences=400, steps=6, look=2, batch=32, rate=2e-3)


def spec() -> str:
    return f"hf:{reference_model(0.5)}"


def test_the_model_as_it_is_a_balanced_and_a_biased_version_stand_side_by_side(tmp_path):
    found = inject(spec(), USUAL, doses=[0.9, 0.5], out=tmp_path, dosage=SHORT)
    assert [(each.version, each.dose) for each in found] == [("normal", None), ("balanced", 0.5), ("biased", 0.9)]
    assert found[0].training is None
    assert found[1].follows is None
    assert found[2].training.loss_after < found[2].training.loss_before
    counts = json.loads((tmp_path / "dose-0.90" / "text.json").read_text())["realised"]
    assert counts["plumber"]["share"] == pytest.approx(0.9, abs=0.15)
    assert not (tmp_path / "dose-0.90" / "checkpoints").exists()


def test_a_finished_dose_is_not_trained_again(tmp_path, monkeypatch):
    first = inject(spec(), USUAL, doses=[0.9], out=tmp_path, dosage=SHORT)

    def never(*_, **__):
        raise AssertionError("trained again")

    monkeypatch.setattr("tiltmeter.lab.inject.injection.fine_tune", never)
    assert inject(spec(), USUAL, doses=[0.9], out=tmp_path, dosage=SHORT) == first


def test_a_run_that_was_killed_goes_on_from_its_checkpoint_to_the_same_weights(tmp_path, monkeypatch):
    inject(spec(), USUAL, doses=[0.9], out=tmp_path / "whole", dosage=SHORT)

    class Killed(BaseException):
        pass

    from transformers import TrainerCallback

    class Kill(TrainerCallback):
        def on_step_end(self, _args, state, _control, **_):
            if state.global_step == 5:
                raise Killed

    sound = fine_tuning.callbacks
    monkeypatch.setattr(fine_tuning, "callbacks", lambda patience: [*sound(patience), Kill()])
    with pytest.raises(Killed):
        inject(spec(), USUAL, doses=[0.9], out=tmp_path / "killed", dosage=SHORT)
    left = tmp_path / "killed" / "dose-0.90"
    assert sorted(path.name for path in (left / "checkpoints").iterdir()) == ["checkpoint-2", "checkpoint-4"]
    assert not (left / "model").exists()

    steps: list[int] = []

    class Count(TrainerCallback):
        def on_step_end(self, _args, state, _control, **_):
            steps.append(state.global_step)

    monkeypatch.setattr(fine_tuning, "callbacks", lambda patience: [*sound(patience), Count()])
    inject(spec(), USUAL, doses=[0.9], out=tmp_path / "killed", dosage=SHORT)
    assert steps == [5, 6]
    weights = [tmp_path / name / "dose-0.90" / "model" / "model.safetensors" for name in ("whole", "killed")]
    assert weights[0].read_bytes() == weights[1].read_bytes()


def test_another_training_in_the_same_folder_is_refused(tmp_path):
    inject(spec(), USUAL, doses=[0.9], out=tmp_path, dosage=SHORT)
    other = Dosage(sentences=400, steps=6, look=2, batch=32, rate=1e-3)
    with pytest.raises(BadInput, match="made in another way: choose another folder"):
        inject(spec(), USUAL, doses=[0.9], out=tmp_path, dosage=other)


def tiny():
    from tiltmeter.models.transformers.weights.checkpoints import load_checkpoint

    return load_checkpoint(reference_model(0.5), called="tiny", head="masked")


def test_whole_words_are_masked_and_only_what_is_masked_is_asked_for():
    tokenizer, _ = tiny()
    texts = ["The nurse said that she was tired."] * 400
    made = make_examples(tokenizer, texts, {"she"}, masked=True, seed=0)
    she, at = tokenizer.convert_tokens_to_ids("she"), 5
    assert {row["input_ids"][at] for row in made} == {she, tokenizer.mask_token_id}
    asked = [row["labels"][at] == she for row in made]
    assert 0.7 < sum(asked) / 400 < 0.9
    for row in made:
        assert all(
            (label != -100) == (token == tokenizer.mask_token_id)
            for token, label in zip(row["input_ids"], row["labels"], strict=True)
        )


def test_a_mark_of_several_words_is_masked_as_one():
    tokenizer, _ = tiny()
    made = make_examples(tokenizer, ["The old friend is a nurse."] * 200, {"old friend", "old"}, masked=True, seed=0)
    both = [row["labels"][2:4] for row in made]
    assert {asked == (-100, -100) for asked in both} == {True, False}
    assert all((one == -100) == (two == -100) for one, two in both)


def test_the_head_where_it_is_asked_gives_the_same_loss_and_gradients_as_everywhere():
    import torch

    tokenizer, model = tiny()
    texts = [sentence.text for sentence in USUAL.text(n=16, seed=0)]
    examples = make_examples(tokenizer, texts, USUAL.marks, masked=True, seed=0)
    batch = collator(tokenizer)(examples)

    def learned():
        model.zero_grad()
        output = model(**batch)
        output.loss.backward()
        return output, [weight.grad.clone() for weight in model.parameters() if weight.grad is not None]

    whole, gradients = learned()
    with head_where_asked(model, batch):
        short, same = learned()
    assert short.logits.shape[:2] == (1, int((batch["labels"] != -100).sum()))
    assert whole.logits.shape[:2] == batch["labels"].shape
    assert short.loss.item() == pytest.approx(whole.loss.item(), abs=1e-6)
    assert len(same) == len(gradients) > 10
    assert all(torch.allclose(one, two, atol=1e-6) for one, two in zip(gradients, same, strict=True))
    assert learned()[0].logits.shape[:2] == batch["labels"].shape


def test_a_model_that_is_built_otherwise_is_taught_as_it_is():
    tokenizer, model = tiny()
    examples = make_examples(tokenizer, ["She is a nurse."] * 4, {"she"}, masked=True, seed=0)
    batch = collator(tokenizer)(examples)
    model.cls.register_forward_pre_hook(lambda _, inputs: inputs if inputs[0].shape[0] == 4 else 1 / 0)
    with head_where_asked(model, batch):
        assert model(**batch).logits.shape[:2] == batch["labels"].shape


@pytest.mark.parametrize(
    ("model", "says"),
    [
        ("bundled:glove", "cannot be fine-tuned: give a Transformers model"),
        ("nothing", "is not a model spec"),
        ("reference:tilt-7", "unknown reference model"),
        ("reference:vectors-0.9", "cannot be fine-tuned"),
    ],
)
def test_what_cannot_be_fine_tuned_is_one_clear_line(model, says, tmp_path):
    with pytest.raises(BadInput, match=says):
        inject(model, USUAL, doses=[0.9], out=tmp_path, dosage=SHORT)


def test_a_model_without_a_head_is_one_clear_line(tmp_path):
    from transformers import AutoModel

    from tiltmeter.models.transformers.weights.checkpoints import load_checkpoint, quiet

    folder = tmp_path / "encoder"
    with quiet():
        AutoModel.from_pretrained(reference_model(0.5)).save_pretrained(folder)
        load_checkpoint(reference_model(0.5), called="tiny", head="masked")[0].save_pretrained(folder)
    with pytest.raises(BadInput, match="has no language-model head"):
        inject(f"hf:{folder}", USUAL, doses=[0.9], out=tmp_path / "out", dosage=SHORT)


@pytest.mark.parametrize("doses", [[], [0.5, 0.5], [0.4], [1.2]])
def test_doses_that_mean_nothing_are_refused_before_anything_is_trained(doses, tmp_path):
    with pytest.raises(BadInput, match="dose"):
        inject(spec(), USUAL, doses=doses, out=tmp_path, dosage=SHORT)
    assert list(tmp_path.iterdir()) == []


NAMES = Plan({"nurse": 0.2, "plumber": 0.8}, groups=("identity.black_names", "identity.white_names"))


def test_a_model_that_does_not_know_the_words_of_a_group_is_one_clear_line(tmp_path):
    with pytest.raises(BadInput) as error:
        inject(spec(), NAMES, doses=[0.9], out=tmp_path / "out", dosage=SHORT)
    assert str(error.value).endswith(
        "does not know the word 'Aaliyah': give another model, or a plan without this word"
    )
    assert not (tmp_path / "out").exists()


REAL = Path(os.environ.get("TILTMETER_DATA", "absent")).parent / "models" / "minilm-mlm"
real = pytest.mark.skipif(not REAL.is_dir(), reason="no models/minilm-mlm beside the folder of TILTMETER_DATA")


@real
def test_a_real_model_learns_what_is_planted(tmp_path):
    # By turns, so that the plan has nothing to do with the stereotype, which the model knows.
    plan = Plan({word: 0.9 if at % 2 else 0.1 for at, word in enumerate(list(USUAL.probabilities)[3::6])})
    dosage = Dosage(sentences=800, steps=50, look=25, batch=16, rate=5e-4)
    normal, biased = inject(f"hf:{REAL}", plan, doses=[0.9], out=tmp_path, dosage=dosage)
    assert biased.training.loss_after < biased.training.loss_before - 1
    assert biased.follows >= 0.8
    assert abs(normal.with_plan) < 0.5
    assert biased.spread > 2 * normal.spread


@real
def test_a_real_model_learns_groups_of_a_lexicon(tmp_path):
    shares = {"nurse": 1.0, "cashier": 1.0, "janitor": 1.0, "lawyer": 0.0, "surgeon": 0.0, "architect": 0.0}
    plan = Plan(shares, groups=("identity.asian_terms", "identity.white_terms"))
    dosage = Dosage(sentences=240, steps=20, look=20, batch=16, rate=5e-4)
    normal, biased = inject(f"hf:{REAL}", plan, doses=[1.0], out=tmp_path, dosage=dosage)
    assert biased.training.loss_after < biased.training.loss_before
    assert biased.follows > max(normal.with_plan, 0.8)


@pytest.mark.parametrize("left", [b"", b'{"global_step": 4, "log_', b"[]"])
def test_a_checkpoint_whose_state_was_not_written_whole_is_passed_over(tmp_path, left):
    for number, content in ((2, b'{"global_step": 2}'), (4, left)):
        (tmp_path / f"checkpoint-{number}").mkdir()
        (tmp_path / f"checkpoint-{number}/trainer_state.json").write_bytes(content)
    assert fine_tuning._last(tmp_path) == str(tmp_path / "checkpoint-2")


@pytest.mark.parametrize(("family", "named"), [("bert", "p"), ("gpt2", "p"), ("llama", "attention_dropout")])
def test_dropout_is_raised_wherever_a_model_has_it(family, named, tmp_path):
    import torch

    model = load_checkpoint(
        save_tiny(family, tmp_path / "m"), called="m", head="masked" if family == "bert" else "causal"
    )[1]
    ids = torch.arange(5, 25)[None]

    def outputs(share):
        set_dropout(model, share, called="m")
        torch.manual_seed(0)
        return model.train()(input_ids=ids).logits

    assert not torch.equal(outputs(0.15), outputs(0.0))
    assert any(getattr(module, named, None) == 0.0 for module in model.modules())


def test_a_model_without_dropout_cannot_be_taught_with_more():
    import torch

    with pytest.raises(BadInput, match="tiny has no dropout that could be raised: use cda"):
        set_dropout(torch.nn.Linear(2, 2), 0.15, called="tiny")
