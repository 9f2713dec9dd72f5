"""Vectors in which two groups differ along known axes, and nothing else does."""

from __future__ import annotations

import numpy as np

WIDTH = 20


def planted(axes: int = 1, *, n: int = 400, strength: float = 3.0, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """So many vectors, and their groups (0, 1). A part of each word leans along each axis, by the sign of its group.

    The words that lean along one axis do not lean along another: a method that removes one leaves the others.
    """
    rng = np.random.default_rng(seed)
    groups = np.arange(n) % 2
    vectors = rng.normal(size=(n, WIDTH))
    which = np.arange(n) // 2 % axes
    vectors[np.arange(n), which] += strength * (2 * groups - 1)
    return vectors, groups


def separable(vectors: np.ndarray, groups: np.ndarray) -> float:
    """How well a linear classifier trained on one half finds the groups in the other."""
    from sklearn.linear_model import LogisticRegression

    half = len(vectors) // 2
    return float(LogisticRegression().fit(vectors[:half], groups[:half]).score(vectors[half:], groups[half:]))


def as_pairs(n: int = 6, *, axis: int = 0, seed: int = 1) -> list[dict[str, np.ndarray]]:
    """Pairs of words that differ along one axis and by a little noise."""
    rng = np.random.default_rng(seed)
    middles = rng.normal(size=(n, WIDTH))
    middles[:, axis] = 0.0
    lean = np.eye(WIDTH)[axis] * 3
    return [{f"he{i}": middle + lean, f"she{i}": middle - lean} for i, middle in enumerate(middles)]
