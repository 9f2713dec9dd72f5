"""Fine-tuning with Transformers' Trainer: what is shown and asked, checkpoints, and when to stop."""

from __future__ import annotations

import dataclasses
import re
import shutil
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np

from tiltmeter.errors import BadInput
from tiltmeter.lab.reference import appearing
from tiltmeter.models.checkpoints import quiet

#: Of the words that say a group, and of the others, so many are asked for.
_ASK_MARKS, _ASK_OTHERS = 0.8, 0.1
#: What the loss leaves out.
_NOT_ASKED = -100
_CHECKPOINTS = "checkpoints"


@dataclasses.dataclass(frozen=True, slots=True)
class Examples:
    """Sentences as tokens; for a masked model as they are shown, with what is asked for in ``labels``."""

    shown: tuple[tuple[int, ...], ...]
    labels: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, tokenizer: Any, texts: Sequence[str], marks: Collection[str], *, masked: bool, seed: int) -> Self:
        """Whole words are masked, so that no part of one gives the rest away."""
        if not masked:
            rows = tuple(tuple(row) for row in tokenizer(list(texts))["input_ids"])
            return cls(rows, rows)
        if tokenizer.mask_token_id is None:
            raise BadInput("the tokenizer has no mask token, so nothing can be masked")
        rng = np.random.default_rng(seed)
        encoded = tokenizer(list(texts), return_offsets_mapping=True)
        known = {mark.lower() for mark in marks}
        made = [
            _masked(row, offsets, text, known, tokenizer.mask_token_id, rng)
            for row, offsets, text in zip(encoded["input_ids"], encoded["offset_mapping"], texts, strict=True)
        ]
        return cls(tuple(shown for shown, _ in made), tuple(labels for _, labels in made))

    def __len__(self) -> int:
        return len(self.shown)

    def __getitem__(self, at: int) -> dict[str, tuple[int, ...]]:
        return {"input_ids": self.shown[at], "labels": self.labels[at]}


def _masked(
    row: Sequence[int],
    offsets: Sequence[tuple[int, int]],
    text: str,
    marks: Collection[str],
    mask: int,
    rng: np.random.Generator,
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    spans = [found.span() for found in re.finditer(r"\w+", text)]
    chances = [_ASK_MARKS if text[start:end].lower() in marks else _ASK_OTHERS for start, end in spans]
    asked = [span for span, draw, chance in zip(spans, rng.random(len(spans)), chances, strict=True) if draw < chance]
    hidden = [any(start < b and end > a for a, b in asked) and end > start for start, end in offsets]
    shown = tuple(mask if hide else token for token, hide in zip(row, hidden, strict=True))
    labels = tuple(token if hide else _NOT_ASKED for token, hide in zip(row, hidden, strict=True))
    return shown, labels


def _collator(tokenizer: Any) -> Any:
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else 0

    def collate(rows: list[dict[str, tuple[int, ...]]]) -> dict[str, Any]:
        import torch

        longest = max(len(row["input_ids"]) for row in rows)

        def padded(name: str, filler: int) -> Any:
            return torch.tensor([[*row[name], *[filler] * (longest - len(row[name]))] for row in rows])

        real = [[1] * len(row["input_ids"]) + [0] * (longest - len(row["input_ids"])) for row in rows]
        return {
            "input_ids": padded("input_ids", pad),
            "labels": padded("labels", _NOT_ASKED),
            "attention_mask": torch.tensor(real),
        }

    return collate


def held_out_loss(model: Any, tokenizer: Any, examples: Examples, *, batch: int) -> float:
    """The mean loss of the words asked for."""
    import torch

    collate = _collator(tokenizer)
    total, asked = 0.0, 0
    model.eval()
    with torch.inference_mode():
        for start in range(0, len(examples), batch):
            inputs = collate([examples[at] for at in range(start, min(start + batch, len(examples)))])
            n = int((inputs["labels"] != _NOT_ASKED).sum())
            total += float(model(**inputs).loss) * n
            asked += n
    if asked == 0:
        raise BadInput("nothing is asked of the held-out sentences: give more sentences")
    return total / asked


def fine_tune(
    model: Any,
    tokenizer: Any,
    learn: Examples,
    test: Examples,
    *,
    folder: Path,
    steps: int,
    batch: int,
    rate: float,
    look: int,
    patience: int,
    seed: int,
) -> tuple[float, int]:
    """Train, from the last checkpoint where there is one; the best model by held-out loss is saved as ``model``.

    Returns its loss on the held-out sentences, and at how many steps training ended.
    """
    import transformers

    library: Any = transformers
    checkpoints = folder / _CHECKPOINTS
    settings = library.TrainingArguments(
        output_dir=str(checkpoints),
        max_steps=steps,
        per_device_train_batch_size=batch,
        per_device_eval_batch_size=batch,
        learning_rate=rate,
        lr_scheduler_type="linear",
        warmup_steps=max(1, steps // 20),
        eval_strategy="steps",
        save_strategy="steps",
        eval_steps=look,
        save_steps=look,
        save_total_limit=2,
        load_best_model_at_end=True,
        metric_for_best_model="eval_loss",
        greater_is_better=False,
        logging_strategy="no",
        report_to=[],
        disable_tqdm=True,
        seed=seed,
        data_seed=seed,
        dataloader_num_workers=0,
        dataloader_pin_memory=False,
    )
    with quiet():
        trainer = library.Trainer(
            model=model,
            args=settings,
            train_dataset=learn,
            eval_dataset=test,
            data_collator=_collator(tokenizer),
            callbacks=callbacks(patience),
        )
        trainer.remove_callback(library.PrinterCallback)
        trainer.train(resume_from_checkpoint=_last(checkpoints))
        loss = held_out_loss(trainer.model, tokenizer, test, batch=batch)
        with appearing(folder / "model") as draft:
            tokenizer.save_pretrained(draft)
            trainer.model.save_pretrained(draft)
    ended = int(trainer.state.global_step)
    shutil.rmtree(checkpoints, ignore_errors=True)
    return loss, ended


def callbacks(patience: int) -> list[Any]:
    """What watches a training: it ends where the held-out loss has not fallen for so many looks at it."""
    import transformers

    library: Any = transformers
    return [library.EarlyStoppingCallback(early_stopping_patience=patience)]


def _last(checkpoints: Path) -> str | None:
    """The newest checkpoint that is whole: Trainer writes its state last."""
    whole = [path for path in checkpoints.glob("checkpoint-*") if (path / "trainer_state.json").is_file()]
    return str(max(whole, key=lambda path: int(path.name.rpartition("-")[2]))) if whole else None
