"""The questions a model can be asked, and how one says which of them it answers.

A model needs no base class: it answers a question by having the method. Where a model also has
``stream``, answers arrive batch by batch, so that a killed run loses at most the batch in flight.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Vector: TypeAlias = NDArray[np.float32]
#: One answer per input, in order; None where a word is out of vocabulary.
Rows: TypeAlias = Sequence[Vector | None] | NDArray[np.floating[Any]]
#: Which inputs (by position) a batch answers, and the answers in the same order.
Batch: TypeAlias = tuple[Sequence[int], Rows]


class Question(StrEnum):
    """What can be asked of a model."""

    WORDS = "words"
    TEXTS = "texts"
    SPANS = "spans"


@dataclasses.dataclass(frozen=True, slots=True)
class Span:
    """A word in its sentence, by character offsets.

    >>> Span("The nurse slept.", 4, 9).word
    'nurse'
    """

    text: str
    start: int
    end: int

    @property
    def word(self) -> str:
        return self.text[self.start : self.end]


@dataclasses.dataclass(frozen=True, slots=True)
class Identity:
    """What an answer depends on besides the input: it keys the cache and stands in every reading.

    ``name`` is the spec without options, ``revision`` identifies the weights, ``settings`` are the
    options that change an answer (pooling, layer, ...), never a key or an address.
    """

    name: str
    revision: str
    settings: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "revision": self.revision, "settings": dict(sorted(self.settings.items()))}


@runtime_checkable
class EmbedsWords(Protocol):
    def embed_words(self, words: Sequence[str]) -> Rows: ...


@runtime_checkable
class EmbedsTexts(Protocol):
    def embed_texts(self, texts: Sequence[str]) -> Rows: ...


@runtime_checkable
class EmbedsSpans(Protocol):
    def embed_spans(self, spans: Sequence[Span]) -> Rows: ...


@runtime_checkable
class Identified(Protocol):
    """A model whose answers may be cached, because it says what they depend on."""

    @property
    def identity(self) -> Identity: ...


@runtime_checkable
class Streams(Protocol):
    """A model that answers in batches, in any order that suits it (e.g. by length).

    Inputs at ``known`` positions need no answer. Where the company a text keeps in a batch changes its last digits,
    batches are those of all the inputs without the known ones: a killed run then goes on to the very same numbers.
    """

    def stream(self, question: Question, inputs: Sequence[Any], *, known: Collection[int] = ()) -> Iterator[Batch]: ...


def gather(batches: Iterator[Batch], n: int) -> list[Vector | None]:
    """Put streamed batches back into the order of the inputs."""
    rows: list[Vector | None] = [None] * n
    for positions, answers in batches:
        for position, answer in zip(positions, answers, strict=True):
            rows[position] = answer
    return rows
