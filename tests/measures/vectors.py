"""Vectors for the tests of measures: random ones for hypothesis, and ones that lean as far as they are told."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

#: What a measure must refuse as a set of vectors, and a part of what it says.
BAD_VECTORS = [
    ([], "none"),
    ([1.0, 2.0, 3.0], "a single row of numbers"),
    ([[1.0, 2.0, 3.0], [1.0, 2.0]], "ragged"),
    ([["one", "two", "three"]] * 4, "not numbers"),
    ([[1.0, 2.0, float("nan")]] * 4, "vector 0 holds NaN"),
    ([[1.0, 2.0, 3.0], [1.0, float("inf"), 3.0], [1.0, 2.0, 4.0], [1.0, 0.0, 0.0]], "vector 1 holds NaN"),
    ([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0], [1.0, 2.0, 4.0], [1.0, 0.0, 0.0]], "vector 1 is all zeros"),
    ([[1.0, 2.0], [2.0, 1.0], [1.0, 3.0], [1.0, 0.0]], "wide"),
    ([[1e200, 1.0, 1.0], [1.0, 1e200, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 2.0]], "too large or too small"),
]

ENTRIES = st.floats(-3, 3, allow_subnormal=False).map(lambda value: round(value, 3))
FACTORS = st.sampled_from([1e-6, 0.5, 3.0, 1e6])


def matrices(rows: int | st.SearchStrategy[int], width: int = 4) -> st.SearchStrategy[np.ndarray]:
    """Matrices whose rows all have a length."""
    counts = st.just(rows) if isinstance(rows, int) else rows
    return counts.flatmap(lambda n: arrays(np.float64, (n, width), elements=ENTRIES)).filter(
        lambda matrix: bool((np.abs(matrix).max(axis=1) > 0.01).all())
    )


def random_rows(rows: int, width: int = 20, *, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(rows, width))


#: Attributes between which ``leaning`` places its words.
TOWARDS, AWAY = np.array([[1.0, 0.0, 0.0]]), np.array([[-1.0, 0.0, 0.0]])


def leaning(scores) -> np.ndarray:
    """Unit vectors with mean cos(w, TOWARDS) - mean cos(w, AWAY) = 2 cos = the score."""
    cosine = np.asarray(scores, dtype=np.float64) / 2
    return np.stack([cosine, np.sqrt(1 - cosine**2), np.zeros(cosine.size)], axis=1)


def cos(u, v) -> float:
    """Straight from the definition, one pair at a time."""
    return float(np.dot(u, v) / (np.sqrt(np.dot(u, u)) * np.sqrt(np.dot(v, v))))
