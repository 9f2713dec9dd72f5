"""Text from a causal language model: prompts of like length side by side, every sample drawn by numbers of its own."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from tiltmeter.models.protocol import Generated, Prompt
from tiltmeter.models.transformers.encoder import Loaded
from tiltmeter.models.transformers.projection import AGREES, Projection

if TYPE_CHECKING:
    from torch import Tensor

Ids = tuple[int, ...]
#: Texts written side by side. Every step reads all the weights, so that many cost little more than one.
ROWS = {"cpu": 48, "cuda": 256, "mps": 64}
#: Bytes of the stored states of a batch, at most.
MOST_STORED = 1 << 28
#: Rows that have ended are taken out when they are this share of a batch: that copies the states of the others.
ENDED = 0.25

#: How a step uses those before it: stored states with padding before short prompts, without any, or not at all.
Steps = Literal["padded", "even", "whole"]


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """One text to write: after which tokens, how, and the numbers from 0 to 1 that draw its tokens."""

    ids: Ids
    temperature: float
    max_tokens: int
    numbers: NDArray[np.float64]


class Writer:
    """Writes after prompts. What is drawn follows from the prompt, its seed and the number of the sample alone."""

    def __init__(self, loaded: Loaded, projection: Projection) -> None:
        self._loaded, self._projection = loaded, projection
        self._ends = _end_tokens(loaded)
        self._stored = _stored_bytes(loaded.model.config)

    def batches(
        self, prompts: Sequence[Prompt], ids: Sequence[Ids], known: Collection[int]
    ) -> Iterator[tuple[list[int], int]]:
        """Positions in batches of like length, each with its size in tokens.

        Batches are made of all prompts, and those that are known as a whole are left out: a run that resumes after a
        kill writes the very same texts.
        """
        groups: list[list[int]] = []
        rows = most = 0
        for position in sorted(range(len(ids)), key=lambda i: (len(ids[i]), prompts[i].max_tokens), reverse=True):
            n, length = _samples(prompts[position]), len(ids[position])
            even = not groups or self.steps != "even" or length == len(ids[groups[-1][0]])
            if not groups or not even or rows + n > most:
                groups.append([])
                rows, most = 0, self._most_rows(length + prompts[position].max_tokens)
            groups[-1].append(position)
            rows += n
        for group in groups:
            if any(position not in known for position in group):
                yield group, sum(len(ids[i]) + _samples(prompts[i]) * prompts[i].max_tokens for i in group)

    def write(self, prompts: Sequence[Prompt], ids: Sequence[Ids]) -> list[Generated]:
        """What follows each prompt of a batch."""
        samples = [
            Sample(one, prompt.temperature, prompt.max_tokens, _numbers(prompt, number))
            for prompt, one in zip(prompts, ids, strict=True)
            for number in range(_samples(prompt))
        ]
        most = self._most_rows(max(len(one.ids) + one.max_tokens for one in samples))
        written = [
            tokens for start in range(0, len(samples), most) for tokens in self._tokens(samples[start : start + most])
        ]
        texts = iter([self._text(sample.ids, tokens) for sample, tokens in zip(samples, written, strict=True)])
        each = [tuple(next(texts) for _ in range(_samples(prompt))) for prompt in prompts]
        # At temperature 0 one text stands for all.
        return [Generated(some * (prompt.n // len(some))) for some, prompt in zip(each, prompts, strict=True)]

    def _most_rows(self, tokens: int) -> int:
        return max(1, min(ROWS[self._loaded.device], MOST_STORED // (self._stored * tokens)))

    def _tokens(self, samples: Sequence[Sample]) -> list[list[int]]:
        """The tokens drawn for each sample, up to its end."""
        written: list[list[int]] = [[] for _ in samples]
        rows, open_rows = list(range(len(samples))), set(range(len(samples)))
        steps = self._begin([sample.ids for sample in samples])
        for step in range(max(sample.max_tokens for sample in samples)):
            # An ended row stays for a while, and what it draws is thrown away.
            at = [min(step, samples[row].max_tokens - 1) for row in rows]
            numbers = np.array([samples[row].numbers[place] for row, place in zip(rows, at, strict=True)])
            drawn = draw_tokens(steps.logprobs, [samples[row].temperature for row in rows], numbers)
            for row, token in zip(rows, drawn, strict=True):
                if row not in open_rows:
                    continue
                if token not in self._ends:
                    written[row].append(token)
                if token in self._ends or len(written[row]) == samples[row].max_tokens:
                    open_rows.remove(row)
            if not open_rows:
                break
            if len(open_rows) <= (1 - ENDED) * len(rows):
                kept = [i for i, row in enumerate(rows) if row in open_rows]
                steps.keep(kept)
                rows, drawn = [rows[i] for i in kept], [drawn[i] for i in kept]
            steps.step(drawn)
        return written

    def _begin(self, prompts: Sequence[Ids], how: Steps | None = None) -> _StoredSteps | _WholeSteps:
        kind = _WholeSteps if (how or self.steps) == "whole" else _StoredSteps
        return kind(self._loaded, self._projection, prompts)

    def _text(self, prompt: Ids, tokens: Sequence[int]) -> str:
        """The tokens in characters, with the space before the first word where the model wrote one."""
        options = {"skip_special_tokens": True, "clean_up_tokenization_spaces": False}
        decode = functools.partial(self._loaded.tokenizer.decode, **options)
        before, whole = decode(list(prompt)), decode([*prompt, *tokens])
        text: str = whole[len(before) :] if whole.startswith(before) else decode(list(tokens))
        return text

    @functools.cached_property
    def steps(self) -> Steps:
        """The fastest way that gives what whole texts give: tried once, on a few tokens."""
        import torch

        a, b, c, d = (token % int(self._loaded.model.config.vocab_size) for token in range(2, 6))
        ways: list[tuple[Steps, list[Ids]]] = [("padded", [(a, b, c), (d,), (a, b, c)]), ("even", [(a, b), (c, d)])]
        for way, prompts in ways:
            try:
                with torch.inference_mode():
                    short, whole = self._begin(prompts, way), self._begin(prompts, "whole")
                    for token in (b, d):
                        short.step([token] * len(prompts))
                        whole.step([token] * len(prompts))
                    short.keep([1])
                    whole.keep([1])
                    short.step([a])
                    whole.step([a])
                if np.allclose(short.logprobs.cpu(), whole.logprobs.cpu(), atol=AGREES, rtol=0):
                    return way
            except Exception:
                continue
        return "whole"


class _StoredSteps:
    """A batch that continues one token at a time; a prompt that stands several times in it is read once."""

    logprobs: Tensor

    def __init__(self, loaded: Loaded, projection: Projection, prompts: Sequence[Ids]) -> None:
        import torch

        self._projection, self._device = projection, loaded.device
        unique = {ids: number for number, ids in enumerate(dict.fromkeys(prompts))}
        width = max(map(len, unique))
        fill = loaded.tokenizer.pad_token_id or 0
        tokens = torch.tensor([[fill] * (width - len(ids)) + list(ids) for ids in unique], device=self._device)
        lengths = torch.tensor([len(ids) for ids in unique], device=self._device)
        real = torch.arange(width, device=self._device) >= width - lengths[:, None]
        self._real = None if bool(real.all()) else real.long()
        self._lengths = lengths
        self._cache: Any = None
        self._forward(tokens, (torch.arange(width, device=self._device) - (width - lengths[:, None])).clamp(min=0))
        if len(prompts) > len(unique):
            self.keep([unique[ids] for ids in prompts])

    def step(self, tokens: Sequence[int]) -> None:
        import torch

        if self._real is not None:
            self._real = torch.nn.functional.pad(self._real, (0, 1), value=1)
        self._forward(torch.tensor(tokens, device=self._device)[:, None], self._lengths[:, None])
        self._lengths = self._lengths + 1

    def _forward(self, tokens: Tensor, places: Tensor) -> None:
        padding = {} if self._real is None else {"attention_mask": self._real, "position_ids": places}
        last = range(len(tokens)), [tokens.shape[1] - 1] * len(tokens)
        self.logprobs, output = self._projection.logprobs(
            last, input_ids=tokens, past_key_values=self._cache, use_cache=True, **padding
        )
        self._cache = output.past_key_values

    def keep(self, rows: Sequence[int]) -> None:
        """Only these rows continue; one may stand there several times."""
        import torch

        index = torch.tensor(rows, device=self._device)
        self._cache.reorder_cache(index)
        self._lengths, self.logprobs = self._lengths[index], self.logprobs[index]
        self._real = None if self._real is None else self._real[index]


class _WholeSteps:
    """The same, each step over the whole text, for models whose stored states cannot be used again."""

    def __init__(self, loaded: Loaded, projection: Projection, prompts: Sequence[Ids]) -> None:
        self._loaded, self._projection, self._rows = loaded, projection, [list(ids) for ids in prompts]
        self._forward()

    def step(self, tokens: Sequence[int]) -> None:
        for row, token in zip(self._rows, tokens, strict=True):
            row.append(token)
        self._forward()

    def _forward(self) -> None:
        last = range(len(self._rows)), [len(row) - 1 for row in self._rows]
        self.logprobs, _ = self._projection.logprobs(last, **self._loaded.inputs(self._rows))

    def keep(self, rows: Sequence[int]) -> None:
        self._rows = [self._rows[row] for row in rows]


def draw_tokens(logprobs: Tensor, temperatures: Sequence[float], numbers: NDArray[np.float64]) -> list[int]:
    """One token per row: the one at which the probabilities, added up in the order of the vocabulary, pass the number.

    At temperature 0 it is the likeliest.

    >>> import torch
    >>> draw_tokens(torch.log(torch.tensor([[0.2, 0.5, 0.3]] * 3)), [1.0, 1.0, 0.0], np.array([0.1, 0.75, 0.1]))
    [0, 2, 1]
    """
    import torch

    if bool(logprobs.isnan().any()):
        raise ValueError("NaN among the probabilities of the next token: its weights are damaged")
    likeliest: list[int] = logprobs.argmax(dim=-1).tolist()
    warm = [row for row, temperature in enumerate(temperatures) if temperature > 0]
    if warm:
        scale = torch.tensor([temperatures[row] for row in warm], dtype=torch.float32, device=logprobs.device)
        sums = torch.softmax(logprobs[warm] / scale[:, None], dim=-1).cumsum(dim=-1, dtype=torch.float64)
        wanted = torch.as_tensor(numbers[warm], device=logprobs.device)[:, None] * sums[:, -1:]
        drawn = torch.searchsorted(sums, wanted, right=True).clamp(max=sums.shape[1] - 1)
        for row, token in zip(warm, drawn[:, 0].tolist(), strict=True):
            likeliest[row] = token
    return likeliest


def _numbers(prompt: Prompt, sample: int) -> NDArray[np.float64]:
    # The text is part of it: prompts with one seed must not be drawn alike.
    text = int.from_bytes(hashlib.sha256(prompt.text.encode("utf-8", "surrogatepass")).digest()[:16], "little")
    return np.random.default_rng([prompt.seed, text, sample]).random(prompt.max_tokens)


def _samples(prompt: Prompt) -> int:
    """How many texts must be written for a prompt."""
    return prompt.n if prompt.temperature > 0 else 1


def _end_tokens(loaded: Loaded) -> set[int]:
    """The tokens that end a text, by the model's settings and its tokenizer's."""
    named = getattr(getattr(loaded.model, "generation_config", None), "eos_token_id", None)
    ends = [named] if isinstance(named, int) else list(named or ())
    return {*ends, loaded.tokenizer.eos_token_id} - {None}


def _stored_bytes(config: Any) -> int:
    """Bytes that the states of one token take, keys and values of all layers."""
    heads = int(getattr(config, "num_attention_heads", None) or 1)
    width = int(getattr(config, "head_dim", None) or config.hidden_size // heads)
    return 2 * 4 * int(config.num_hidden_layers) * int(getattr(config, "num_key_value_heads", None) or heads) * width
