"""Checked vectors, unit length, and the lean of a word between two sets of attributes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.statistics.groups import Floats


def rows(name: str, vectors: ArrayLike, *, like: Floats | None = None, at_least: int = 1) -> Floats:
    """Vectors as a checked float64 matrix: finite, non-zero rows, as wide as ``like``.

    >>> rows("x", [[3, 4]]).tolist()
    [[3.0, 4.0]]
    """
    try:
        matrix = np.asarray(vectors, dtype=np.float64)
    except ValueError:
        raise BadInput(f"{name}: the vectors are ragged or not numbers; give rows of one length") from None
    if matrix.ndim != 2 or matrix.size == 0 or len(matrix) < at_least:
        found = (
            "none"
            if matrix.size == 0
            else f"{len(matrix)}"
            if matrix.ndim == 2
            else "a single row of numbers"
        )
        raise BadInput(f"{name}: needs a matrix of at least {at_least} vector(s), found {found}")
    if not np.isfinite(matrix).all():
        where = int(np.argwhere(~np.isfinite(matrix))[0, 0])
        raise BadInput(f"{name}: vector {where} holds NaN or infinity")
    lengths = np.linalg.norm(matrix, axis=1)
    if not lengths.all():
        raise BadInput(f"{name}: vector {int(lengths.argmin())} is all zeros, so it has no direction")
    if like is not None and matrix.shape[1] != like.shape[1]:
        raise BadInput(f"{name}: vectors are {matrix.shape[1]} wide, the others {like.shape[1]}")
    return matrix


def unit(matrix: Floats) -> Floats:
    """Rows (or one vector) at length 1."""
    scaled: Floats = matrix / np.linalg.norm(matrix, axis=-1, keepdims=True)
    return scaled


def cosines(x: Floats, y: Floats) -> Floats:
    """Cosine of every row of x with every row of y."""
    similar: Floats = unit(x) @ unit(y).T
    return similar


def leans(words: Floats, a: Floats, b: Floats) -> Floats:
    """s(w) = mean cos(w, A) - mean cos(w, B) of every word, in one product (unit vectors)."""
    scores: Floats = unit(words) @ (unit(a).mean(axis=0) - unit(b).mean(axis=0))
    return scores
