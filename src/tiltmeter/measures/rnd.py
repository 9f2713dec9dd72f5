"""RND: relative norm distance (Garg, Schiebinger, Jurafsky & Zou 2018)."""

from __future__ import annotations

import dataclasses
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import unknown
from tiltmeter.measures.geometry import average, rows, unit
from tiltmeter.statistics import Alternative, Interval, Result, bootstrap_interval, draw_splits, p_from_null
from tiltmeter.statistics.groups import Floats


@dataclasses.dataclass(frozen=True, slots=True)
class RndResult(Result):
    """``score`` is the mean over attributes of ``by_attribute``; the sign depends on ``distance``."""

    score: float
    p_value: float
    ci: Interval
    exact: bool
    standard_error: float
    distance: str
    by_attribute: tuple[float, ...]
    n: int


def rnd(
    x: ArrayLike,
    y: ArrayLike,
    attributes: ArrayLike,
    *,
    distance: Literal["norm", "cos"] = "norm",
    alternative: Alternative = "two-sided",
    permutations: int = 10_000,
    seed: int = 0,
) -> RndResult:
    """Is the average of X nearer to the attributes than the average of Y?

    ``norm``: mean over attributes of |mean X - a| - |mean Y - a|. A distance: NEGATIVE means X is nearer.
    ``cos``: mean of cos(mean X, a) - cos(mean Y, a). A similarity: POSITIVE means X is nearer.
    0 is level. p permutes target words; ci resamples attributes.

    >>> rnd([[1.0, 0.0]] * 2, [[0.0, 1.0]] * 2, [[1.0, 0.0], [2.0, 0.0]]).score.__round__(4)
    -1.3251
    """
    if distance not in ("norm", "cos"):
        raise unknown("distance", distance, ["norm", "cos"])
    x = rows("X", x)
    y, attributes = rows("Y", y, like=x), rows("attributes", attributes, like=x)
    near = _norms if distance == "norm" else _cosines
    mean_x, mean_y = (average("X", x), average("Y", y)) if distance == "cos" else (x.mean(0), y.mean(0))
    by_attribute = (near(mean_x[None], attributes) - near(mean_y[None], attributes))[0]
    both = np.concatenate([x, y])
    masks, exact = draw_splits(len(x), len(y), permutations=permutations, seed=seed)
    in_x = masks / len(x)
    in_y = ~masks / len(y)
    null = (near(in_x @ both, attributes) - near(in_y @ both, attributes)).mean(axis=1)
    score = float(by_attribute.mean())
    test = p_from_null(null, score, alternative=alternative, exact=exact)
    # Whatever the attribute, two averages cannot be further apart than this.
    bound = float(np.linalg.norm(mean_x - mean_y)) if distance == "norm" else 2.0
    return RndResult(
        score=score,
        p_value=test.p_value,
        ci=bootstrap_interval(by_attribute, seed=seed)
        if len(by_attribute) > 1
        else Interval(-bound, bound, 0.95, "not estimable: one attribute"),
        exact=test.exact,
        standard_error=test.standard_error,
        distance=distance,
        by_attribute=tuple(by_attribute.tolist()),
        n=len(both),
    )


def _norms(means: Floats, attributes: Floats) -> Floats:
    from scipy.spatial.distance import cdist

    # Not |m|^2 - 2 m.a + |a|^2: where an average meets an attribute its rounding would break ties.
    norms: Floats = cdist(means, attributes)
    return norms


def _cosines(means: Floats, attributes: Floats) -> Floats:
    lengths = np.linalg.norm(means, axis=1, keepdims=True)
    similar: Floats = (means / np.where(lengths == 0, 1.0, lengths)) @ unit(attributes).T
    return similar
