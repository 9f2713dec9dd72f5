"""A Transformers model, whatever it can be asked: vectors by its states, log-probabilities by its head."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

from tiltmeter.errors import BadInput, unknown
from tiltmeter.models.protocol import (
    METHODS,
    SCORES,
    Batch,
    Continuation,
    Fill,
    Filled,
    Identity,
    Question,
    Span,
    TokenScores,
    gather,
)
from tiltmeter.models.transformers import causal, masked
from tiltmeter.models.transformers.checkpoints import Head, head_of
from tiltmeter.models.transformers.encoder import TransformerEncoder, device_named, lower_case, token_limit
from tiltmeter.models.transformers.language_model import LanguageModel


class TransformerModel(TransformerEncoder):
    """A model in a folder or on the hub. What it answers is known from its config.json, before its weights are read.

    A causal language model gives vectors of words and texts only where a pooling is asked for or the folder names
    one: the mean of its states was never trained to stand for a text.
    """

    def __init__(self, name_or_path: str, *, bos: str = "no", pooling: str = "auto", **options: Any) -> None:
        if bos not in ("yes", "no"):
            raise unknown("bos", bos, ["yes", "no"])
        super().__init__(name_or_path, pooling=pooling, **options)  # type: ignore[arg-type]
        self._bos = bos == "yes"
        self._pooling_chosen = pooling != "auto"

    @functools.cached_property
    def identity(self) -> Identity:
        plain = super().identity
        return Identity(plain.name, plain.revision, {**plain.settings, "bos": "yes"}) if self._bos else plain

    @functools.cached_property
    def head(self) -> Head:
        return head_of(self._recipe.folder)

    @property
    def questions(self) -> Collection[Question]:
        if self.head == "causal":
            vectors = (Question.WORDS, Question.TEXTS, Question.SPANS) if self._pooled else (Question.SPANS,)
            return (*vectors, *causal.QUESTIONS)
        vectors = (Question.WORDS, Question.TEXTS, Question.SPANS)
        return (*vectors, *masked.QUESTIONS) if self.head == "masked" else vectors

    @property
    def _pooled(self) -> bool:
        """Whether somebody said how a text becomes a vector: the user, or the folder's own settings."""
        return self._pooling_chosen or (Path(self._root) / "modules.json").is_file()

    @functools.cached_property
    def _language(self) -> LanguageModel:
        return LanguageModel(
            self._recipe.folder,
            head=self.head,
            called=self.name,
            device=device_named(self._device),
            limit_of=lambda tokenizer, model: token_limit(tokenizer, model, self._recipe),
            lower=lower_case if self._recipe.lower else None,
            bos=self._bos,
        )

    def fill(self, items: Sequence[Fill]) -> list[Filled]:
        """Log-probabilities of fillers at a place, with a mask for each of their tokens."""
        return gather(self.stream(Question.FILLS, items), len(items))

    def pseudo_score(self, spans: Sequence[Span]) -> list[TokenScores]:
        """Log-probabilities of the tokens of a stretch of a text, each masked in its turn."""
        return gather(self.stream(Question.PSEUDO, spans), len(spans))

    def unmasked_score(self, texts: Sequence[str]) -> list[TokenScores]:
        """Log-probabilities of the tokens of a text, nothing masked."""
        return gather(self.stream(Question.UNMASKED, texts), len(texts))

    def score(self, texts: Sequence[str]) -> list[TokenScores]:
        """Log-probabilities of the tokens of a text, each after those before it."""
        return gather(self.stream(Question.TOKENS, texts), len(texts))

    def continue_with(self, items: str | Sequence[Continuation], endings: Sequence[str] | None = None) -> list[Any]:
        """Log-probabilities of endings after a stem, which is read once.

        ``continue_with("The chef said that", [" he", " she"])`` gives one number per ending; a list of ``Continuation``
        gives one ``Filled`` each, in batches.
        """
        if isinstance(items, str):
            return list(self.continue_with([Continuation(items, tuple(endings or ()))])[0].logprobs)
        return gather(self.stream(Question.CONTINUATIONS, items), len(items))

    def top(self, text: str, place: tuple[int, int], *, k: int = 10) -> list[tuple[str, float]]:
        """The most probable words at a place of a sentence, for a masked language model."""
        if self.head != "masked":
            raise BadInput(f"{self.name} is no masked language model, so it has no mask to fill")
        return self._language.top(text, place, k=k)

    def stream(self, question: Question, inputs: Sequence[Any], *, known: Collection[int] = ()) -> Iterator[Batch]:
        if question not in SCORES:
            return super().stream(question, inputs, known=known)
        if question not in self.questions:
            method = METHODS[question]
            raise BadInput(f"{method} asks for {question.about}; {self.name} {_WHAT[self.head]}")
        return self._language.stream(question, inputs, known=known)


_WHAT = {
    "none": "has no language-model head",
    "masked": "is a masked language model",
    "causal": "is a causal language model",
}
