"""A model and its stored answers: what is known is not asked again, what is new is stored batch by batch."""

from __future__ import annotations

import contextlib
import inspect
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tiltmeter.errors import BadInput, CacheUnusable, ModelFailed
from tiltmeter.models.protocol import (
    SCORES,
    Answer,
    Batch,
    Changes,
    Filled,
    Generated,
    Identity,
    Likeliest,
    Prompt,
    Question,
    Rows,
    Span,
    Streams,
    Vector,
)
from tiltmeter.models.store import VectorStore

#: Inputs per call for a model that does not stream; few enough that a killed run loses little.
_CHUNK = 128
#: Seconds between two looks at what another process is asking for.
_POLL = 0.2


class CachedModel:
    """Wraps any model; adapters know nothing of it.

    Without a store, or for a model that does not say what its answers depend on (no ``identity``), every
    answer is asked anew. ``asked`` and ``recalled`` count inputs.

    >>> class Mine:
    ...     def embed_words(self, words):
    ...         return [[len(word), 1.0] for word in words]
    >>> model = CachedModel(Mine())
    >>> model.answers(Question.WORDS, ["she", "he", "she"])["she"].tolist(), model.asked
    ([3.0, 1.0], 2)
    """

    def __init__(self, model: object, store: VectorStore | None = None) -> None:
        self.model = model
        # Looked for, not yet asked: a model may have to read its files, or fail, to say what it is.
        self._identified = inspect.getattr_static(model, "identity", None) is not None
        self.store = store if self._identified else None
        self.asked = 0
        self.recalled = 0

    @property
    def identity(self) -> Identity:
        if not self._identified:
            name = getattr(self.model, "name", None)
            return Identity(name if isinstance(name, str) else f"own:{type(self.model).__qualname__}", "unknown")
        identity = getattr(self.model, "identity", None)
        if not isinstance(identity, Identity):
            raise BadInput(
                f"the identity of {type(self.model).__qualname__} is a {type(identity).__name__}: make it a "
                "tiltmeter.models.Identity(name, revision), or leave it out and nothing will be cached"
            )
        return identity

    def answers_question(self, question: Question) -> bool:
        """Whether the model can be asked this. A word can always be asked as a text."""
        return self._method(question) is not None

    def answers(
        self, question: Question, inputs: Sequence[Any], *, progress: Callable[[int], None] = lambda _: None
    ) -> dict[Any, Any]:
        """The answer for every different input (a vector, or what ``SCORES`` names); ``progress`` learns how many
        more are done."""
        asked_as = self.asked_as(question)
        if isinstance(self.model, Changes):
            below = CachedModel(self.model.base, self.store)
            answers = below.answers(asked_as, inputs, progress=progress)
            self.asked, self.recalled = self.asked + below.asked, self.recalled + below.recalled
            rows_after = self.model.changed(asked_as, answers)
            return dict(zip(rows_after, checked(self.identity.name, list(rows_after), rows_after), strict=True))
        unique = list(dict.fromkeys(inputs))
        rows: dict[Any, Vector | None] = {}
        while len(rows) < len(unique):
            missing = [item for item in unique if item not in rows]
            recalled = self.store.get(self.identity, asked_as, missing) if self.store else {}
            self.recalled += len(recalled)
            progress(len(recalled))
            rows.update((missing[i], row) for i, row in recalled.items())
            width = self._width(asked_as, rows.values(), None)
            missing = [item for item in unique if item not in rows]
            claimed = self._claimed(asked_as, missing)
            if claimed:
                self._ask(asked_as, unique, claimed, rows, width, progress)
            elif missing:
                time.sleep(_POLL)  # others are asking for all that is missing
        if asked_as not in SCORES:
            return rows
        _, form = SCORES[asked_as]
        return {item: form.from_row(row) for item, row in rows.items() if row is not None}

    def _width(self, question: Question, rows: Iterable[Vector | None], width: int | None) -> int | None:
        vectors = () if question in SCORES else rows
        return same_width(self.identity.name, vectors, width, stored=self.store is not None)

    def _claimed(self, question: Question, items: list[Any]) -> list[Any]:
        """What to ask now: of a model that costs money, only what no other process is asking for."""
        if not (items and self.store and hasattr(self.model, "estimate")):
            return items
        return [items[i] for i in self.store.claim(self.identity, question, items)]

    def _ask(
        self,
        question: Question,
        unique: list[Any],
        claimed: list[Any],
        rows: dict[Any, Vector | None],
        width: int | None,
        progress: Callable[[int], None],
    ) -> None:
        """Ask for what is claimed, and store each batch before the next is asked for."""
        ours = set(claimed)
        known = {i for i, item in enumerate(unique) if item not in ours}
        try:
            for positions, answer in self._batches(question, unique, known):
                items = [unique[i] for i in positions]
                new = self._checked(question, items, answer)
                width = self._width(question, new, width)
                if self.store:
                    self.store.put(self.identity, question, items, new)
                rows.update(zip(items, new, strict=True))
                self.asked += len(items)
                progress(len(items))
        except BaseException:
            if self.store and hasattr(self.model, "estimate"):
                with contextlib.suppress(CacheUnusable):  # the first error is the one to tell
                    self.store.release(self.identity, question, claimed)
            raise
        left = [item for item in claimed if item not in rows]
        if left:
            name, one = self.identity.name, shown(left[0])
            raise ModelFailed(f"{name} left {len(left)} inputs unanswered, e.g. {one}: it must answer each")

    def _checked(self, question: Question, items: list[Any], answer: Any) -> list[Vector | None]:
        name = self.identity.name
        if question not in SCORES:
            return checked(name, items, answer)
        if len(answer) != len(items):
            raise ModelFailed(f"{name} gave {len(answer)} answers for {len(items)} inputs: it must give one each")
        _, form = SCORES[question]
        return [checked_row(name, form, item, one) for item, one in zip(items, answer, strict=True)]

    def unknown_inputs(self, question: Question, inputs: Sequence[Any]) -> list[Any]:
        """The different inputs that would have to be asked of the model."""
        if isinstance(self.model, Changes):
            return CachedModel(self.model.base, self.store).unknown_inputs(self.asked_as(question), inputs)
        unique = list(dict.fromkeys(inputs))
        known = self.store.get(self.identity, self.asked_as(question), unique) if self.store else {}
        return [item for i, item in enumerate(unique) if i not in known]

    def embed_words(self, words: Sequence[str]) -> list[Vector | None]:
        return list(map(self.answers(Question.WORDS, words).get, words))

    def embed_texts(self, texts: Sequence[str]) -> list[Vector | None]:
        return list(map(self.answers(Question.TEXTS, texts).get, texts))

    def embed_spans(self, spans: Sequence[Any]) -> list[Vector | None]:
        return list(map(self.answers(Question.SPANS, spans).get, spans))

    def asked_as(self, question: Question) -> Question:
        """The question that is put to the model for this one."""
        method = self._method(question)
        if method is None:
            raise BadInput(f"{self.identity.name} does not give {question.about}")
        return method

    def _method(self, question: Question) -> Question | None:
        """The question put to the model: a word goes as a text where that makes no difference."""
        if question is Question.WORDS and (
            getattr(self.model, "words_are_texts", False) or not self.asked_itself(Question.WORDS)
        ):
            question = Question.TEXTS
        return question if self.asked_itself(question) else None

    def asked_itself(self, question: Question) -> bool:
        """Whether the model answers this very question, not another in its place."""
        # Looked for, not asked: a model may have to read its files to say what it answers.
        if inspect.getattr_static(self.model, "questions", None) is not None:
            return question in self.model.questions  # type: ignore[attr-defined]
        return callable(getattr(self.model, question.method, None))

    def _batches(self, question: Question, inputs: list[Any], known: Collection[int]) -> Iterator[Batch]:
        if isinstance(self.model, Streams):
            yield from self.model.stream(question, inputs, known=known)
            return
        ask = getattr(self.model, question.method)
        asked = [position for position in range(len(inputs)) if position not in known]
        for start in range(0, len(asked), _CHUNK):
            some = asked[start : start + _CHUNK]
            yield some, ask([inputs[position] for position in some])


def shown(item: object) -> str:
    """An input as an error message quotes it.

    >>> shown("He is a nurse.")
    "'He is a nurse.'"
    """
    whole = getattr(item, "text", None) or getattr(item, "stem", None) or item
    text = item.word if isinstance(item, Span) else str(whole)
    return f"'{text[:57]}...'" if len(text) > 60 else f"'{text}'"


def checked(model: str, inputs: Sequence[Any], answer: Rows | Mapping[Any, Any]) -> list[Vector | None]:
    """A model's answer as float32 vectors in the order of the inputs.

    An array, a list with None for what is unknown, or a mapping that leaves it out. Too few rows, rows of
    different width, NaN and all-zero vectors are refused here, so that nothing after has to look for them.

    >>> checked("mine", ["a", "b"], {"a": [1.0, 2.0]})
    [array([1., 2.], dtype=float32), None]
    """
    rows = [answer.get(item) for item in inputs] if isinstance(answer, Mapping) else list(answer)
    if len(rows) != len(inputs):
        raise ModelFailed(f"{model} gave {len(rows)} vectors for {len(inputs)} inputs: it must give one each")
    return [None if row is None else _vector(model, item, row) for item, row in zip(inputs, rows, strict=True)]


def _vector(model: str, item: object, row: Any) -> Vector:
    try:
        vector = np.asarray(row, dtype=np.float32)
    except (TypeError, ValueError):
        raise ModelFailed(f"{model}: the answer for {shown(item)} is not a list of numbers") from None
    if vector.ndim != 1 or vector.size == 0:
        raise ModelFailed(f"{model}: the answer for {shown(item)} is not a vector (its shape is {vector.shape})")
    if not np.isfinite(vector).all():
        raise ModelFailed(f"{model}: the vector of {shown(item)} holds NaN or infinity, so nothing can be measured")
    if not vector.any():
        raise ModelFailed(f"{model}: the vector of {shown(item)} is all zeros, so it has no direction")
    return vector


def same_width(model: str, vectors: Iterable[Vector | None], width: int | None, *, stored: bool = False) -> int | None:
    """The one width of all vectors so far; different widths are an error, and stored ones may have to be forgotten."""
    for vector in vectors:
        if vector is not None and vector.size != (width := width or vector.size):
            clear = f"tiltmeter cache --clear --model '{model}'"
            advice = f"; if stored ones are wrong, forget them with: {clear}" if stored else ""
            raise ModelFailed(
                f"{model} gave vectors of {width} and of {vector.size} numbers: they must have one width{advice}"
            )
    return width


def checked_row(model: str, kind: type[Answer], item: object, answer: Any) -> Any:
    """A model's answer as a row, or one line that says what is wrong with it.

    Plain numbers are log-probabilities of fillers of one token, plain texts what was written after a prompt.
    """
    forms: dict[type[Answer], Callable[[Any], Answer]] = {
        Filled: lambda numbers: Filled(tuple(numbers), (1,) * len(numbers)),
        Generated: lambda texts: Generated(tuple(texts)),
    }
    if not isinstance(answer, kind) and (kind not in forms or isinstance(answer, str)):
        raise ModelFailed(f"{model}: the answer for {shown(item)} is a {type(answer).__name__}, not a {kind.__name__}")
    try:
        whole: Any = answer if isinstance(answer, kind) else forms[kind](answer)
        row = whole.to_row()
    except (TypeError, ValueError):
        what = {Generated: "texts", Likeliest: "words with their log-probabilities"}.get(kind, "log-probabilities")
        raise ModelFailed(f"{model}: the answer for {shown(item)} is not a list of {what}") from None
    if isinstance(item, Prompt):
        _check_texts(model, item, whole.texts)
    if not np.isfinite(row).all():
        where = f"the log-probabilities of {shown(item)}"
        raise ModelFailed(f"{model}: {where} hold NaN or infinity, so nothing can be measured")
    fillers = len(getattr(item, "fillers", ())) or len(getattr(item, "endings", ()))
    if fillers and len(row) != 2 + 2 * fillers:
        answers = (len(row) - 2) // 2
        raise ModelFailed(f"{model} gave {answers} log-probabilities for the {fillers} fillers of {shown(item)}")
    return row


def _check_texts(model: str, prompt: Prompt, texts: Sequence[Any]) -> None:
    if not all(isinstance(text, str) for text in texts):
        raise ModelFailed(f"{model}: the answer for {shown(prompt)} is not a list of texts")
    if len(texts) != prompt.n:
        raise ModelFailed(f"{model} gave {len(texts)} texts for {shown(prompt)}: it was asked for {prompt.n}")
