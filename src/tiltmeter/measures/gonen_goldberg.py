"""What debiasing leaves behind: the cluster and neighbour tests (Gonen & Goldberg 2019).

Words near one another are alike in any direction: along pairs of arbitrary words the neighbours of occupations tell
the lean in every run, by the published test. What can be asked is whether they share it more along she/he than along
the same words dealt to two sides at random (``dealt_leans``): ``neighbour_deal_test``, ``cluster_deal_test``.
The deals do not know which words are pairs: where the two words of a pair are near one another, they find a lean along
arbitrary pairs somewhat too often (``benchmarks/nulls_directions.py``, the last rows).
"""

from __future__ import annotations

import dataclasses
import sys

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiltmeter.errors import BadInput
from tiltmeter.measures.deals import DEALS, dealt_contrasts
from tiltmeter.measures.geometry import cosines, rows, unit
from tiltmeter.statistics import Correlation, Interval, Result, correlation, p_from_null
from tiltmeter.statistics.estimates import wilson
from tiltmeter.statistics.families import Labels, Placebo, as_labels, placebo_of
from tiltmeter.statistics.groups import Floats, Units
from tiltmeter.statistics.permutation import generator
from tiltmeter.statistics.two_way import correlation_over_both


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

    one = rows("group 1", group_1, at_least=2)
    two = rows("group 2", group_2, like=one, at_least=2)
    clusters = _two_clusters(unit(np.concatenate([one, two])), seed)
    first, second = clusters[: len(one)], clusters[len(one) :]
    table = [[int((part == label).sum()) for label in (0, 1)] for part in (first, second)]
    right = max(table[0][0] + table[1][1], table[0][1] + table[1][0])
    n = len(clusters)
    # With thousands of words the smallest p-values underflow; they are small, never zero.
    p_value = max(float(fisher_exact(np.array(table)).pvalue), sys.float_info.min)
    return ClusterResult(right / n, p_value, wilson(right / n, n), n)


def _two_clusters(words: Floats, seed: int) -> Labels:
    from sklearn.cluster import KMeans

    if np.ptp(words, axis=0).max() <= 1e-12:
        raise BadInput("all words have the same direction, so they form no clusters")
    start = int(generator(seed, "resample").integers(2**31))
    labels: Labels = KMeans(n_clusters=2, n_init=10, random_state=start).fit_predict(words).astype(np.intp)
    return labels


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
    shares = (_nearest(w, np.concatenate([one, two]), k) < len(one)).mean(axis=1)
    return NeighbourResult(correlation(shares, bias), tuple(shares.tolist()), k)


def _nearest(words: Floats, pool: Floats, k: int) -> Labels:
    """The places in a pool of the k nearest neighbours of every word."""
    similar = cosines(words, pool)
    # A word that is itself in the pool is not a neighbour of its own.
    similar[similar > 1 - 1e-12] = -np.inf
    fewest = int(np.isfinite(similar).sum(axis=1).min())
    if k > fewest:
        raise BadInput(f"a word has only {fewest} neighbours in the pools besides itself, so k cannot be {k}")
    nearest: Labels = np.argpartition(-similar, k - 1, axis=1)[:, :k]
    return nearest


def dealt_leans(words: ArrayLike, first: ArrayLike, second: ArrayLike, *, deals: int = DEALS, seed: int = 0) -> Floats:
    """The lean of words between two sides, and their leans with the words of the sides dealt to them at random.

    A lean is cos(w, b), b the mean of the first words' unit vectors less that of the second; positive: towards the
    first. (The principal component of pairs stays as it is when the words of a pair change places, so it cannot
    serve.) Families of words are dealt as a whole. Returns a row for each word; the first column is the lean itself.

    >>> dealt_leans([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0]], [[-1.0, 0.0]], deals=3)[:, 0].tolist()
    [1.0, 0.0]
    """
    w = rows("words", words)
    sets = [unit(rows("first", first, like=w)), unit(rows("second", second, like=w))]
    axes = dealt_contrasts(unit(w), sets, deals=deals, seed=seed)[:, 0] @ np.concatenate(sets)
    lengths = np.linalg.norm(axes, axis=1, keepdims=True)
    if lengths[0] <= 1e-12:
        raise BadInput("the two sides have the same average, so no word can lean to either")
    # Sides that cancel out give no direction, and no word leans along it.
    leans: Floats = unit(w) @ (axes / np.where(lengths <= 1e-12, np.inf, lengths)).T
    return leans


def cluster_deal_test(
    words: ArrayLike, leans: Floats, *, families: Units | None = None, seed: int = 0
) -> ClusterResult:
    """``cluster_bias`` of words halved by their lean; are the clusters further apart in it than in other leans?

    ``leans`` are those of ``dealt_leans``. The statistic is how far apart the mean leans of the two clusters are, which
    are made without them; p is the share of deals that give as much. ci: Wilson, ``families`` of words counting once.

    >>> words = np.random.default_rng(0).normal(size=(12, 20))
    >>> cluster_deal_test(words, dealt_leans(words, words[:3], words[3:6])).n
    12
    """
    w = rows("words", words, at_least=2)
    first = _two_clusters(unit(w), seed) == 0
    apart = np.abs(leans[first].mean(axis=0) - leans[~first].mean(axis=0))
    p_value = p_from_null(apart[1:], float(apart[0]), alternative="greater", exact=False).p_value
    accuracy = float(_accuracies(first, leans[:, :1])[0])
    return ClusterResult(accuracy, p_value, wilson(accuracy, int(as_labels(families, len(w)).max()) + 1), len(w))


def _accuracies(first: NDArray[np.bool_], leans: Floats) -> Floats:
    """For every column of leans the share of words whose cluster is that of their half."""
    upper = leans.argsort(axis=0).argsort(axis=0) >= (len(leans) + 1) // 2
    agree = (upper == first[:, None]).mean(axis=0)
    accuracies: Floats = np.maximum(agree, 1 - agree)
    return accuracies


def cluster_placebo(words: ArrayLike, leans: Floats, *, value: float, seed: int = 0) -> Placebo:
    """The accuracy of clusters of words with halves along arbitrary pairs (``leans_between``), beside the observed one.

    >>> words = np.random.default_rng(0).normal(size=(12, 20))
    >>> cluster_placebo(words, words[:, 2:], value=1.0).low >= 0.5
    True
    """
    first = _two_clusters(unit(rows("words", words, at_least=2)), seed) == 0
    return placebo_of(_accuracies(first, leans), value, level=0.5)


def neighbour_deal_test(
    words: ArrayLike, leans: Floats, *, k: int = 100, families: Units | None = None
) -> NeighbourResult:
    """``neighbour_bias`` of words among themselves; do they share their lean with neighbours more than other leans?

    ``leans`` are those of ``dealt_leans``; words above the median lean are those that lean to group 1. The statistic
    is the covariance of a word's lean with the mean lean of its neighbours; p is the share of deals that give as much.
    (The correlation would not do: where words differ mostly along the pairs, it is the same in every direction that has
    some part in theirs.) ci: Fisher's, ``families`` of words counting once.

    >>> words = np.random.default_rng(0).normal(size=(12, 20))
    >>> neighbour_deal_test(words, dealt_leans(words, words[:3], words[3:6]), k=3).k
    3
    """
    w = rows("words", words)
    if not 1 <= k < len(w):
        raise BadInput(f"k must be from 1 to {len(w) - 1} for {len(w)} words, not {k}")
    near = _neighbours(w, k)
    shared = ((leans - leans.mean(axis=0)) * (near @ leans)).mean(axis=0)
    p_value = p_from_null(shared[1:], float(shared[0]), alternative="greater", exact=False).p_value
    lean = leans[:, 0]
    shares = _shares(near, leans[:, :1])[:, 0]
    r = correlation(shares, lean).r
    ci = correlation_over_both(lean, shares, as_labels(families, len(w))).ci
    return NeighbourResult(Correlation(r, p_value, ci, len(w), "pearson"), tuple(shares.tolist()), k)


def _neighbours(words: Floats, k: int) -> Floats:
    """For every word (row) 1 in the columns of its k nearest neighbours among the others."""
    near = np.zeros((len(words), len(words)))
    np.put_along_axis(near, _nearest(words, words, k), 1.0, axis=1)
    return near


def _shares(near: Floats, leans: Floats) -> Floats:
    """For every word the share of its neighbours that are above the median of a column of leans."""
    shares: Floats = near @ (leans > np.median(leans, axis=0)) / near.sum(axis=1, keepdims=True)
    return shares


def neighbour_placebo(words: ArrayLike, leans: Floats, *, value: float, k: int = 100) -> Placebo:
    """The correlation of ``neighbour_bias`` along arbitrary pairs (``leans_between``), beside the observed one.

    >>> words = np.random.default_rng(0).normal(size=(12, 20))
    >>> neighbour_placebo(words, words[:, 2:], value=0.99, k=3).draws
    18
    """
    w = rows("words", words)
    shares = _shares(_neighbours(w, k), leans)
    shares, centred = shares - shares.mean(axis=0), leans - leans.mean(axis=0)
    squares = (shares**2).sum(axis=0) * (centred**2).sum(axis=0)
    varies = squares > 0  # where all words have as many neighbours on a side, there is nothing to correlate
    return placebo_of((shares * centred).sum(axis=0)[varies] / np.sqrt(squares[varies]), value)
