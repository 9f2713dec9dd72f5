"""A masked language model of natural English, beside the public data sets where it is present."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any

import pytest

from tiltmeter.models.transformers.hub import TransformerModel


@functools.cache
def natural_model() -> TransformerModel:
    """The model ``models/minilm-mlm`` beside the folder of data sets; skips where it is absent."""
    root = os.environ.get("TILTMETER_DATA")
    folder = Path(root or ".").resolve().parent / "models" / "minilm-mlm"
    if not root or not folder.is_dir():
        pytest.skip("no folder models/minilm-mlm beside the one that TILTMETER_DATA names")
    return TransformerModel(str(folder))


class ByHand:
    """The same weights asked by a plain forward pass over masked copies."""

    def __init__(self, model: TransformerModel) -> None:
        from transformers import AutoModelForMaskedLM, AutoTokenizer

        folder = model.name.removeprefix("hf:")
        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        self._model = AutoModelForMaskedLM.from_pretrained(folder).float().eval()

    def ids(self, text: str) -> list[int]:
        found: list[int] = self.tokenizer(text)["input_ids"]
        return found

    def masked_in_turn(self, ids: list[int], places: list[int]) -> list[float]:
        """The log-probability of the token at each of the places in a copy where it is masked."""
        import torch

        rows = torch.tensor([ids] * len(places))
        at = torch.arange(len(places))
        rows[at, places] = self.tokenizer.mask_token_id
        threads = torch.get_num_threads()
        torch.set_num_threads(1)  # on a busy machine more of them wait for each other
        with torch.no_grad():
            logits = self._model(input_ids=rows).logits[at, places]
        torch.set_num_threads(threads)
        found: list[float] = torch.log_softmax(logits.double(), dim=-1)[at, torch.tensor(ids)[places]].tolist()
        return found


@functools.cache
def by_hand() -> ByHand:
    return ByHand(natural_model())
