"""ECT: the embedding coherence test (Dev & Phillips 2019)."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.measures.geometry import Bands, average, cosines, draw_words, rows
from tiltmeter.statistics import Interval, Result, correlation
from tiltmeter.statistics.families import Placebo, placebo_of


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


def ect_placebo(
    x: ArrayLike,
    y: ArrayLike,
    neutral: ArrayLike,
    *,
    score: float,
    n: int,
    bands: Bands | None = None,
    seed: int = 0,
) -> Placebo:
    """How much alike the averages of X and of Y rank so many arbitrary words, beside the observed coherence.

    >>> rng = np.random.default_rng(0)
    >>> x, y, neutral = (rng.normal(size=(size, 20)) for size in (8, 8, 100))
    >>> ect_placebo(x, y + 2 * x, neutral, score=-1.0, n=20).p_value < 0.01
    True
    """
    from scipy.stats import rankdata

    x = rows("X", x)
    y, words = rows("Y", y, like=x), rows("neutral words", neutral, like=x, at_least=n)
    drawn = draw_words(len(words), n, bands=bands, seed=seed)
    near = (cosines(average(name, group)[None], words)[0] for name, group in (("X", x), ("Y", y)))
    one, two = (rankdata(values[drawn], axis=1) - (n + 1) / 2 for values in near)
    return placebo_of((one * two).sum(axis=1) / np.sqrt((one**2).sum(axis=1) * (two**2).sum(axis=1)), score, level=1.0)
