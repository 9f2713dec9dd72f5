"""Log-probabilities at the places asked for: the vocabulary is projected there and nowhere else.

With tens of thousands of words in a vocabulary the head costs as much as the layers below it. It works on each
position by itself, so the states of the positions asked for are picked between the two. Where each row is asked for
one position, the ends of the encoder are shortened too.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tiltmeter.models.transformers.encoder_ends import EncoderEnds, shorten

if TYPE_CHECKING:
    from torch import Tensor

#: Largest difference in log-probability that the short way may make on the trial text.
AGREES = 1e-3


class Projection:
    """A language model with its head, asked for the distributions at some (row, position) places of a batch."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self._places = threading.local()
        base = model.base_model
        self._short = base is not model
        self._ends: EncoderEnds | None = None
        if self._short:
            base.register_forward_hook(self._pick)
            self._short = self._agrees([0, 1, 1], [1, 0, 3])
        if self._short:
            self._ends = shorten(base)
            if not self._agrees([0, 1], [1, 3]):
                self._ends = None

    def logprobs(self, places: tuple[Sequence[int], Sequence[int]], **given: Any) -> tuple[Tensor, Any]:
        """Natural-log probabilities over the vocabulary, a row a place, and the whole output of the model."""
        import torch

        rows, positions = (torch.as_tensor(each, device=self.model.device) for each in places)
        output = self._run((rows, positions) if self._short else None, **given)
        logits = output.logits[0] if self._short else output.logits[rows, positions]
        return torch.log_softmax(logits.float(), dim=-1), output

    def _run(self, places: tuple[Tensor, Tensor] | None, **given: Any) -> Any:
        self._places.now = places
        one_a_row = places is not None and places[0].tolist() == list(range(len(given["input_ids"])))
        self._places.ends = self._ends if one_a_row else None
        if places is not None and self._places.ends:
            self._places.ends.ask(given["input_ids"], places[1])
        try:
            return self.model(**given)
        finally:
            self._places.now = None
            if self._places.ends:
                self._places.ends.ask_all()

    def _pick(self, _module: Any, _inputs: Any, output: Any) -> Any:
        places = getattr(self._places, "now", None)
        if places is None:
            return output
        states = output[0]
        picked = states.transpose(0, 1) if self._places.ends else states[places].unsqueeze(0)
        if isinstance(output, tuple):
            return (picked, *output[1:])
        output[next(iter(output))] = picked
        return output

    def _agrees(self, rows: list[int], positions: list[int]) -> bool:
        """Whether this architecture takes the short way as it is: tried once, on a few tokens, some of them padding."""
        import torch

        device = self.model.device
        tokens = torch.tensor([[2, 3, 4, 5], [6, 3, 7, 5]], device=device) % self.model.config.vocab_size
        places = torch.tensor(rows, device=device), torch.tensor(positions, device=device)
        for real in ([1, 1, 1, 1], [1, 1, 0, 0]):
            given = {"input_ids": tokens, "attention_mask": torch.tensor([real, [1, 1, 1, 1]], device=device)}
            with torch.inference_mode():
                try:
                    short = self._run(places, **given).logits
                    whole = self.model(**given).logits[places]
                except Exception:
                    return False
            if short.shape != (1, *whole.shape) or not np.allclose(short[0].cpu(), whole.cpu(), atol=AGREES, rtol=0):
                return False
        return True
