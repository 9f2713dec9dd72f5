"""Vectors as a provider sent them: put in the order of the texts, and checked."""

from __future__ import annotations

import base64
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tiltmeter.models.api.provider import Answer
from tiltmeter.models.api.requests import UnusableError


def in_order(answer: Answer, n: int) -> list[NDArray[np.float32]]:
    """The vectors in the order of the inputs."""
    if len(answer.vectors) != n:
        raise UnusableError(f"{len(answer.vectors)} vectors for {n} texts")
    order = range(n) if answer.order is None else answer.order
    if sorted(order) != list(range(n)):
        raise UnusableError("the vectors are not numbered one for each text")
    vectors: list[NDArray[np.float32]] = [np.empty(0, np.float32)] * n
    for position, vector in zip(order, answer.vectors, strict=True):
        vectors[position] = _numbers(vector)
    return vectors


def _numbers(vector: Sequence[float] | str) -> NDArray[np.float32]:
    if isinstance(vector, str):
        numbers = np.frombuffer(base64.b64decode(vector, validate=True), dtype="<f4").astype(np.float32)
    else:
        numbers = np.asarray(vector, dtype=np.float32)
    if numbers.ndim != 1 or not np.isfinite(numbers).all():
        raise UnusableError("a vector that is not finite numbers")
    if not numbers.any():
        raise UnusableError("a vector of zeros")
    return numbers
