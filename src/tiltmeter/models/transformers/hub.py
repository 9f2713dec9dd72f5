"""A Transformers model, whatever it can be asked: vectors by its states, log-probabilities by its head."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tiltmeter.errors import BadInput, ModelFailed, unknown
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
from tiltmeter.models.transformers.batching import Task, TokenRow, answered, by_length, chunks, fair_budget, pad
from tiltmeter.models.transformers.checkpoints import Head, first_line, head_of, load
from tiltmeter.models.transformers.encoder import TransformerEncoder, device_named, lower_case, token_limit
from tiltmeter.models.transformers.projection import AGREES, Projection
from tiltmeter.models.transformers.questions import CAUSAL, MASKED, CausalQuestions, MaskedQuestions, Stem, filled
from tiltmeter.models.transformers.threads import ThreadTuner, in_lanes, usable_cpus
from tiltmeter.models.transformers.tokens import shortened

#: Tokens in a batch: few enough for a core's cache, enough to keep a GPU busy.
BUDGET = {"cpu": 1024, "cuda": 16_384, "mps": 16_384}
#: Numbers in the distributions of a batch, where every token of it is read (128 MB).
MOST_NUMBERS = 1 << 25


class LanguageModel:
    """The weights of one checkpoint. It is loaded when it is made, so make it when it is asked."""

    def __init__(
        self, folder: Path, *, head: Head, called: str, device: str, limit_of: Any, lower: Any = None, bos: bool = False
    ) -> None:
        self._called, self._device, self.head = called, device, head
        self.tokenizer, model = load(folder, called=called, head=head)
        if lower:
            lower(self.tokenizer)
        self.limit: int | None = limit_of(self.tokenizer, model)
        self._fill = self.tokenizer.pad_token_id or 0
        self._projection = Projection(model.to(device))
        self._vocabulary = int(model.config.vocab_size)
        self._tuner = ThreadTuner(usable_cpus())
        self._bos = bos

    @functools.cached_property
    def _masked(self) -> MaskedQuestions:
        return MaskedQuestions(self.tokenizer, limit=self.limit, called=self._called)

    @functools.cached_property
    def _causal(self) -> CausalQuestions:
        return CausalQuestions(self.tokenizer, limit=self.limit, called=self._called, bos=self._bos)

    def stream(self, question: Question, inputs: Sequence[Any], *, known: Collection[int] = ()) -> Iterator[Batch]:
        """Answers batch by batch, in the order in which they are ready."""
        wanted, _ = SCORES[question]
        for position, item in enumerate(inputs):
            if not isinstance(item, wanted):
                raise BadInput(f"input {position} is {shortened(repr(item))}: give {wanted.__name__}")
        for positions in chunks(question, inputs):
            asked = [position for position in positions if position not in known]
            if not asked:
                continue
            items = [inputs[position] for position in positions]
            here = {at for at, position in enumerate(positions) if position in known}
            for done, answers_of_batch in self._answers(question, items, here):
                yield [positions[at] for at in done], answers_of_batch

    def _answers(self, question: Question, items: list[Any], known: set[int]) -> Iterator[Batch]:
        if question is Question.CONTINUATIONS:
            stems = self._causal.stems(items)
            if self._caches:
                yield from self._continued(stems, known)
                return
            tasks = [_as_rows(stem) for stem in stems]
        elif question is Question.TOKENS:
            tasks = self._causal.tasks(items)
        else:
            tasks = self._masked.tasks(question, items)
        everywhere = question in (Question.TOKENS, Question.UNMASKED)
        yield from answered(tasks, known, self._run, budget=self._budget(everywhere=everywhere))

    def _budget(self, *, everywhere: bool) -> int:
        budget = BUDGET[self._device]
        return min(budget, max(32, MOST_NUMBERS // self._vocabulary)) if everywhere else budget

    def _run(self, batches: Iterable[tuple[Any, int]], work: Any = None) -> Iterator[Any]:
        compute = work or self._read
        if self._device == "cpu":
            yield from in_lanes(compute, batches, tuner=self._tuner)
        else:
            for batch, _ in batches:
                yield compute(batch)

    def _guarded(self, text: tuple[int, ...], compute: Any) -> Any:
        import torch

        try:
            with torch.inference_mode():
                values = compute()
        except Exception as error:
            raise ModelFailed(f"'{self._called}' failed on {self._shown(text)} ({first_line(error)})") from error
        if not all(np.isfinite(value).all() for value in values):
            raise ModelFailed(
                f"'{self._called}' answered {self._shown(text)} with NaN or infinity: its weights are damaged"
            )
        return values

    def _shown(self, tokens: tuple[int, ...]) -> str:
        return shortened(self.tokenizer.decode(tokens))

    def _read(self, batch: list[Any]) -> list[tuple[Any, Any]]:
        """The log-probabilities read off each row of a batch."""
        rows = [shared.row for shared in batch]
        values = self._guarded(rows[0].ids, lambda: self._logprobs(rows))
        ends = np.cumsum([len(row.reads) for row in rows])
        return list(zip(batch, np.split(values, ends[:-1]), strict=True))

    def _logprobs(self, rows: Sequence[TokenRow]) -> Any:
        import torch

        ids, real = pad([row.ids for row in rows], fill=self._fill)
        mask = {} if real is None else {"attention_mask": torch.from_numpy(real).to(self._device).long()}
        reads = [(index, at, token) for index, row in enumerate(rows) for at, token in row.reads]
        places = {place: number for number, place in enumerate(dict.fromkeys((i, at) for i, at, _ in reads))}
        index, at = zip(*places, strict=True)
        tokens = torch.from_numpy(ids).to(self._device)
        distributions, _ = self._projection.logprobs((index, at), input_ids=tokens, **mask)
        wanted = [places[i, at] for i, at, _ in reads], [token for _, _, token in reads]
        return distributions[wanted].cpu().numpy()

    def _continued(self, stems: list[Stem], known: set[int]) -> Iterator[Batch]:
        """Continuations of stems of one length at a time: nothing is padded before an ending."""
        lengths = [len(stem.ids) for stem in stems]
        costs = [stem.tokens for stem in stems]
        groups = [
            [same[i] for i in some]
            for length in sorted(set(lengths), reverse=True)
            for same in [[i for i, other in enumerate(lengths) if other == length]]
            for some in by_length(
                [costs[i] for i in same], budget=fair_budget(costs, budget=BUDGET[self._device]), slack=64
            )
        ]
        wanted = [[(i, stems[i]) for i in group if i not in known] for group in groups]
        batches = [(batch, sum(stem.tokens for _, stem in batch)) for batch in wanted if batch]
        yield from self._run(batches, self._continue)

    def _continue(self, batch: list[tuple[int, Stem]]) -> Batch:
        stems = [stem for _, stem in batch]
        values = self._guarded(stems[0].ids, lambda: self._endings(stems))
        return [position for position, _ in batch], [
            filled(stem, logprobs) for stem, logprobs in zip(stems, values, strict=True)
        ]

    def _endings(self, stems: Sequence[Stem]) -> list[list[float]]:
        """One pass over the stems; what follows is read from their stored states."""
        import torch

        ids = torch.tensor([stem.ids for stem in stems], device=self._device)
        follow = [(row, prefix) for row, stem in enumerate(stems) for prefix in stem.prefixes]
        last = (range(len(stems)), [ids.shape[1] - 1] * len(stems))
        first, output = self._projection.logprobs(last, input_ids=ids, use_cache=bool(follow))
        after: dict[tuple[int, tuple[int, ...]], Any] = {}
        if follow:
            cache = output.past_key_values
            cache.reorder_cache(torch.tensor([row for row, _ in follow], device=self._device))
            padded, _ = pad([prefix for _, prefix in follow], fill=self._fill)
            places = [(i, at) for i, (_, prefix) in enumerate(follow) for at in range(len(prefix))]
            index, at = zip(*places, strict=True)
            tokens = torch.from_numpy(padded).to(self._device)
            read, _ = self._projection.logprobs((index, at), input_ids=tokens, past_key_values=cache, use_cache=True)
            for (i, place), distribution in zip(places, read, strict=True):
                row, prefix = follow[i]
                after[row, prefix[: place + 1]] = distribution
        return [
            [
                float(first[row, ending[0]])
                + sum(float(after[row, ending[:at]][ending[at]]) for at in range(1, len(ending)))
                for ending in stem.endings
            ]
            for row, stem in enumerate(stems)
        ]

    @functools.cached_property
    def _caches(self) -> bool:
        """Whether states that were stored give what whole texts give: tried once, on a few tokens."""
        import torch

        a, b, c, d, e = (token % self._vocabulary for token in range(1, 6))
        stems = [Stem((a, b, c), ((d, e, a), (d, b), (e,)), None), Stem((b, b, a), ((e, c),), None)]
        rows = [_as_rows(stem) for stem in stems]
        try:
            with torch.inference_mode():
                short = self._endings(stems)
                whole = [
                    list(task.answer([self._logprobs([row]) for row in task.rows]).logprobs)  # type: ignore[union-attr]
                    for task in rows
                ]
        except Exception:
            return False
        return all(np.allclose(x, y, atol=AGREES, rtol=0) for x, y in zip(short, whole, strict=True))

    def top(self, text: str, place: tuple[int, int], *, k: int) -> list[tuple[str, float]]:
        """The k most probable single-token fillers at a place, with their probabilities."""
        import torch

        mask = self.tokenizer.mask_token
        start, end = place
        ids = self.tokenizer(text[:start] + mask + text[end:])["input_ids"]
        if self.limit is not None and len(ids) > self.limit:
            raise BadInput(
                f"{shortened(text)} has {len(ids)} tokens, and {self._called} reads {self.limit}: shorten it"
            )
        at = ids.index(self.tokenizer.mask_token_id)

        def compute() -> Any:
            tokens = torch.tensor([ids], device=self._device)
            logprobs, _ = self._projection.logprobs(([0], [at]), input_ids=tokens)
            return [part.cpu().numpy() for part in logprobs[0].exp().topk(min(k, self._vocabulary))]

        values, tokens = self._guarded(tuple(ids), compute)
        words = [self.tokenizer.decode([token]).strip() for token in tokens.tolist()]
        return list(zip(words, values.tolist(), strict=True))


def _as_rows(stem: Stem) -> Task:
    """A continuation as whole rows, for models whose stored states cannot be used again."""
    before = len(stem.ids)
    rows = tuple(
        TokenRow(stem.ids + ending[:-1], tuple((before - 1 + at, token) for at, token in enumerate(ending)))
        for ending in stem.endings
    )
    return Task(rows, lambda read: filled(stem, [float(logprobs.sum()) for logprobs in read]))


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
            return (*vectors, *CAUSAL)
        vectors = (Question.WORDS, Question.TEXTS, Question.SPANS)
        return (*vectors, *MASKED) if self.head == "masked" else vectors

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
