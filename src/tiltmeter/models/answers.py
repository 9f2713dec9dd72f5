"""Checked answers: one usable vector per input, or None where a word is out of vocabulary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tiltmeter.errors import ModelFailed
from tiltmeter.models.protocol import Rows, Span, Vector


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
