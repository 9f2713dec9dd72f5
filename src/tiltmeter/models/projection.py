"""Log-probabilities at the places asked for: the vocabulary is projected there and nowhere else.

With tens of thousands of words in a vocabulary the head costs as much as the layers below it. It works on each
position by itself, so the states of the positions asked for are picked between the two.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

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
        if self._short:
            base.register_forward_hook(self._pick)
            self._short = self._agrees()

    def logprobs(self, places: tuple[Sequence[int], Sequence[int]], **given: Any) -> tuple[Tensor, Any]:
        """Natural-log probabilities over the vocabulary, a row a place, and the whole output of the model."""
        import torch

        rows, positions = (torch.as_tensor(each, device=self.model.device) for each in places)
        output = self._run((rows, positions) if self._short else None, **given)
        logits = output.logits[0] if self._short else output.logits[rows, positions]
        return torch.log_softmax(logits.float(), dim=-1), output

    def _run(self, places: tuple[Tensor, Tensor] | None, **given: Any) -> Any:
        self._places.now = places
        try:
            return self.model(**given)
        finally:
            self._places.now = None

    def _pick(self, _module: Any, _inputs: Any, output: Any) -> Any:
        places = getattr(self._places, "now", None)
        if places is None:
            return output
        picked = output[0][places].unsqueeze(0)
        if isinstance(output, tuple):
            return (picked, *output[1:])
        output[next(iter(output))] = picked
        return output

    def _agrees(self) -> bool:
        """Whether this architecture's head takes picked states as they are: tried once, on a few tokens."""
        import torch

        tokens = torch.arange(1, 9, device=self.model.device).reshape(2, 4) % self.model.config.vocab_size
        rows, positions = torch.tensor([0, 1, 1]), torch.tensor([1, 0, 3])
        with torch.inference_mode():
            try:
                short = self._run((rows, positions), input_ids=tokens).logits
                whole = self.model(input_ids=tokens).logits[rows, positions]
            except Exception:
                return False
        same = short.shape == (1, *whole.shape)
        return same and bool(np.allclose(short[0].cpu(), whole.cpu(), atol=AGREES, rtol=0))
