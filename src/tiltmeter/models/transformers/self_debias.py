"""A language model that is asked twice, the second time behind prompts that announce bias (Self-Debias)."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tiltmeter.errors import BadInput
from tiltmeter.files import at_home
from tiltmeter.mitigation import self_debias
from tiltmeter.models.cached import CachedModel
from tiltmeter.models.debiased import SELF_DEBIAS, check_base, load_base, load_fitted
from tiltmeter.models.protocol import (
    SCORES,
    Batch,
    Identity,
    Question,
    Rows,
    Span,
)
from tiltmeter.models.transformers.batching import Tree
from tiltmeter.models.transformers.encoder import Loaded
from tiltmeter.models.transformers.hub import AskedByName, LanguageModel, TransformerModel
from tiltmeter.models.transformers.questions import Questions

if TYPE_CHECKING:
    from tiltmeter.models.api import Budget


class PromptedLanguage(LanguageModel):
    """Log-probabilities after each text, rescaled by those behind the prompts."""

    def __init__(
        self, loaded: Loaded, *, called: str, bos: bool | None, prompts: Sequence[str], decay: float, floor: float
    ) -> None:
        super().__init__(loaded, called=called, bos=bos)
        tokenizer = loaded.tokenizer
        # The text begins on a line of its own, so that its first token is the one that it is without a prompt.
        self._prompts = [tuple(tokenizer(f"{prompt}\n", add_special_tokens=False)["input_ids"]) for prompt in prompts]
        self._starts = {tokenizer.cls_token_id, tokenizer.bos_token_id} - {None}
        self._decay, self._floor = decay, floor
        longest = max(map(len, self._prompts))
        limit = None if loaded.limit is None else loaded.limit - longest
        self._questions = Questions(tokenizer, limit=limit, called=f"{called} behind a prompt", bos=bos)

    def _logprobs(self, trees: Sequence[Tree]) -> Any:
        reads = [
            (i, path[at], token) for i, tree in enumerate(trees) for row, path in tree.rows for at, token in row.reads
        ]
        places = {place: number for number, place in enumerate(dict.fromkeys((i, at) for i, at, _ in reads))}
        plain = self._at(trees, list(places), ())
        biased = np.stack([self._at(trees, list(places), prompt) for prompt in self._prompts])
        after = self_debias(plain, biased, decay=self._decay, floor=self._floor)
        return after[[places[i, at] for i, at, _ in reads], [token for _, _, token in reads]]

    def _at(self, trees: Sequence[Tree], places: Sequence[tuple[int, int]], prompt: tuple[int, ...]) -> Any:
        """The distributions at places of texts, with a prompt after the start mark of each."""
        starts = [int(tree.ids[0] in self._starts) for tree in trees]
        prompted = [(*tree.ids[:at], *prompt, *tree.ids[at:]) for tree, at in zip(trees, starts, strict=True)]
        index = [row for row, _ in places]
        # What is read at the start mark of a causal model is the first word, which now follows the prompt.
        at = [place + len(prompt) for _, place in places]
        distributions, _ = self._projection.logprobs((index, at), **self._loaded.inputs(prompted))
        return distributions.cpu().numpy()

    @functools.cached_property
    def _largest_tree(self) -> int:
        """No tree has branches: texts are read whole, with and without a prompt."""
        return 0


class SelfDebiasedModel(AskedByName):
    """``debiased:FOLDER`` after self_debias: what a language model answers with its head is answered behind prompts."""

    def __init__(self, folder: str | Path, *, base: str | object | None = None, budget: Budget | None = None) -> None:
        self.folder = at_home(folder)
        self.fitted, _ = load_fitted(self.folder)
        self.name = f"debiased:{self.folder.name}"
        self._loaded = load_base(self.folder, self.fitted, base, budget)
        try:
            self._options: dict[str, Any] = {
                "prompts": tuple(map(str, self.fitted.settings["prompts"])),
                "decay": float(self.fitted.settings["decay"]),
                "floor": float(self.fitted.settings["floor"]),
            }
        except (KeyError, TypeError, ValueError):
            raise BadInput(f"{self.folder} does not say how the model is asked: run tiltmeter debias again") from None
        if not isinstance(self._loaded, TransformerModel) or not self._options["prompts"]:
            raise BadInput(f"self_debias is for Transformers language models, and {self.fitted.base.name} is none")

    @functools.cached_property
    def below(self) -> TransformerModel:
        """The model that is asked; one that the folder was not made for is refused."""
        check_base(self.name, self.fitted, self._loaded)
        base: TransformerModel = self._loaded
        return base

    @property
    def identity(self) -> Identity:
        below = CachedModel(self.below).identity
        how = hashlib.sha256(repr(sorted(self._options.items())).encode()).hexdigest()[:8]
        return dataclasses.replace(below, name=self.name, revision=f"{below.revision}+{SELF_DEBIAS}-{how}")

    @property
    def note(self) -> str:
        """What was done to it, for everyone who reads its readings."""
        return f"{self.name} is {self.fitted.in_words}; its vectors are as they were"

    @property
    def head(self) -> str:
        return self.below.head

    @property
    def questions(self) -> Collection[Question]:
        """What the model below answers, but for words and texts of its own choice: they would not be rescaled."""
        own = Question.GENERATE, Question.LIKELIEST
        return [question for question in self.below.questions if question not in own]

    @functools.cached_property
    def _language(self) -> PromptedLanguage:
        base = self.below
        bos = base._declares_bos if base._bos == "auto" else base._bos == "yes"
        return PromptedLanguage(base._load(base.head), called=base.name, bos=bos, **self._options)

    def stream(self, question: Question, inputs: Sequence[Any], *, known: Collection[int] = ()) -> Iterator[Batch]:
        if question not in SCORES or question is Question.REACH or question not in self.questions:
            return self.below.stream(question, inputs, known=known)
        return self._language.stream(question, inputs, known=known)

    def embed_words(self, words: Sequence[str]) -> Rows:
        return self.below.embed_words(words)

    def embed_texts(self, texts: Sequence[str]) -> Rows:
        return self.below.embed_texts(texts)

    def embed_spans(self, spans: Sequence[Span]) -> Rows:
        return self.below.embed_spans(spans)

    def reach(self, spans: Sequence[Span]) -> list[Any]:
        return self.below.reach(spans)
