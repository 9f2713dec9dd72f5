"""Answers as they are kept: one usable vector per input, or a row of numbers for what a language model answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiltmeter.errors import ModelFailed
from tiltmeter.models.protocol import Answer, Chosen, Filled, Rows, Span, TokenScores, Vector


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


def same_width(model: str, vectors: Sequence[Vector | None], width: int | None, *, stored: bool = False) -> int | None:
    """The one width of all vectors so far; different widths are an error, and stored ones may have to be forgotten."""
    advice = (
        f"; if stored ones are wrong, forget them with: tiltmeter cache --clear --model '{model}'" if stored else ""
    )
    for vector in vectors:
        if vector is not None:
            if width is not None and vector.size != width:
                raise ModelFailed(
                    f"{model} gave vectors of {width} and of {vector.size} numbers: they must have one width{advice}"
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
