"""What a language model answers, and its form on disk: a row of numbers, like a vector."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiltmeter.errors import ModelFailed


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


@dataclasses.dataclass(frozen=True, slots=True)
class Filled:
    """One natural-log probability per filler or ending; ``unknown`` is where the text holds a token that the model
    does not know, and ``tokens`` how many tokens each filler has."""

    logprobs: tuple[float, ...]
    tokens: tuple[int, ...]
    unknown: tuple[int, int] | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Chosen:
    """The option chosen, 1 or 2, where they were shown in the order given and in the reverse one; 0 for none."""

    first: int
    second: int


Answer = TokenScores | Filled | Chosen


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
