"""CABM: the composite occupation score, its categories and how sure they are."""

from __future__ import annotations

import dataclasses
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiltmeter.errors import BadInput, unknown
from tiltmeter.measures.cabm.weights import Weights, features_array, given_weights
from tiltmeter.statistics import Result
from tiltmeter.statistics.groups import Floats
from tiltmeter.statistics.intervals import check_level

#: What features are divided by: their root mean square, or nothing.
Scaling = Literal["rms"] | None


@dataclasses.dataclass(frozen=True, slots=True)
class CabmResult(Result):
    """``categories``: 1 or 2 for the group leaned to, 0 for neither; ``contributions`` (n, 3) sum to ``scores``."""

    scores: Floats
    categories: NDArray[np.intp]
    contributions: Floats
    weights: Weights
    scale: Scaling
    threshold: float


@dataclasses.dataclass(frozen=True, slots=True)
class CabmIntervals(Result):
    """``too_close``: the interval reaches into another category, so the score does not decide between them."""

    result: CabmResult
    low: Floats
    high: Floats
    too_close: NDArray[np.bool_]
    level: float


def cabm(
    features: ArrayLike, weights: Weights | ArrayLike, *, scale: Scaling = None, threshold: float = 0.1
) -> CabmResult:
    """The weighted sum of the three features of each occupation, and its category at ±threshold.

    ``scale=None`` takes the features as they are (as published); ``"rms"`` divides each by its root mean square over
    the occupations, so that no feature counts more for being measured in larger units, and never centres them: zero
    keeps meaning "no lean". Positive: leans to group 1. With the published, unsigned context shift the score always
    leans to group 1 by some of it; with the signed one, exchanging the groups negates it.

    >>> found = cabm([[1.0, 0.2, 0.5], [-1.0, -0.2, 0.5]], [0.5, 0.25, 0.25])
    >>> found.scores.round(3).tolist(), found.categories.tolist()
    ([0.675, -0.425], [1, 2])
    """
    x = features_array(features)
    used = weights if isinstance(weights, Weights) else given_weights(weights)
    contributions = used.values * (x / scale_of(x, scale))
    scores = contributions.sum(axis=1)
    return CabmResult(scores, categories(scores, threshold), contributions, used, scale, threshold)


def with_intervals(
    features: ArrayLike,
    weights: Weights | ArrayLike,
    draws: ArrayLike,
    *,
    scale: Scaling = None,
    threshold: float = 0.1,
    level: float = 0.95,
) -> CabmIntervals:
    """The scores with percentile intervals over ``draws`` (B, n, 3), the features of resampled sentences.

    Weights and scale stay those of the features themselves: the interval tells what other sentences would
    have given, not what other occupations would have.

    >>> draws = [[[0.3, 0.0, 0.0]], [[0.5, 0.0, 0.0]], [[-0.2, 0.0, 0.0]]]
    >>> found = with_intervals([[0.4, 0.0, 0.0]], [1, 0, 0], draws)
    >>> found.result.categories.tolist(), found.too_close.tolist()
    ([1], [True])
    """
    result = cabm(features, weights, scale=scale, threshold=threshold)
    x = features_array(features)
    check_level(level)
    try:
        drawn = np.asarray(draws, dtype=np.float64)
    except (TypeError, ValueError):
        drawn = np.empty(0)
    if drawn.ndim != 3 or drawn.shape[1:] != x.shape or len(drawn) < 2 or not np.isfinite(drawn).all():
        raise BadInput(f"draws must be at least two finite arrays of features, each {x.shape}: (draws, occupations, 3)")
    scores = (drawn / scale_of(x, scale)) @ result.weights.values
    low, high = np.quantile(scores, [(1 - level) / 2, (1 + level) / 2], axis=0)
    # A distance grows by resampling; an interval that leaves its own estimate out helps nobody.
    low, high = np.minimum(low, result.scores), np.maximum(high, result.scores)
    too_close = categories(low, threshold) != categories(high, threshold)
    return CabmIntervals(result, low, high, too_close, level)


def categories(scores: Floats, threshold: float) -> NDArray[np.intp]:
    """1 above the threshold, 2 below minus it, 0 between.

    >>> categories(np.array([0.3, 0.1, -0.2]), 0.1).tolist()
    [1, 0, 2]
    """
    if not (np.isfinite(threshold) and threshold >= 0):
        raise BadInput(f"a threshold is a number from 0 on, such as 0.1, not {threshold}")
    return np.where(scores > threshold, 1, np.where(scores < -threshold, 2, 0)).astype(np.intp)


def scale_of(features: Floats, scale: Scaling) -> Floats:
    """What each feature is divided by: 1, or its root mean square (1 for a feature that is 0 throughout).

    >>> scale_of(np.array([[3.0, 1.0, 0.0], [4.0, -1.0, 0.0]]), "rms").round(3).tolist()
    [3.536, 1.0, 1.0]
    """
    if scale is None:
        return np.ones(features.shape[1])
    if scale != "rms":
        raise unknown("scale", scale, ["rms"])
    size = np.sqrt((features**2).mean(axis=0))
    return np.where(size > 0, size, 1.0)
