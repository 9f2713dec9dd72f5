"""SAME: the scoring association means of embeddings (Schroeder, Schulz & Hammer 2022, 2024)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.measures.geometry import rows, unit
from tiltmeter.statistics import Interval, Result, bootstrap_interval


@dataclasses.dataclass(frozen=True, slots=True)
class SameResult(Result):
    """``score``: mean size of the word biases. For two groups also ``skew`` (mean of the signed biases: do
    words lean to one group on the whole?) and ``stereotype`` (their SD: do they lean to different groups?).
    """

    score: float
    ci: Interval
    skew: float | None
    stereotype: float | None
    by_word: tuple[float, ...]
    n: int


def same(words: ArrayLike, groups: Sequence[ArrayLike], *, seed: int = 0) -> SameResult:
    """Length of each word's projection on the space in which the attribute groups differ.

    Each group is the mean of its unit vectors. For two groups b = mean A1 - mean A2 and the bias of a word
    is cos(w, b), signed: positive leans to the first group. For more, the differences to the first group
    span a subspace and the bias is the length of the projection of w/|w|, unsigned. Unlike WEAT's lean it
    is normalised by |b|, so attribute sets that are close together do not make it look small. 0 is level,
    1 the most; lower is better. ci resamples words.

    >>> found = same([[1.0, 0.0], [-0.6, 0.8]], [[[1.0, 0.0]], [[-1.0, 0.0]]])
    >>> round(found.score, 3), round(found.skew, 3), round(found.stereotype, 3)
    (0.8, 0.2, 0.8)
    """
    if len(groups) < 2:
        raise BadInput("SAME compares at least two groups of attributes")
    w = rows("words", words, at_least=2)
    means = np.stack([unit(rows(f"group {i + 1}", group, like=w)).mean(0) for i, group in enumerate(groups)])
    differences = means[0] - means[1:]
    _, size, basis = np.linalg.svd(differences, full_matrices=False)
    kept = size > 1e-9 * max(1.0, float(size.max()))
    if int(kept.sum()) < len(groups) - 1:
        raise BadInput("attribute groups do not differ from one another in an independent direction")
    skew: float | None = None
    stereotype: float | None = None
    if len(groups) == 2:
        by_word = unit(w) @ unit(differences[0])
        skew, stereotype = float(by_word.mean()), float(by_word.std())
    else:
        by_word = np.linalg.norm(unit(w) @ basis.T, axis=1)
    sizes = np.abs(by_word)
    ci = bootstrap_interval(sizes, seed=seed)
    return SameResult(float(sizes.mean()), ci, skew, stereotype, tuple(by_word.tolist()), len(w))
