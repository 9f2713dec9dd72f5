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

from tiltmeter.models.inputs import Choice, Continuation, Fill, Span
from tiltmeter.models.scores import Chosen, Filled, TokenScores

Vector: TypeAlias = NDArray[np.float32]
#: One answer per input, in order; None where a word is out of vocabulary.
Rows: TypeAlias = Sequence[Vector | None] | NDArray[np.floating[Any]]
#: Which inputs (by position) a batch answers, and the answers in the same order.
Batch: TypeAlias = tuple[Sequence[int], Sequence[Any] | NDArray[np.floating[Any]]]


__all__ = [
    "METHODS",
    "SCORES",
    "Batch",
    "Choice",
    "Chosen",
    "Continuation",
    "EmbedsSpans",
    "EmbedsTexts",
    "EmbedsWords",
    "Fill",
    "Filled",
    "Identified",
    "Identity",
    "Question",
    "Rows",
    "Span",
    "Streams",
    "TokenScores",
    "Vector",
    "gather",
]


class Question(StrEnum):
    """What can be asked of a model."""

    WORDS = "words"
    TEXTS = "texts"
    SPANS = "spans"
    FILLS = "fills"
    PSEUDO = "pseudo"
    UNMASKED = "unmasked"
    TOKENS = "tokens"
    CONTINUATIONS = "continuations"
    CHOICES = "choices"

    @property
    def about(self) -> str:
        """What is asked for, as it stands in a sentence."""
        return _ABOUT[self]


_ABOUT = {
    Question.WORDS: "vectors of words",
    Question.TEXTS: "vectors of texts",
    Question.SPANS: "vectors of words in context",
    Question.FILLS: "log-probabilities of fillers at a mask, which masked language models give",
    Question.PSEUDO: "log-probabilities of masked tokens, which masked language models give",
    Question.UNMASKED: "log-probabilities of unmasked tokens, which masked language models give",
    Question.TOKENS: "log-probabilities of tokens from left to right, which causal language models give",
    Question.CONTINUATIONS: "log-probabilities of continuations, which causal language models give",
    Question.CHOICES: "a choice between two words, which chat models give",
}


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


#: The method that answers each question: a list of inputs in, one answer each out. A model that has methods which its
#: weights cannot answer says in ``questions`` which it can.
METHODS: Mapping[Question, str] = {
    Question.WORDS: "embed_words",
    Question.TEXTS: "embed_texts",
    Question.SPANS: "embed_spans",
    Question.FILLS: "fill",
    Question.PSEUDO: "pseudo_score",
    Question.UNMASKED: "unmasked_score",
    Question.TOKENS: "score",
    Question.CONTINUATIONS: "continue_with",
    Question.CHOICES: "choose",
}
#: What is asked about, and the form of the answer, where it is no vector.
SCORES: Mapping[Question, tuple[type[Any], type[Any]]] = {
    Question.FILLS: (Fill, Filled),
    Question.PSEUDO: (Span, TokenScores),
    Question.UNMASKED: (str, TokenScores),
    Question.TOKENS: (str, TokenScores),
    Question.CONTINUATIONS: (Continuation, Filled),
    Question.CHOICES: (Choice, Chosen),
}


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


def gather(batches: Iterator[Batch], n: int) -> list[Any]:
    """Put streamed batches back into the order of the inputs."""
    rows: list[Any] = [None] * n
    for positions, answers in batches:
        for position, answer in zip(positions, answers, strict=True):
            rows[position] = answer
    return rows
