"""The questions a model can be asked, what they are about, and what answers them.

A model needs no base class: it answers a question by having the method. Where a model also has
``stream``, answers arrive batch by batch, so that a killed run loses at most the batch in flight.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Protocol, Self, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tiltmeter.errors import BadInput

Vector: TypeAlias = NDArray[np.float32]
#: One answer per input, in order; None where a word is out of vocabulary.
Rows: TypeAlias = Sequence[Vector | None] | NDArray[np.floating[Any]]
#: Which inputs (by position) a batch answers, and the answers in the same order.
Batch: TypeAlias = tuple[Sequence[int], Sequence[Any] | NDArray[np.floating[Any]]]


@dataclasses.dataclass(frozen=True, slots=True)
class Span:
    """A word in its sentence, by character offsets; empty at 0, the mark ([CLS]) that a model puts before the sentence.

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
class Fill:
    """What could stand at a place of a sentence, for a masked language model.

    The characters from ``start`` to ``end`` give way to each filler in turn, as many masks as it has tokens. Every
    token of the ``hidden`` stretches is masked as well, in every case.

    >>> Fill("He is a nurse.", 0, 2, ("He", "She"), hidden=((8, 13),)).with_filler("She")
    ('She is a nurse.', (0, 3), ((9, 14),))
    """

    text: str
    start: int
    end: int
    fillers: tuple[str, ...]
    hidden: tuple[tuple[int, int], ...] = ()

    def with_filler(self, filler: str) -> tuple[str, tuple[int, int], tuple[tuple[int, int], ...]]:
        """The sentence with the filler in its place, where it stands, and where the hidden stretches stand."""
        longer = len(filler) - (self.end - self.start)
        moved = tuple((a + longer, b + longer) if a >= self.end else (a, b) for a, b in self.hidden)
        text = self.text[: self.start] + filler + self.text[self.end :]
        return text, (self.start, self.start + len(filler)), moved


@dataclasses.dataclass(frozen=True, slots=True)
class Blank:
    """A place of a sentence, for the ``k`` likeliest words there by a masked language model.

    >>> Blank.of("She works as a [MASK].", k=5)
    Blank(text='She works as a [MASK].', start=15, end=21, k=5)
    """

    text: str
    start: int
    end: int
    k: int = 10

    @classmethod
    def of(cls, text: str, mark: str = "[MASK]", *, k: int = 10) -> Self:
        """The place where the mark stands."""
        start = text.index(mark)
        return cls(text, start, start + len(mark), k)


@dataclasses.dataclass(frozen=True, slots=True)
class Continuation:
    """What could follow a stem, for a causal language model; the endings bring the space before them along."""

    stem: str
    endings: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Choice:
    """A sentence with ``[MASK]`` at a blank, and two words to choose from, for a model that is asked in words."""

    text: str
    options: tuple[str, str]


@dataclasses.dataclass(frozen=True, slots=True)
class Prompt:
    """A text to continue, and how: ``n`` samples of at most ``max_tokens`` tokens each.

    ``seed`` and the text decide what is drawn, not the company a prompt keeps. Prompts that differ in their seed alone
    are independent samples of one, each kept as an answer of its own: a run that is cut off then loses the fewest.
    At ``temperature`` 0 the likeliest token follows each time, and all samples are the same.

    >>> Prompt("The nurse said", temperature=-1)
    Traceback (most recent call last):
    tiltmeter.errors.BadInput: temperature must be 0 or more, not -1
    """

    text: str
    n: int = 1
    seed: int = 0
    temperature: float = 1.0
    max_tokens: int = 64

    def __post_init__(self) -> None:
        for name, least in (("n", 1), ("seed", 0), ("max_tokens", 1)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise BadInput(f"{name} must be a whole number of at least {least}, not {value!r}")
        if not (isinstance(self.temperature, int | float) and 0 <= self.temperature < math.inf):
            raise BadInput(f"temperature must be 0 or more, not {self.temperature!r}")


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class TokenScores:
    """Natural-log probabilities of the tokens of a text that were scored, with their places in it.

    ``ids`` are the model's own token numbers, -1 for a token unknown to it. A first token that nothing stands
    before has no probability and is left out.

    >>> TokenScores([5, -1], [0, 4], [3, 9], [-1.0, -2.5]).total
    -3.5
    """

    ids: NDArray[np.int64]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    logprobs: NDArray[np.float64]

    def __post_init__(self) -> None:
        for name in ("ids", "starts", "ends"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=np.int64))
        object.__setattr__(self, "logprobs", np.asarray(self.logprobs, dtype=np.float64))

    @property
    def total(self) -> float:
        return float(self.logprobs.sum())

    @property
    def unknown(self) -> list[tuple[int, int]]:
        """Where the text holds something that the model does not know."""
        return [(int(self.starts[i]), int(self.ends[i])) for i in np.flatnonzero(self.ids == -1)]

    def within(self, start: int, end: int) -> TokenScores:
        """The tokens that hold a character of a stretch of the text."""
        inside = (self.starts < end) & (self.ends > start)
        return TokenScores(self.ids[inside], self.starts[inside], self.ends[inside], self.logprobs[inside])

    def __len__(self) -> int:
        return len(self.ids)

    def to_row(self) -> Vector:
        """As it is stored; every whole number in an answer is small enough for float32 to keep."""
        return np.concatenate([self.ids, self.starts, self.ends, self.logprobs]).astype(np.float32)

    @classmethod
    def from_row(cls, row: Vector) -> Self:
        return cls(*row.reshape(4, -1))


@dataclasses.dataclass(frozen=True, slots=True)
class Filled:
    """One natural-log probability per filler or ending; ``unknown`` is where the text holds a token that the model
    does not know, and ``tokens`` how many tokens each filler has.

    >>> Filled.from_row(Filled((-1.5, -2.0), (1, 2), (4, 9)).to_row())
    Filled(logprobs=(-1.5, -2.0), tokens=(1, 2), unknown=(4, 9))
    """

    logprobs: tuple[float, ...]
    tokens: tuple[int, ...]
    unknown: tuple[int, int] | None = None

    def to_row(self) -> Vector:
        return np.asarray((*(self.unknown or (-1, -1)), *self.tokens, *self.logprobs), dtype=np.float32)

    @classmethod
    def from_row(cls, row: Vector) -> Self:
        (start, end), (tokens, logprobs) = row[:2].astype(int).tolist(), row[2:].reshape(2, -1)
        place = None if start < 0 else (start, end)
        return cls(tuple(logprobs.astype(float).tolist()), tuple(tokens.astype(int).tolist()), place)


@dataclasses.dataclass(frozen=True, slots=True)
class Chosen:
    """The option chosen, 1 or 2, where they were shown in the order given and in the reverse one; 0 for none.

    ``chances`` are those of option 1 against option 2 in either order, where the model said more than its choice.

    >>> Chosen.from_row(Chosen(1, 2, (0.75, 0.25)).to_row())
    Chosen(first=1, second=2, chances=(0.75, 0.25))
    """

    first: int
    second: int
    chances: tuple[float, float] | None = None

    def to_row(self) -> Vector:
        return np.asarray((self.first, self.second, *(self.chances or ())), dtype=np.float32)

    @classmethod
    def from_row(cls, row: Vector) -> Self:
        first, second = row[:2].astype(int).tolist()
        return cls(first, second, (float(row[2]), float(row[3])) if len(row) > 2 else None)


@dataclasses.dataclass(frozen=True, slots=True)
class Reach:
    """The stretch of a text that a model reads around a word: all of it, unless the model reads less than that.

    >>> Reach.from_row(Reach(12, 480).to_row())
    Reach(start=12, end=480)
    """

    start: int
    end: int

    def to_row(self) -> Vector:
        return np.asarray((self.start, self.end), dtype=np.float32)

    @classmethod
    def from_row(cls, row: Vector) -> Self:
        return cls(*row.astype(int).tolist())


@dataclasses.dataclass(frozen=True, slots=True)
class Generated:
    """What a model wrote after a prompt, one text per sample; the prompt itself is not in it.

    >>> Generated.from_row(Generated((" slept.", " was tired…")).to_row())
    Generated(texts=(' slept.', ' was tired…'))
    """

    texts: tuple[str, ...]

    def to_row(self) -> NDArray[np.uint8]:
        """As it is stored: a list in JSON, byte by byte."""
        return np.frombuffer(json.dumps(list(self.texts)).encode(), dtype=np.uint8)

    @classmethod
    def from_row(cls, row: NDArray[np.uint8]) -> Self:
        return cls(tuple(json.loads(row.tobytes())))


@dataclasses.dataclass(frozen=True, slots=True)
class Likeliest:
    """The likeliest words at a place, the first one first, and their natural-log probabilities.

    >>> Likeliest.from_row(Likeliest(("nurse", "cook"), (-1.5, -2.0)).to_row())
    Likeliest(words=('nurse', 'cook'), logprobs=(-1.5, -2.0))
    """

    words: tuple[str, ...]
    logprobs: tuple[float, ...]

    def to_row(self) -> NDArray[np.uint8]:
        """As it is stored: two lists in JSON, byte by byte."""
        return np.frombuffer(json.dumps([self.words, self.logprobs], allow_nan=False).encode(), dtype=np.uint8)

    @classmethod
    def from_row(cls, row: NDArray[np.uint8]) -> Self:
        words, logprobs = json.loads(row.tobytes())
        return cls(tuple(words), tuple(logprobs))


Answer: TypeAlias = TokenScores | Filled | Chosen | Reach | Generated | Likeliest


class Question(StrEnum):
    """What can be asked of a model, and the method that answers it: a list of inputs in, one answer each out.

    A model that has methods which its weights cannot answer says in ``questions`` which it can.
    """

    WORDS = "words", "embed_words", "vectors of words"
    TEXTS = "texts", "embed_texts", "vectors of texts"
    SPANS = "spans", "embed_spans", "vectors of words in context"
    REACH = "reach", "reach", "how much of a text is read around a word"
    FILLS = "fills", "fill", "log-probabilities of fillers at a mask, which masked language models give"
    PSEUDO = "pseudo", "pseudo_score", "log-probabilities of masked tokens, which masked language models give"
    LIKELIEST = "likeliest", "likeliest", "the likeliest words at a mask, which masked language models give"
    UNMASKED = "unmasked", "unmasked_score", "log-probabilities of unmasked tokens, which masked language models give"
    TOKENS = "tokens", "score", "log-probabilities of tokens from left to right, which causal language models give"
    CONTINUATIONS = (
        "continuations",
        "continue_with",
        "log-probabilities of continuations, which causal language models give",
    )
    CHOICES = "choices", "choose", "a choice between two words, which chat models give"
    GENERATE = "generate", "generate", "text after a prompt, which causal language models and chat models write"

    method: str
    #: What is asked for, as it stands in a sentence.
    about: str

    def __new__(cls, value: str, method: str, about: str) -> Self:
        question = str.__new__(cls, value)
        question._value_, question.method, question.about = value, method, about
        return question

    @property
    def row_type(self) -> str:
        """How the numbers of a stored answer lie on disk: the bytes of a text, or floats of single precision."""
        return "u1" if self in (Question.GENERATE, Question.LIKELIEST) else "<f4"


#: How a causal model says in its settings whether a start mark stands before a text, where nobody chose: its files ask
#: for one, or for none, or leave it to the tokenizer.
BOS_DECLARED = ("declared yes", "declared no", "left to the tokenizer")
#: How a model says in its settings that its vectors are those of its last layer.
LAST_LAYER = "-1"
#: How a Transformers model says in its settings that it computes in float32, whatever its weights are held in.
USUAL_DTYPES = ("float32", "float16 computed in float32", "bfloat16 computed in float32")


@dataclasses.dataclass(frozen=True, slots=True)
class Identity:
    """What an answer depends on besides the input: it keys the cache and stands in every reading.

    ``name`` is the spec without options, ``revision`` identifies the weights, ``settings`` are the
    options that change an answer (pooling, layer, ...), never a key or an address. ``versions`` are those of the
    packages that compute the answer: the same weights can say something else under another one.
    """

    name: str
    revision: str
    settings: Mapping[str, str] = dataclasses.field(default_factory=dict)
    versions: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        values = {"name": self.name, "revision": self.revision, "settings": dict(sorted(self.settings.items()))}
        return {**values, "versions": dict(sorted(self.versions.items()))} if self.versions else values


def installed(*packages: str) -> dict[str, str]:
    """The versions of the packages that are installed.

    >>> list(installed("numpy", "no-such-package"))
    ['numpy']
    """
    versions = {}
    for package in packages:
        with contextlib.suppress(PackageNotFoundError):
            versions[package] = version(package)
    return versions


#: What is asked about, and the form of the answer, where it is not a vector.
SCORES: Mapping[Question, tuple[type[Any], type[Any]]] = {
    Question.FILLS: (Fill, Filled),
    Question.PSEUDO: (Span, TokenScores),
    Question.UNMASKED: (str, TokenScores),
    Question.TOKENS: (str, TokenScores),
    Question.CONTINUATIONS: (Continuation, Filled),
    Question.CHOICES: (Choice, Chosen),
    Question.REACH: (Span, Reach),
    Question.GENERATE: (Prompt, Generated),
    Question.LIKELIEST: (Blank, Likeliest),
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
    batches are those of all the inputs without the known ones: a killed run then resumes with the very same numbers.
    """

    def stream(self, question: Question, inputs: Sequence[Any], *, known: Collection[int] = ()) -> Iterator[Batch]: ...


@runtime_checkable
class Changes(Protocol):
    """A model that makes its vectors of those of another, its ``base``: the other's are what is stored."""

    base: Any

    def changed(self, question: Question, answers: Mapping[Any, Vector | None]) -> dict[Any, Vector | None]: ...


def gather(batches: Iterator[Batch], n: int) -> list[Any]:
    """Put streamed batches back into the order of the inputs."""
    rows: list[Any] = [None] * n
    for positions, answers in batches:
        for position, answer in zip(positions, answers, strict=True):
            rows[position] = answer
    return rows
