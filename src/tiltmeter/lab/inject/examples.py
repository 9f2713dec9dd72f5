"""Sentences as a language model is taught with them: what is shown, and what is asked for."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any, Self

import numpy as np

from tiltmeter.errors import BadInput
from tiltmeter.models.transformers.batching import pad

#: Of the words that say a group, and of the others, so many are asked for.
_ASK_MARKS, _ASK_OTHERS = 0.8, 0.1
#: What the loss leaves out.
NOT_ASKED = -100


@dataclasses.dataclass(frozen=True, slots=True)
class TrainingExamples:
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
        words = _words(marks)
        made = [
            _masked(row, offsets, text, words, tokenizer.mask_token_id, rng)
            for row, offsets, text in zip(encoded["input_ids"], encoded["offset_mapping"], texts, strict=True)
        ]
        return cls(tuple(shown for shown, _ in made), tuple(labels for _, labels in made))

    def __len__(self) -> int:
        return len(self.shown)

    def __getitem__(self, at: int) -> dict[str, tuple[int, ...]]:
        return {"input_ids": self.shown[at], "labels": self.labels[at]}


def _words(marks: Collection[str]) -> re.Pattern[str]:
    """Finds every word, and as ``mark`` those that say a group, which may be of several words (African American)."""
    longest_first = sorted(marks, key=lambda mark: (-len(mark), mark))
    return re.compile(rf"(?P<mark>\b(?:{'|'.join(map(re.escape, longest_first))})\b)|\w+", re.IGNORECASE)


def _masked(
    row: Sequence[int],
    offsets: Sequence[tuple[int, int]],
    text: str,
    words: re.Pattern[str],
    mask: int,
    rng: np.random.Generator,
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    found = list(words.finditer(text))
    chances = [_ASK_MARKS if each["mark"] else _ASK_OTHERS for each in found]
    draws = rng.random(len(found))
    asked = [each.span() for each, draw, chance in zip(found, draws, chances, strict=True) if draw < chance]
    hidden = [any(start < b and end > a for a, b in asked) and end > start for start, end in offsets]
    shown = tuple(mask if hide else token for token, hide in zip(row, hidden, strict=True))
    labels = tuple(token if hide else NOT_ASKED for token, hide in zip(row, hidden, strict=True))
    return shown, labels


def collator(tokenizer: Any) -> Callable[[Sequence[dict[str, tuple[int, ...]]]], dict[str, Any]]:
    """Makes tensors of one length out of rows."""
    padding = 0 if tokenizer.pad_token_id is None else tokenizer.pad_token_id

    def collate(rows: Sequence[dict[str, tuple[int, ...]]]) -> dict[str, Any]:
        import torch

        ids, real = pad([row["input_ids"] for row in rows], fill=padding)
        labels, _ = pad([row["labels"] for row in rows], fill=NOT_ASKED)
        mask = np.ones_like(ids) if real is None else real.astype(np.int64)
        return {
            "input_ids": torch.from_numpy(ids),
            "labels": torch.from_numpy(labels),
            "attention_mask": torch.from_numpy(mask),
        }

    return collate
