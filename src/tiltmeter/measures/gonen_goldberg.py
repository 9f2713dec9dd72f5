"""What debiasing leaves behind: the cluster and neighbour tests (Gonen & Goldberg 2019)."""

from __future__ import annotations

import dataclasses
import sys

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.measures.geometry import cosines, rows, unit
from tiltmeter.statistics import Correlation, Interval, Result, correlation
from tiltmeter.statistics.permutation import generator


@dataclasses.dataclass(frozen=True, slots=True)
class ClusterResult(Result):
    """``accuracy``: share of words whose cluster is that of their group."""

    accuracy: float
    p_value: float
    ci: Interval
    n: int


def cluster_bias(group_1: ArrayLike, group_2: ArrayLike, *, seed: int = 0) -> ClusterResult:
    """Do words that leaned to two groups still fall into two clusters of their own (2-means, unit vectors)?

    .5: no trace of the groups; 1: they separate wholly; lower is better. The better of the two ways to
    match clusters to groups counts, so small samples sit a little above .5. p: Fisher's exact test that
    cluster and group are independent; ci: Wilson.

    >>> cluster_bias([[1.0, 0.1], [1.0, 0.0], [1.0, 0.2]], [[0.1, 1.0], [0.0, 1.0], [0.2, 1.0]]).accuracy
    1.0
    """
    from scipy.stats import fisher_exact
    from sklearn.cluster import KMeans
    from statsmodels.stats.proportion import proportion_confint

    one = rows("group 1", group_1, at_least=2)
    two = rows("group 2", group_2, like=one, at_least=2)
    words = unit(np.concatenate([one, two]))
    if np.ptp(words, axis=0).max() <= 1e-12:
        raise BadInput("all words have the same direction, so they form no clusters")
    start = int(generator(seed, "resample").integers(2**31))
    found = KMeans(n_clusters=2, n_init=10, random_state=start).fit_predict(words)
    first, second = found[: len(one)], found[len(one) :]
    table = [[int((part == label).sum()) for label in (0, 1)] for part in (first, second)]
    right = max(table[0][0] + table[1][1], table[0][1] + table[1][0])
    n = len(found)
    low, high = proportion_confint(right, n, method="wilson")
    # With thousands of words the smallest p-values underflow; they are small, never zero.
    p_value = max(float(fisher_exact(np.array(table)).pvalue), sys.float_info.min)
    return ClusterResult(right / n, p_value, Interval(float(low), float(high), 0.95, "Wilson"), n)


@dataclasses.dataclass(frozen=True, slots=True)
class NeighbourResult(Result):
    """``shares``: for each word, the share of its neighbours that lean to the first group."""

    correlation: Correlation
    shares: tuple[float, ...]
    k: int


def neighbour_bias(
    words: ArrayLike, bias: ArrayLike, pool_1: ArrayLike, pool_2: ArrayLike, *, k: int = 100
) -> NeighbourResult:
    """Does a word's bias show in which words stand around it, even where its own direction was removed?

    For every word, the share of its k nearest neighbours (cosine), among words known to lean to group 1
    or 2, that lean to group 1; then Pearson's correlation of that share with ``bias`` (each word's lean
    measured before, positive towards group 1). 0: no trace; lower is better.

    >>> pool_1, pool_2 = [[1.0, 0.0], [1.0, 0.1]], [[0.0, 1.0], [0.1, 1.0]]
    >>> words = [[1.0, 0.2], [0.9, 0.3], [0.2, 1.0], [0.3, 0.9]]
    >>> neighbour_bias(words, [1.0, 0.8, -1.0, -0.8], pool_1, pool_2, k=2).shares
    (1.0, 1.0, 0.0, 0.0)
    """
    w = rows("words", words)
    one, two = rows("pool 1", pool_1, like=w), rows("pool 2", pool_2, like=w)
    if not 1 <= k < len(one) + len(two):
        raise BadInput(f"k must be from 1 to {len(one) + len(two) - 1} for a pool of {len(one) + len(two)}, not {k}")
    similar = cosines(w, np.concatenate([one, two]))
    # A word that is itself in the pool is no neighbour of its own.
    similar[similar > 1 - 1e-12] = -np.inf
    fewest = int(np.isfinite(similar).sum(axis=1).min())
    if k > fewest:
        raise BadInput(f"a word has only {fewest} neighbours in the pools besides itself, so k cannot be {k}")
    nearest = np.argpartition(-similar, k - 1, axis=1)[:, :k]
    shares = (nearest < len(one)).mean(axis=1)
    return NeighbourResult(correlation(shares, bias), tuple(shares.tolist()), k)
