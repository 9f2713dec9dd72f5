"""A model and its stored answers: what is known is not asked again, what is new is stored batch by batch."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiltmeter.errors import BadInput, ModelFailed
from tiltmeter.models.protocol import (
    METHODS,
    SCORES,
    Answer,
    Batch,
    Chosen,
    Filled,
    Identity,
    Question,
    Rows,
    Span,
    Streams,
    TokenScores,
    Vector,
)
from tiltmeter.models.store import VectorStore

#: Inputs per call for a model that does not stream; few enough that a killed run loses little.
_CHUNK = 128


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
            return Identity(f"own:{type(self.model).__qualname__}", "unknown")
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
        """The answer for every different input (a vector, or what ``SCORES`` names); ``progress`` is told how many
        more are done."""
        asked_as = self._asked_as(question)
        unique = list(dict.fromkeys(inputs))
        name = self.identity.name
        known = self.store.get(self.identity, asked_as, unique) if self.store else {}
        self.recalled += len(known)
        progress(len(known))
        rows: dict[Any, Vector | None] = {unique[i]: row for i, row in known.items()}
        width = None if asked_as in SCORES else same_width(name, list(known.values()), None)
        missing = [item for i, item in enumerate(unique) if i not in known]
        for positions, answer in self._batches(asked_as, unique, known) if missing else ():
            items = [unique[i] for i in positions]
            new = self._checked(asked_as, items, answer)
            if asked_as not in SCORES:
                width = same_width(name, new, width)
            if self.store:
                self.store.put(self.identity, asked_as, items, new)
            rows.update(zip(items, new, strict=True))
            self.asked += len(items)
            progress(len(items))
        left = [item for item in missing if item not in rows]
        if left:
            raise ModelFailed(f"{name} left {len(left)} inputs unanswered, e.g. {shown(left[0])}: it must answer each")
        if asked_as not in SCORES:
            return rows
        _, form = SCORES[asked_as]
        return {item: decode(form, row) for item, row in rows.items() if row is not None}

    def _checked(self, question: Question, items: list[Any], answer: Any) -> list[Vector | None]:
        name = self.identity.name
        if question not in SCORES:
            return checked(name, items, answer)
        if len(answer) != len(items):
            raise ModelFailed(f"{name} gave {len(answer)} answers for {len(items)} inputs: it must give one each")
        _, form = SCORES[question]
        return [
            checked_row(name, form, shown(item), one, fillers=_fillers(item))
            for item, one in zip(items, answer, strict=True)
        ]

    def unknown_inputs(self, question: Question, inputs: Sequence[Any]) -> list[Any]:
        """The different inputs that would have to be asked of the model."""
        unique = list(dict.fromkeys(inputs))
        known = self.store.get(self.identity, self._asked_as(question), unique) if self.store else {}
        return [item for i, item in enumerate(unique) if i not in known]

    def embed_words(self, words: Sequence[str]) -> list[Vector | None]:
        vectors = self.answers(Question.WORDS, words)
        return [vectors[word] for word in words]

    def embed_texts(self, texts: Sequence[str]) -> list[Vector | None]:
        vectors = self.answers(Question.TEXTS, texts)
        return [vectors[text] for text in texts]

    def embed_spans(self, spans: Sequence[Any]) -> list[Vector | None]:
        vectors = self.answers(Question.SPANS, spans)
        return [vectors[span] for span in spans]

    def _asked_as(self, question: Question) -> Question:
        method = self._method(question)
        if method is None:
            raise BadInput(f"{self.identity.name} does not give {question.about}")
        return method

    def _method(self, question: Question) -> Question | None:
        """The question put to the model: a word goes as a text where that makes no difference."""
        if question is Question.WORDS and (
            getattr(self.model, "words_are_texts", False) or not self._answers(Question.WORDS)
        ):
            question = Question.TEXTS
        return question if self._answers(question) else None

    def _answers(self, question: Question) -> bool:
        # Looked for, not asked: a model may have to read its files to say what it answers.
        if inspect.getattr_static(self.model, "questions", None) is not None:
            return question in self.model.questions  # type: ignore[attr-defined]
        return callable(getattr(self.model, METHODS[question], None))

    def _batches(self, question: Question, inputs: list[Any], known: Collection[int]) -> Iterator[Batch]:
        if isinstance(self.model, Streams):
            yield from self.model.stream(question, inputs, known=known)
            return
        ask = getattr(self.model, METHODS[question])
        asked = [position for position in range(len(inputs)) if position not in known]
        for start in range(0, len(asked), _CHUNK):
            some = asked[start : start + _CHUNK]
            yield some, ask([inputs[position] for position in some])


def _fillers(item: Any) -> int | None:
    """How many log-probabilities an input asks for, where it says so itself."""
    return len(getattr(item, "fillers", ())) or len(getattr(item, "endings", ())) or None


def shown(item: object) -> str:
    """An input as an error message quotes it.

    >>> shown("He is a nurse.")
    "'He is a nurse.'"
    """
    if isinstance(item, Span):
        text = item.word
    else:
        text = str(getattr(item, "text", None) or getattr(item, "stem", None) or item)
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
        raise ModelFailed(f"{model}: the answer for {shown(item)} is no list of numbers") from None
    if vector.ndim != 1 or vector.size == 0:
        raise ModelFailed(f"{model}: the answer for {shown(item)} is no vector (its shape is {vector.shape})")
    if not np.isfinite(vector).all():
        raise ModelFailed(f"{model}: the vector of {shown(item)} holds NaN or infinity, so nothing can be measured")
    if not vector.any():
        raise ModelFailed(f"{model}: the vector of {shown(item)} is all zeros, so it has no direction")
    return vector


def same_width(model: str, vectors: Sequence[Vector | None], width: int | None) -> int | None:
    """The one width of all vectors so far; different widths are an error."""
    for vector in vectors:
        if vector is not None:
            if width is not None and vector.size != width:
                raise ModelFailed(
                    f"{model} gave vectors of {width} and of {vector.size} numbers: they must have one width"
                )
            width = vector.size
    return width


def encode(answer: Answer | Sequence[float]) -> NDArray[np.float32]:
    """An answer as a row of numbers; every whole number in it is small enough for float32 to keep."""
    if isinstance(answer, TokenScores):
        row: Any = np.concatenate([answer.ids, answer.starts, answer.ends, answer.logprobs])
    elif isinstance(answer, Chosen):
        row = (answer.first, answer.second)
    else:
        filled = answer if isinstance(answer, Filled) else Filled(tuple(answer), (1,) * len(answer))
        row = (*(filled.unknown or (-1, -1)), *filled.tokens, *filled.logprobs)
    return np.asarray(row, dtype=np.float32)


def decode(kind: type[Answer], row: NDArray[np.float32]) -> Answer:
    """The answer that ``encode`` made a row of.

    >>> decode(Filled, encode(Filled((-1.5, -2.0), (1, 2), (4, 9))))
    Filled(logprobs=(-1.5, -2.0), tokens=(1, 2), unknown=(4, 9))
    """
    if kind is TokenScores:
        return TokenScores(*row.reshape(4, -1))
    if kind is Chosen:
        return Chosen(*row.astype(int).tolist())
    (start, end), (tokens, logprobs) = row[:2].astype(int).tolist(), row[2:].reshape(2, -1)
    place = None if start < 0 else (start, end)
    return Filled(tuple(logprobs.astype(float).tolist()), tuple(tokens.astype(int).tolist()), place)


def checked_row(model: str, kind: type[Answer], item: str, answer: Any, *, fillers: int | None) -> NDArray[np.float32]:
    """A model's answer as a row, or one line that says what is wrong with it."""
    if not isinstance(answer, kind) and kind is not Filled:
        raise ModelFailed(f"{model}: the answer for {item} is a {type(answer).__name__}, not a {kind.__name__}")
    try:
        row = encode(answer)
    except (TypeError, ValueError):
        raise ModelFailed(f"{model}: the answer for {item} is no list of log-probabilities") from None
    if not np.isfinite(row).all():
        raise ModelFailed(f"{model}: the log-probabilities of {item} hold NaN or infinity, so nothing can be measured")
    if fillers is not None and len(row) != 2 + 2 * fillers:
        raise ModelFailed(f"{model} gave {(len(row) - 2) // 2} log-probabilities for the {fillers} fillers of {item}")
    return row
