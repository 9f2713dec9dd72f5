"""Log-probabilities at the places asked for: the vocabulary is projected there and nowhere else.

With tens of thousands of words in a vocabulary the head costs as much as the layers below it. It works on each
position by itself, so the states of the positions asked for are picked between the two. Where each row is asked for
one position, the ends of the encoder are shortened too.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
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
        self._ends: _EncoderEnds | None = None
        if self._short:
            base.register_forward_hook(self._pick)
            self._short = self._agrees([0, 1, 1], [1, 0, 3])
        if self._short:
            self._ends = _shorten(base)
            if not self._agrees([0, 1], [1, 3]):
                self._ends = None

    def logprobs(self, places: tuple[Sequence[int], Sequence[int]], **inputs: Any) -> tuple[Tensor, Any]:
        """Natural-log probabilities over the vocabulary, one row per place, and the whole output of the model."""
        import torch

        rows, positions = (torch.as_tensor(part, device=self._device) for part in places)
        output = self._run((rows, positions) if self._short else None, **inputs)
        logits = output.logits[0] if self._short else output.logits[rows, positions]
        return torch.log_softmax(logits.float(), dim=-1), output

    @property
    def _device(self) -> Any:
        """Where inputs go: weights that are read from the disk layer by layer say that they are nowhere."""
        import torch

        device = self.model.device
        return device if device.type != "meta" else torch.device("cuda" if torch.cuda.is_available() else "cpu")

    def _run(self, places: tuple[Tensor, Tensor] | None, **inputs: Any) -> Any:
        self._places.now = places
        one_a_row = places is not None and places[0].tolist() == list(range(len(inputs["input_ids"])))
        self._places.ends = self._ends if one_a_row else None
        if places is not None and self._places.ends:
            self._places.ends.ask(inputs["input_ids"], places[1])
        try:
            return self.model(**inputs)
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

        device = self._device
        tokens = torch.tensor([[2, 3, 4, 5], [6, 3, 7, 5]], device=device) % self.model.config.vocab_size
        places = torch.tensor(rows, device=device), torch.tensor(positions, device=device)
        for real in ([1, 1, 1, 1], [1, 1, 0, 0]):
            inputs = {"input_ids": tokens, "attention_mask": torch.tensor([real, [1, 1, 1, 1]], device=device)}
            with torch.inference_mode():
                try:
                    short = self._run(places, **inputs).logits
                    whole = self.model(**inputs).logits[places]
                except Exception:
                    return False
            if short.shape != (1, *whole.shape) or not same_within_rounding(short[0], whole):
                return False
        return True


class _EncoderEnds(threading.local):
    """The two ends of a BERT-like encoder, without the work that nobody reads and the work that was done before.

    Pseudo-log-likelihoods hide one token per row and are read at it. So nothing above the last layer looks at its other
    places; and below the first one a token at a place is the same in all rows that do not hide it. With six layers this
    saves a fifth of all work. What is asked is the thread's own: nothing, and all is computed.
    """

    #: The one place of each row whose state is read.
    place: Tensor | None = None
    #: Each different (token, place) of the batch once, and which of them each token is.
    different: tuple[Tensor, Tensor] | None = None

    def __init__(self, padding: int | None) -> None:
        self.padding = padding

    def ask(self, ids: Tensor, place: Tensor) -> None:
        import torch

        length = ids.shape[1]
        keys = ids * length + torch.arange(length, device=ids.device)
        if self.padding is not None:  # RoBERTa does not count it when it numbers the places
            keys = keys * (length + 1) + (ids == self.padding).cumsum(1)
        unique, inverse = torch.unique(keys, return_inverse=True)
        inverse = inverse.reshape(-1)
        first = torch.empty_like(unique).scatter_(0, inverse, torch.arange(len(inverse), device=ids.device))
        self.place, self.different = place, (first, inverse)

    def ask_all(self) -> None:
        self.place = self.different = None


def _shorten(base: Any) -> _EncoderEnds | None:
    """The encoder with shorter ends, None where it is built otherwise. Unless it is asked, nothing changes.

    When it is asked, the states that it gives out have one place per row.
    """
    layers = getattr(getattr(base, "encoder", None), "layer", None)
    if layers is None or len(layers) < 2 or getattr(base.config, "is_decoder", False):
        return None
    heads: list[Any] = [getattr(getattr(layer, "attention", None), "self", None) for layer in (layers[0], layers[-1])]
    needed = ("query", "key", "value", "num_attention_heads", "attention_head_size")
    if not all(hasattr(head, name) for head in heads for name in needed):
        return None
    ends = _EncoderEnds(getattr(base.config, "pad_token_id", None))
    for linear in (heads[0].query, heads[0].key, heads[0].value):
        linear.forward = _computed_once(linear.forward, ends)
    whole = layers[-1].forward

    def last(states: Tensor, attention_mask: Tensor | None = None, *others: Any, **options: Any) -> Any:
        if ends.place is None:
            return whole(states, attention_mask, *others, **options)
        return _at_one_place(layers[-1], states, ends.place, attention_mask)

    layers[-1].forward = last
    return ends


def _computed_once(whole: Callable[[Tensor], Any], ends: _EncoderEnds) -> Callable[[Tensor], Any]:
    def forward(states: Tensor) -> Any:
        if ends.different is None:
            return whole(states)
        first, inverse = ends.different
        return whole(states.flatten(0, 1)[first])[inverse].unflatten(0, states.shape[:2])

    return forward


def _at_one_place(layer: Any, states: Tensor, place: Tensor, mask: Tensor | None) -> Any:
    """The layer where each row has one query: q·(Kh) is (Kᵀq)·h, so that no token's key or value has to be computed.

    The bias of the keys adds the same to every score of a query, which the softmax takes off again.
    """
    import torch

    head, rows = layer.attention.self, len(states)
    shape = (head.num_attention_heads, head.attention_head_size)
    here = states[torch.arange(rows, device=states.device), place]
    query = head.query(here).unflatten(-1, shape) / shape[1] ** 0.5
    towards = torch.einsum("bhd,hde->bhe", query, _wide(head.key, query, shape))
    scores = towards @ states.transpose(1, 2)
    if mask is not None:
        scores = scores.masked_fill(~mask[:, :, 0], -torch.inf) if mask.dtype == torch.bool else scores + mask[:, :, 0]
    seen = scores.softmax(-1) @ states
    values = torch.einsum("bhe,hde->bhd", seen, _wide(head.value, query, shape)).flatten(1) + head.value.bias
    return layer.feed_forward_chunk(layer.attention.output(values, here)).unsqueeze(1)


def _wide(linear: Any, states: Tensor, shape: tuple[int, int]) -> Any:
    """The weights of a layer by head, in the type of the states, where they are held in fewer bits."""
    return linear.weight.to(states.dtype).unflatten(0, shape)


def same_within_rounding(short: Tensor, whole: Tensor) -> bool:
    """Whether two ways give the same, as far as the type in which they were computed can tell."""
    import torch

    rounding = 2 * torch.finfo(whole.dtype).eps * float(whole.abs().max())
    return np.allclose(short.float().cpu(), whole.float().cpu(), atol=max(AGREES, rounding), rtol=0)
