"""Fine-tuning with Transformers' Trainer: checkpoints, resuming, when to stop, and no work that no loss reads."""

from __future__ import annotations

import contextlib
import dataclasses
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from tiltmeter.errors import BadInput
from tiltmeter.files import read_json
from tiltmeter.lab.drafts import appearing
from tiltmeter.lab.inject.examples import NOT_ASKED, TrainingExamples, collator
from tiltmeter.models.transformers.checkpoints import quiet

_CHECKPOINTS = "checkpoints"
#: Largest difference in loss that the short way may make on the trial batch.
_AGREES = 1e-4


@dataclasses.dataclass(frozen=True, slots=True)
class Dosage:
    """How a model is fine-tuned. It stops early where the held-out loss has not fallen for ``patience`` looks at it."""

    sentences: int = 6_000
    steps: int = 240
    batch: int = 32
    rate: float = 5e-4
    look: int = 30
    patience: int = 3
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.rate < 1:
            raise BadInput(f"the learning rate must be above 0 and below 1, e.g. 5e-4, not {self.rate:g}")
        for name in ("sentences", "steps", "batch", "look", "patience"):
            if getattr(self, name) < 1:
                raise BadInput(f"{name} must be at least 1, not {getattr(self, name)}")


def held_out_loss(model: Any, tokenizer: Any, examples: TrainingExamples, *, batch: int) -> float:
    """The mean loss of the words asked for."""
    import torch

    collate = collator(tokenizer)
    total, asked = 0.0, 0
    model.eval()
    with torch.inference_mode():
        for start in range(0, len(examples), batch):
            inputs = collate([examples[at] for at in range(start, min(start + batch, len(examples)))])
            n = int((inputs["labels"] != NOT_ASKED).sum())
            if n:  # the mean of nothing is no number
                total += float(model(**inputs).loss) * n
            asked += n
    if asked == 0:
        raise BadInput("nothing is asked of the held-out sentences: give more sentences")
    return total / asked


def fine_tune(
    model: Any,
    tokenizer: Any,
    learn: TrainingExamples,
    test: TrainingExamples,
    *,
    masked: bool,
    folder: Path,
    dosage: Dosage,
) -> tuple[float, float, int]:
    """Train, from the last checkpoint where there is one; the best model by held-out loss is saved as ``model``.

    Returns the loss on the held-out sentences before and after, and at how many steps training ended.
    """
    collate = collator(tokenizer)
    checkpoints = folder / _CHECKPOINTS
    trial = collate([test[at] for at in range(min(dosage.batch, len(test)))])
    with quiet(), head_where_asked(model, trial) if masked else contextlib.nullcontext():
        before = held_out_loss(model, tokenizer, test, batch=dosage.batch)
        trainer = _trainer(model, collate, learn, test, checkpoints, dosage)
        trainer.train(resume_from_checkpoint=_last(checkpoints))
        after = held_out_loss(trainer.model, tokenizer, test, batch=dosage.batch)
        with appearing(folder / "model") as draft:
            tokenizer.save_pretrained(draft)
            trainer.model.save_pretrained(draft)
    shutil.rmtree(checkpoints, ignore_errors=True)
    return before, after, int(trainer.state.global_step)


def _trainer(
    model: Any, collate: Any, learn: TrainingExamples, test: TrainingExamples, checkpoints: Path, dosage: Dosage
) -> Any:
    import transformers

    library: Any = transformers
    settings = library.TrainingArguments(
        output_dir=str(checkpoints),
        max_steps=dosage.steps,
        per_device_train_batch_size=dosage.batch,
        per_device_eval_batch_size=dosage.batch,
        learning_rate=dosage.rate,
        lr_scheduler_type="linear",
        warmup_steps=max(1, dosage.steps // 20),
        eval_strategy="steps",
        save_strategy="steps",
        eval_steps=dosage.look,
        save_steps=dosage.look,
        save_total_limit=2,
        load_best_model_at_end=True,
        metric_for_best_model="eval_loss",
        greater_is_better=False,
        logging_strategy="no",
        report_to=[],
        disable_tqdm=True,
        seed=dosage.seed,
        data_seed=dosage.seed,
        dataloader_num_workers=0,
        dataloader_pin_memory=False,
    )
    trainer = library.Trainer(
        model=model,
        args=settings,
        train_dataset=learn,
        eval_dataset=test,
        data_collator=collate,
        callbacks=callbacks(dosage.patience),
    )
    trainer.remove_callback(library.PrinterCallback)
    return trainer


def callbacks(patience: int) -> list[Any]:
    """What watches a training: it ends where the held-out loss has not fallen for so many looks at it."""
    import transformers

    library: Any = transformers
    return [library.EarlyStoppingCallback(early_stopping_patience=patience)]


def _last(checkpoints: Path) -> str | None:
    """The newest checkpoint that is whole: Trainer writes its state last."""
    whole = [path for path in checkpoints.glob("checkpoint-*") if _is_json(path / "trainer_state.json")]
    return str(max(whole, key=lambda path: int(path.name.rpartition("-")[2]))) if whole else None


def _is_json(path: Path) -> bool:
    with contextlib.suppress(BadInput):
        return isinstance(read_json(path), dict)
    return False


@contextlib.contextmanager
def head_where_asked(model: Any, trial: Mapping[str, Any]) -> Iterator[None]:
    """Let the head of a masked language model project nothing but the places that are asked for.

    With tens of thousands of words in a vocabulary the head costs as much as all layers below it, and most places are
    not asked for. The loss leaves these out in any case. A model that gives another loss for the ``trial`` batch this
    way is built otherwise, and taught as it is.
    """
    whole = _loss(model, trial)
    asked: list[Any] = []

    def before(_module: Any, inputs: Any, named: dict[str, Any]) -> Any:
        asked[:] = [named["labels"] != NOT_ASKED]
        return inputs, {**named, "labels": named["labels"][asked[0]].unsqueeze(0)}

    def after(_module: Any, _inputs: Any, output: Any) -> Any:
        first = next(iter(output))
        output[first] = output[first][asked[0]].unsqueeze(0)
        return output

    hooks = [model.register_forward_pre_hook(before, with_kwargs=True), model.base_model.register_forward_hook(after)]
    try:
        if not _agrees(model, trial, whole):
            _remove(hooks)
        yield
    finally:
        _remove(hooks)


def _agrees(model: Any, trial: Mapping[str, Any], whole: float) -> bool:
    try:
        return abs(_loss(model, trial) - whole) < _AGREES
    except Exception:  # whatever an architecture of another kind says to it
        return False


def _loss(model: Any, batch: Mapping[str, Any]) -> float:
    import torch

    model.eval()
    with torch.inference_mode():
        return float(model(**batch).loss)


def _remove(hooks: list[Any]) -> None:
    for hook in hooks:
        hook.remove()
