"""Harmless variants of a model: weights with a little noise or in fewer bits, vectors likewise, an API asked again.

Such a variant is the same model to anybody who uses it. How far it moves a measured effect is the model's own wobble,
below which no growth of bias can be told.
"""

from __future__ import annotations

import copy
import dataclasses
import itertools
import zlib
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Batch, Identity, Question, Vector

Kind: TypeAlias = Literal["noise", "rounding", "matrix-rounding", "again"]
_Turns: TypeAlias = tuple[tuple[Kind, float], ...]
#: What is done to vectors and to weights, in turn: noise in SDs of a matrix, rounding in bits.
_VECTORS: _Turns = (("noise", 0.02), ("rounding", 8), ("rounding", 6))
_WEIGHTS: _Turns = (*_VECTORS, ("matrix-rounding", 8), *_VECTORS, ("noise", 0.02))
_AGAIN: _Turns = (("again", 0.0),)
_SMALLEST = 1e-12


@dataclasses.dataclass(frozen=True, slots=True)
class Variation:
    """A small change: ``noise`` of so many SDs of a matrix, ``rounding`` to so many bits, or asked ``again``.

    ``rounding`` has a grid for each row, as good quantisers do, ``matrix-rounding`` one for the whole matrix.

    >>> Variation("noise", 0.02, 3).name, Variation("rounding", 8, 1).name
    ('noise-0.02-3', 'rounding-8-1')
    """

    kind: Kind
    size: float
    seed: int

    @property
    def name(self) -> str:
        return f"{self.kind}-{self.size:g}-{self.seed}"

    def applied(self, values: NDArray[Any], key: str) -> NDArray[Any]:
        """A matrix or a vector with the change made to it; ``key`` names it, so that each has a noise of its own.

        Rounding goes up or down by chance: the mean of many roundings is the number itself.

        >>> Variation("rounding", 2, 0).applied(np.array([[1.0, 0.0, -1.0]]), "a").tolist()
        [[1.0, 0.0, -1.0]]
        """
        rng = np.random.default_rng([self.seed, zlib.crc32(key.encode())])
        if self.kind == "noise":
            noise = rng.standard_normal(values.shape, dtype=np.float32)
            return np.asarray(values + self.size * values.std() * noise)
        largest = np.abs(values).max(axis=-1 if self.kind == "rounding" else None, keepdims=True)
        step = np.maximum(largest / (2 ** (int(self.size) - 1) - 1), _SMALLEST)
        return np.asarray(np.floor(values / step + rng.random(values.shape, dtype=np.float32)) * step)


def variations(n: int, *, of: object) -> list[Variation]:
    """So many different small changes that fit a model; one that cannot be changed says so.

    >>> [each.name for each in variations(3, of=ChangedVectors({}, Variation("noise", 0.02, 0)))]
    ['noise-0.02-1', 'rounding-8-2', 'rounding-6-3']
    """
    way = _way(of)
    if way is _with_changed_base:
        return variations(n, of=of.base)  # type: ignore[attr-defined]
    turns = itertools.cycle({AskedAgain: _AGAIN, ChangedVectors: _VECTORS}.get(way, _WEIGHTS))
    return [Variation(*next(turns), seed) for seed in range(1, n + 1)]


def vary(model: Any, variation: Variation) -> Any:
    """The model with a harmless change; it is known by a revision of its own, so that no answer is mistaken."""
    return _way(model)(model, variation)


def _way(model: Any) -> Any:
    """How a model can be changed."""
    if hasattr(model, "with_base"):
        return _with_changed_base
    if hasattr(model, "edit"):
        return _with_changed_weights
    if hasattr(model, "estimate"):
        return AskedAgain
    if callable(getattr(model, "embed_words", None)) and not callable(getattr(model, "embed_texts", None)):
        return ChangedVectors
    raise BadInput(
        f"a {type(model).__name__} cannot be perturbed (only Transformers models, word vectors and APIs can): run "
        "tiltmeter audit instead, and check holds it against the floor of the sample models"
    )


def _with_changed_base(model: Any, variation: Variation) -> Any:
    """A map of vectors stays as it is; what changes are the vectors that go through it."""
    return model.with_base(vary(model.base, variation))


def _with_changed_weights(model: Any, variation: Variation) -> Any:
    """A copy that reads the weights anew and changes every matrix of them."""

    def edit(module: Any) -> None:
        import torch

        with torch.no_grad():
            for name, weights in module.named_parameters():
                if weights.ndim >= 2:
                    # The same noise with the head of a language model and without it.
                    key = name.removeprefix(f"{module.base_model_prefix}.")
                    weights.copy_(torch.from_numpy(variation.applied(weights.numpy(), key)))

    changed = copy.copy(model)
    changed.edit = edit
    changed.identity = _identity(model.identity, variation)
    return changed


def _identity(identity: Identity, variation: Variation) -> Identity:
    return dataclasses.replace(identity, revision=f"{identity.revision}+{variation.name}")


class ChangedVectors:
    """Word vectors, each with a change of its own."""

    def __init__(self, model: Any, variation: Variation) -> None:
        self._model, self._variation = model, variation

    @property
    def identity(self) -> Identity:
        identity = getattr(self._model, "identity", Identity(f"own:{type(self._model).__qualname__}", "unknown"))
        return _identity(identity, self._variation)

    def embed_words(self, words: Sequence[str]) -> list[Vector | None]:
        rows = self._model.embed_words(words)
        return [
            None if row is None else self._variation.applied(np.asarray(row, dtype=np.float32), word)
            for word, row in zip(words, rows, strict=True)
        ]


class AskedAgain:
    """An API asked the same things once more, in another order: what its answers depend on besides the text."""

    def __init__(self, model: Any, variation: Variation) -> None:
        self._model, self._variation = model, variation

    @property
    def identity(self) -> Identity:
        return _identity(self._model.identity, self._variation)

    def stream(self, question: Question, inputs: Sequence[Any], *, known: Collection[int] = ()) -> Iterator[Batch]:
        order = np.random.default_rng(self._variation.seed).permutation(len(inputs)).tolist()
        places = {place for place, position in enumerate(order) if position in known}
        for batch, answers in self._model.stream(question, [inputs[position] for position in order], known=places):
            yield [order[place] for place in batch], answers

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)
