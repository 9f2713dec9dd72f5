"""A masked language model of natural English, beside the public data sets where it is present."""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any

import pytest

from tiltmeter.models.hub import TransformerModel


def natural_model() -> TransformerModel:
    """The model ``models/minilm-mlm`` beside the folder of data sets; skips where it is absent."""
    root = os.environ.get("TILTMETER_DATA")
    folder = Path(root or ".").resolve().parent / "models" / "minilm-mlm"
    if not root or not folder.is_dir():
        pytest.skip("no folder models/minilm-mlm beside the one that TILTMETER_DATA names")
    return TransformerModel(str(folder))


class ByHand:
    """The same weights asked one masked copy at a time, in the plainest way."""

    def __init__(self, model: TransformerModel) -> None:
        from transformers import AutoModelForMaskedLM, AutoTokenizer

        folder = model.name.removeprefix("hf:")
        self.tokenizer: Any = AutoTokenizer.from_pretrained(folder)
        self._model = AutoModelForMaskedLM.from_pretrained(folder).float().eval()

    def ids(self, text: str) -> list[int]:
        found: list[int] = self.tokenizer(text)["input_ids"]
        return found

    def logprob(self, ids: list[int], place: int, target: int) -> float:
        """The log-probability of a token at a place that is masked."""
        import torch

        row = [self.tokenizer.mask_token_id if at == place else each for at, each in enumerate(ids)]
        with torch.no_grad():
            logits = self._model(input_ids=torch.tensor([row])).logits[0, place]
        return float(torch.log_softmax(logits.double(), dim=-1)[target])


@functools.cache
def by_hand() -> ByHand:
    return ByHand(natural_model())
