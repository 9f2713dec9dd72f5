"""A Transformers model, whatever it can be asked: vectors by its states, log-probabilities by its head."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict

from tiltmeter.errors import BadInput, ModelFailed, unknown
from tiltmeter.models.protocol import (
    BOS_DECLARED,
    SCORES,
    Batch,
    Blank,
    Continuation,
    Fill,
    Filled,
    Generated,
    Likeliest,
    Prompt,
    Question,
    Span,
    TokenScores,
    gather,
)
from tiltmeter.models.transformers.batching import (
    MOST_TOKENS,
    SharedRow,
    Tree,
    answered,
    by_length,
    chunks,
    fair_budget,
    grow,
    largest,
    tree_inputs,
)
from tiltmeter.models.transformers.encoder import Loaded, TransformerEncoder
from tiltmeter.models.transformers.generation import Writer
from tiltmeter.models.transformers.pooling import PoolingRecipe, read_part
from tiltmeter.models.transformers.projection import AGREES, Projection
from tiltmeter.models.transformers.questions import CAUSAL, MASKED, Questions
from tiltmeter.models.transformers.tokens import shortened
from tiltmeter.models.transformers.weights.checkpoints import (
    Head,
    check_task,
    classes_in,
    first_line,
    head_named,
    head_of,
    is_encoder_decoder,
)

#: Tokens in a batch: few enough for a core's cache, enough to keep a GPU busy.
BUDGET = {"cpu": 1024, "cuda": 16_384, "mps": 16_384}
#: Numbers in the distributions of a batch, where every token of it is read (128 MB).
MOST_NUMBERS = 1 << 25


class LanguageModel:
    """A checkpoint with its head, asked for log-probabilities."""

    def __init__(self, loaded: Loaded, *, called: str, bos: bool | None = None, chat: bool = False) -> None:
        self._loaded, self._called = loaded, called
        self.tokenizer, self.limit = loaded.tokenizer, loaded.limit
        self._budget = BUDGET[loaded.device]
        self._projection = Projection(loaded.model)
        self._vocabulary = int(loaded.model.config.vocab_size)
        self._questions = Questions(loaded.tokenizer, limit=loaded.limit, called=called, bos=bos, chat=chat)

    def stream(self, question: Question, inputs: Sequence[Any], *, known: Collection[int] = ()) -> Iterator[Batch]:
        """Answers batch by batch, in the order in which they are ready."""
        wanted, _ = SCORES[question]
        for position, item in enumerate(inputs):
            if not isinstance(item, wanted):
                raise BadInput(f"input {position} is {shortened(repr(item))}: give {wanted.__name__}")
        for positions in chunks(question, inputs):
            here = {at for at, position in enumerate(positions) if position in known}
            if len(here) < len(positions):
                for done, answers in self._answers(question, [inputs[position] for position in positions], here):
                    yield [positions[at] for at in done], answers

    def _answers(self, question: Question, items: list[Any], known: set[int]) -> Iterator[Batch]:
        if question is Question.GENERATE:
            return self._written(items, known)
        if question is Question.LIKELIEST:
            return self._likeliest(items, known)
        tasks = self._questions.tasks(question, items)
        everywhere = question in (Question.TOKENS, Question.UNMASKED)
        budget = min(self._budget, max(32, MOST_NUMBERS // self._vocabulary)) if everywhere else self._budget
        most = self._largest_tree if question in CAUSAL else 0
        return answered(tasks, known, lambda batches: self._loaded.run(self._read, batches), budget=budget, most=most)

    def _tried(self, text: tuple[int, ...], compute: Any) -> Any:
        import torch

        try:
            with torch.inference_mode():
                return compute()
        except Exception as error:
            shown = shortened(self.tokenizer.decode(text))
            raise ModelFailed(f"'{self._called}' failed on {shown} ({first_line(error)})") from error

    def _guarded(self, text: tuple[int, ...], compute: Any) -> Any:
        values = self._tried(text, compute)
        if not all(np.isfinite(value).all() for value in values):
            shown = shortened(self.tokenizer.decode(text))
            raise ModelFailed(f"'{self._called}' answered {shown} with NaN or infinity: its weights are damaged")
        return values

    def _read(self, batch: list[Tree]) -> list[tuple[SharedRow, Any]]:
        """The log-probabilities read off each row of a batch."""
        values = self._guarded(tuple(batch[0].ids), lambda: self._logprobs(batch))
        rows = [row for tree in batch for row, _ in tree.rows]
        ends = np.cumsum([len(row.reads) for row in rows])
        return list(zip(rows, np.split(values, ends[:-1]), strict=True))

    def _logprobs(self, trees: Sequence[Tree]) -> Any:
        reads = [
            (index, path[at], token)
            for index, tree in enumerate(trees)
            for row, path in tree.rows
            for at, token in row.reads
        ]
        places = {place: number for number, place in enumerate(dict.fromkeys((i, at) for i, at, _ in reads))}
        index, at = zip(*places, strict=True)
        if any(tree.branches for tree in trees):
            fill, model = self.tokenizer.pad_token_id or 0, self._loaded.model
            inputs = tree_inputs(trees, fill=fill, device=self._loaded.device, dtype=model.dtype)
        else:
            inputs = self._loaded.inputs([tree.ids for tree in trees])
        distributions, _ = self._projection.logprobs((index, at), **inputs)
        wanted = [places[i, at] for i, at, _ in reads], [token for _, _, token in reads]
        return distributions[wanted].cpu().numpy()

    @functools.cached_property
    def _largest_tree(self) -> int:
        """Tokens of the largest tree; 0 where trees do not give what whole texts give: tried once, on a few tokens."""
        import torch

        a, b, c, d, e, f = (token % self._vocabulary for token in range(1, 7))
        stem = (a, b, c, a, d)
        texts = [stem, (*stem, d, e, a), (*stem, d, b), (*stem, e, f, c), (b, f, c, a)]
        rows = [SharedRow(ids, [(at, e) for at in range(len(ids))], []) for ids in texts]
        try:
            with torch.inference_mode():
                short, whole = (self._logprobs(grow(rows, most=most)) for most in (MOST_TOKENS, 0))
        except Exception:
            return 0
        order = [number for number, _ in sorted(enumerate(texts), key=lambda pair: pair[1])]
        parts = np.split(whole, np.cumsum([len(ids) for ids in texts])[:-1])
        agrees = np.allclose(short, np.concatenate([parts[number] for number in order]), atol=AGREES, rtol=0)
        return largest(self._loaded.model.config, self.limit) if agrees else 0

    def _written(self, prompts: list[Prompt], known: set[int]) -> Iterator[Batch]:
        ids = self._questions.prompts(prompts)

        def write(group: list[int]) -> Batch:
            some = [prompts[i] for i in group], [ids[i] for i in group]
            return group, self._tried(ids[group[0]], lambda: self._writer.write(*some))

        return self._loaded.run(write, self._writer.batches(prompts, ids, known))

    @functools.cached_property
    def _writer(self) -> Writer:
        return Writer(self._loaded, self._projection)

    def _likeliest(self, items: list[Blank], known: set[int]) -> Iterator[Batch]:
        """The words of a vocabulary that fit best, in batches of like length."""
        rows = self._questions.blanks(items)
        lengths = [len(ids) for ids, _ in rows]
        groups = by_length(lengths, budget=fair_budget(lengths, budget=self._budget))
        batches = [(group, sum(lengths[i] for i in group)) for group in groups if not known.issuperset(group)]

        def read(group: list[int]) -> Batch:
            ids, places = zip(*(rows[i] for i in group), strict=True)
            values, tokens = self._guarded(ids[0], lambda: self._best(ids, places, max(items[i].k for i in group)))
            return group, [
                Likeliest(self._words(best[: items[i].k]), tuple(scores[: items[i].k]))
                for i, best, scores in zip(group, tokens.tolist(), values.tolist(), strict=True)
            ]

        return self._loaded.run(read, batches)

    def _best(self, ids: Sequence[Sequence[int]], places: Sequence[int], k: int) -> tuple[Any, Any]:
        logprobs, _ = self._projection.logprobs((range(len(ids)), places), **self._loaded.inputs(ids))
        best = logprobs.topk(min(k, self._vocabulary))
        return best.values.cpu().numpy(), best.indices.cpu().numpy()

    def _words(self, tokens: Sequence[int]) -> tuple[str, ...]:
        return tuple(self.tokenizer.decode([token]).strip() for token in tokens)


class _TokenizerConfig(BaseModel):
    """What ``tokenizer_config.json`` says of the start mark."""

    model_config = ConfigDict(extra="ignore")
    add_bos_token: bool | None = None


class AskedByName:
    """The questions about log-probabilities as methods, of a model that answers in streams."""

    def stream(self, question: Question, inputs: Sequence[Any], *, known: Collection[int] = ()) -> Iterator[Batch]:
        raise NotImplementedError

    def fill(self, items: Sequence[Fill]) -> list[Filled]:
        """Log-probabilities of fillers at a place, with a mask for each of their tokens."""
        return gather(self.stream(Question.FILLS, items), len(items))

    def pseudo_score(self, spans: Sequence[Span]) -> list[TokenScores]:
        """Log-probabilities of the tokens of a stretch of a text, each masked in turn."""
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


class TransformerModel(TransformerEncoder, AskedByName):
    """A model in a folder or on the hub. What it answers is known from its config.json, before its weights are read.

    A causal language model gives vectors of words and texts only where a pooling is asked for or the folder names
    one: the mean of its states was never trained to stand for a text.

    Whether a start mark stands before a text moves every log-probability, and versions of Transformers disagree about
    it. ``bos="auto"`` does what the checkpoint's own files declare, ``"yes"`` and ``"no"`` whatever they declare; the
    settings of the model's identity say which it was. With ``chat="yes"`` prompts for text are put to an instruct model
    by its own chat template; with ``"no"`` it continues them as they are.
    """

    def __init__(
        self, name_or_path: str, *, bos: str = "auto", chat: str = "no", pooling: str = "auto", **options: Any
    ) -> None:
        for option, value, choices in (("bos", bos, ("auto", "yes", "no")), ("chat", chat, ("yes", "no"))):
            if value not in choices:
                raise unknown(option, value, choices)
        super().__init__(name_or_path, pooling=pooling, **options)  # type: ignore[arg-type]
        self._bos, self._chat = bos, chat == "yes"

    def _settings(self, pooling: str) -> dict[str, str]:
        settings = super()._settings(pooling)
        if self.head != "causal":
            return settings
        declared = dict(zip((True, False, None), BOS_DECLARED, strict=True))[self._declares_bos]
        chat = {"chat": "yes"} if self._chat else {}
        return {**settings, "bos": declared if self._bos == "auto" else self._bos, **chat}

    @property
    def _declares_bos(self) -> bool | None:
        """Whether the model's files ask for a start mark; None where they leave it to the tokenizer."""
        folder = self._adapter.tokenizer_folder if self._adapter else self._recipe.folder
        return read_part(folder / "tokenizer_config.json", _TokenizerConfig, default={}).add_bos_token

    @functools.cached_property
    def head(self) -> Head:
        return "none" if self._adapter and self._adapter.gives_vectors_only else head_of(self._weights)

    @property
    def questions(self) -> Collection[Question]:
        if not self._pooled:
            check_task(*self._trained_as)
        pooled = (Question.WORDS, Question.TEXTS) if self.head != "causal" or self._pooled else ()
        scored = {"none": (), "masked": MASKED, "causal": CAUSAL}
        return (*pooled, Question.SPANS, Question.REACH, *scored[self.head])

    @property
    def _trained_as(self) -> tuple[list[str], str, str]:
        instead = "pooling=mean behind its name (?pooling=mean) reads its states anyway"
        return classes_in(self._weights), self.name, instead

    @property
    def _encoder_decoder(self) -> bool:
        return is_encoder_decoder(self._weights)

    @property
    def _pooled(self) -> bool:
        """Whether somebody said how a text becomes a vector: the user, or the folder's own settings."""
        return self._pooling != "auto" or (Path(self._root) / "modules.json").is_file()

    @functools.cached_property
    def _language(self) -> LanguageModel:
        bos = self._declares_bos if self._bos == "auto" else self._bos == "yes"
        return LanguageModel(self._load(self.head), called=self.name, bos=bos, chat=self._chat)

    @functools.cached_property
    def _with_head(self) -> tuple[Any, Any]:
        return super()._checkpoint(self.head)

    def _checkpoint(self, head: Head) -> tuple[Any, Any]:
        """Vectors come from the body of the model whose head gives probabilities: its weights are held once."""
        tokenizer, model = self._with_head
        return tokenizer, model.base_model if head == "none" and self.head != "none" else model

    def likeliest(self, blanks: Sequence[Blank]) -> list[Likeliest]:
        """The likeliest words at a place of each sentence, of one token each."""
        return gather(self.stream(Question.LIKELIEST, blanks), len(blanks))

    def generate(self, prompts: Sequence[Prompt]) -> list[Generated]:
        """What the model writes after each prompt."""
        return gather(self.stream(Question.GENERATE, prompts), len(prompts))

    def stream(self, question: Question, inputs: Sequence[Any], *, known: Collection[int] = ()) -> Iterator[Batch]:
        if question not in SCORES or question is Question.REACH:
            return super().stream(question, inputs, known=known)
        if question not in self.questions:
            what = "has no language-model head" if self.head == "none" else f"is a {self.head} language model"
            if self._encoder_decoder:
                what = "is an encoder-decoder, of which the encoder is asked for vectors and nothing else"
            raise BadInput(f"{question.method} asks for {question.about}; {self.name} {what}")
        return self._language.stream(question, inputs, known=known)


class InMemory(TransformerModel):
    """A Transformers model that is in memory already, with its tokenizer.

    Its weights have no revision, so nothing that it answers is stored.
    """

    identity: Any = None
    _adapter = None

    def __init__(self, model: Any, tokenizer: Any) -> None:
        if not getattr(tokenizer, "is_fast", False):
            raise BadInput(f"the tokenizer of the {type(model).__name__} is not a fast one: save one as tokenizer.json")
        super().__init__(".", name=f"own:{type(model).__name__}")
        if callable(getattr(model, "get_base_model", None)):  # PEFT's wrapper; the adapter is in the layers within
            model = model.get_base_model()
        self._given = tokenizer, model.eval()

    @functools.cached_property
    def head(self) -> Head:
        return head_named([type(self._given[1]).__name__])

    @property
    def _declares_bos(self) -> bool | None:
        return getattr(self._given[0], "add_bos_token", None)

    @property
    def _trained_as(self) -> tuple[list[str], str, str]:
        return [type(self._given[1]).__name__], self.name, "pass (model.base_model, tokenizer) to read its states"

    @property
    def _encoder_decoder(self) -> bool:
        return bool(self._given[1].config.is_encoder_decoder)

    @property
    def _pooled(self) -> bool:
        return False

    @functools.cached_property
    def _recipe(self) -> PoolingRecipe:
        return PoolingRecipe(Path())

    @functools.cached_property
    def _with_head(self) -> tuple[Any, Any]:
        return self._given
