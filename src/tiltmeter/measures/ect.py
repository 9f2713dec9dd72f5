"""ECT: the embedding coherence test (Dev & Phillips 2019)."""

from __future__ import annotations

import dataclasses

from numpy.typing import ArrayLike

from tiltmeter.measures.geometry import average, cosines, rows
from tiltmeter.statistics import Interval, Result, correlation


@dataclasses.dataclass(frozen=True, slots=True)
class EctResult(Result):
    """``score`` is Spearman's rho over the attributes; and the similarities behind it are given too."""

    score: float
    ci: Interval
    similarities_x: tuple[float, ...]
    similarities_y: tuple[float, ...]
    n: int


def ect(x: ArrayLike, y: ArrayLike, attributes: ArrayLike, *, seed: int = 0) -> EctResult:
    """Do the averages of X and of Y rank the attributes alike?

    Spearman correlation, over attributes a, of cos(mean X, a) with cos(mean Y, a). 1: the same order, no
    bias of this kind; lower is more biased. There is no p-value: the usual one tests a correlation of 0,
    which is not the hypothesis of no bias. ci resamples attributes.

    >>> ect([[1.0, 0.1]], [[0.9, 0.2]], [[1.0, 0.0], [0.5, 0.5], [0.0, 1.0], [0.8, 0.1]]).score
    1.0
    """
    x = rows("X", x)
    y, attributes = rows("Y", y, like=x), rows("attributes", attributes, like=x, at_least=4)
    near_x, near_y = (cosines(average(name, group)[None], attributes)[0] for name, group in (("X", x), ("Y", y)))
    coherence = correlation(near_x, near_y, method="spearman", seed=seed)
    return EctResult(coherence.r, coherence.ci, tuple(near_x.tolist()), tuple(near_y.tolist()), len(attributes))
