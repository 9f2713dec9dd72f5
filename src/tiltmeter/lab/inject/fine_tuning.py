"""Fine-tuning with Transformers' Trainer: what is shown and asked, checkpoints, resuming, when to stop.

No work is done that no loss reads.
"""

from __future__ import annotations

import contextlib
import dataclasses
import re
import shutil
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from tiltmeter.errors import BadInput
from tiltmeter.files import read_json
from tiltmeter.lab.reference.reference import save_model
from tiltmeter.models.transformers.batching import pad
from tiltmeter.models.transformers.weights.checkpoints import quiet

#: Largest difference in loss that the short way may make on the trial batch.
_AGREES = 1e-4
#: Of the words that say a group, and of the others, so many are asked for.
_ASK_MARKS, _ASK_OTHERS = 0.8, 0.1
#: What the loss leaves out.
NOT_ASKED = -100

#: A sentence as tokens: for a masked model as it is shown (``input_ids``), with what is asked for in ``labels``.
Example: TypeAlias = dict[str, tuple[int, ...]]


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


def make_examples(
    tokenizer: Any, texts: Sequence[str], marks: Collection[str], *, masked: bool, seed: int
) -> list[Example]:
    """What a model is taught with. Whole words are masked, so that no part of one gives the rest away."""
    if not masked:
        return [{"input_ids": tuple(row), "labels": tuple(row)} for row in tokenizer(list(texts))["input_ids"]]
    if tokenizer.mask_token_id is None:
        raise BadInput("the tokenizer has no mask token, so nothing can be masked")
    rng = np.random.default_rng(seed)
    # Every word, and as ``mark`` those that say a group, which may be of several words (African American).
    longest_first = "|".join(map(re.escape, sorted(marks, key=lambda mark: (-len(mark), mark))))
    words = re.compile(rf"(?P<mark>\b(?:{longest_first})\b)|\w+", re.IGNORECASE)
    encoded = tokenizer(list(texts), return_offsets_mapping=True)
    examples = []
    for row, offsets, text in zip(encoded["input_ids"], encoded["offset_mapping"], texts, strict=True):
        matches = list(words.finditer(text))
        chances = np.array([_ASK_MARKS if match["mark"] else _ASK_OTHERS for match in matches])
        asked = [matches[at].span() for at in np.flatnonzero(rng.random(len(matches)) < chances)]
        hidden = [any(start < b and end > a for a, b in asked) and end > start for start, end in offsets]
        shown = tuple(tokenizer.mask_token_id if hide else token for token, hide in zip(row, hidden, strict=True))
        labels = tuple(token if hide else NOT_ASKED for token, hide in zip(row, hidden, strict=True))
        examples.append({"input_ids": shown, "labels": labels})
    return examples


def collator(tokenizer: Any) -> Callable[[Sequence[Example]], dict[str, Any]]:
    """Makes tensors of one length out of rows."""

    def collate(rows: Sequence[Example]) -> dict[str, Any]:
        import torch

        ids, real = pad([row["input_ids"] for row in rows], fill=tokenizer.pad_token_id or 0)
        labels, _ = pad([row["labels"] for row in rows], fill=NOT_ASKED)
        mask = np.ones_like(ids) if real is None else real.astype(np.int64)
        arrays = {"input_ids": ids, "labels": labels, "attention_mask": mask}
        return {name: torch.from_numpy(array) for name, array in arrays.items()}

    return collate


def held_out_loss(model: Any, tokenizer: Any, examples: Sequence[Example], *, batch: int) -> float:
    """The mean loss of the words asked for."""
    collate = collator(tokenizer)
    total, asked = 0.0, 0
    for start in range(0, len(examples), batch):
        inputs = collate(examples[start : start + batch])
        n = int((inputs["labels"] != NOT_ASKED).sum())
        if n:  # the mean of nothing is not a number
            total += _loss(model, inputs) * n
        asked += n
    if asked == 0:
        raise BadInput("nothing is asked of the held-out sentences: give more sentences")
    return total / asked


def fine_tune(
    model: Any,
    tokenizer: Any,
    learn: Sequence[Example],
    test: Sequence[Example],
    *,
    masked: bool,
    folder: Path,
    dosage: Dosage,
) -> tuple[float, float, int]:
    """Train, from the last checkpoint where there is one; the best model by held-out loss is saved as ``model``.

    Returns the loss on the held-out sentences before and after, and at how many steps training ended.
    """
    checkpoints = folder / "checkpoints"
    trial = collator(tokenizer)(test[: dosage.batch])
    with quiet(), head_where_asked(model, trial) if masked else contextlib.nullcontext():
        before = held_out_loss(model, tokenizer, test, batch=dosage.batch)
        trainer = _trainer(model, tokenizer, learn, test, checkpoints, dosage)
        trainer.train(resume_from_checkpoint=_last(checkpoints))
        after = held_out_loss(trainer.model, tokenizer, test, batch=dosage.batch)
        save_model(folder / "model", tokenizer, trainer.model)
    shutil.rmtree(checkpoints, ignore_errors=True)
    return before, after, int(trainer.state.global_step)


def _trainer(
    model: Any, tokenizer: Any, learn: Sequence[Example], test: Sequence[Example], checkpoints: Path, dosage: Dosage
) -> Any:
    import transformers

    library: Any = transformers
    settings = library.TrainingArguments(
        output_dir=str(checkpoints),
        max_steps=dosage.steps,
        per_device_train_batch_size=dosage.batch,
        per_device_eval_batch_size=dosage.batch,
        learning_rate=dosage.rate,
        warmup_steps=max(1, dosage.steps // 20),
        eval_strategy="steps",
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
        dataloader_pin_memory=False,
    )
    trainer = library.Trainer(
        model=model,
        args=settings,
        train_dataset=learn,
        eval_dataset=test,
        data_collator=collator(tokenizer),
        callbacks=callbacks(dosage.patience),
    )
    trainer.remove_callback(library.PrinterCallback)
    return trainer


def callbacks(patience: int) -> list[Any]:
    """What watches a training: it ends where the held-out loss has not fallen for so many looks at it."""
    from transformers import EarlyStoppingCallback

    return [EarlyStoppingCallback(early_stopping_patience=patience)]


def _last(checkpoints: Path) -> str | None:
    """The newest checkpoint that is whole: Trainer writes its state last."""
    whole: list[tuple[int, str]] = []
    for path in checkpoints.glob("checkpoint-*"):
        with contextlib.suppress(BadInput):
            if isinstance(read_json(path / "trainer_state.json"), dict):
                whole.append((int(path.name.rpartition("-")[2]), str(path)))
    return max(whole)[1] if whole else None


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

    with contextlib.ExitStack() as hooks:
        hooks.callback(model.register_forward_pre_hook(before, with_kwargs=True).remove)
        hooks.callback(model.base_model.register_forward_hook(after).remove)
        try:
            agrees = abs(_loss(model, trial) - whole) < _AGREES
        except Exception:  # whatever an architecture of another kind says to it
            agrees = False
        if not agrees:
            hooks.close()
        yield


def _loss(model: Any, batch: Mapping[str, Any]) -> float:
    import torch

    model.eval()
    with torch.inference_mode():
        return float(model(**batch).loss)
