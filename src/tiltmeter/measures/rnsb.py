"""RNSB: relative negative sentiment bias (Sweeney & Najafian 2019)."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.measures.geometry import TWO_UNNAMED, Families, list_families, rows
from tiltmeter.statistics import Interval, Result
from tiltmeter.statistics.families import Labels
from tiltmeter.statistics.groups import Floats
from tiltmeter.statistics.permutation import generator


@dataclasses.dataclass(frozen=True, slots=True)
class RnsbResult(Result):
    """``score``: KL divergence from even shares; ``shares``: each target's share of negative sentiment;
    ``accuracy``: cross-validated, of the sentiment classifier itself (near .5 the score means nothing); ``families``:
    how many independent words the positive and the negative ones are worth.
    """

    score: float
    p_value: float
    ci: Interval
    shares: tuple[float, ...]
    accuracy: float
    n: int
    families: tuple[int, int]


def rnsb(
    targets: ArrayLike,
    positive: ArrayLike,
    negative: ArrayLike,
    *,
    families: Families = TWO_UNNAMED,
    permutations: int = 199,
    resamples: int = 200,
    seed: int = 0,
) -> RnsbResult:
    """Is negative sentiment spread evenly over identity terms?

    A logistic classifier learns positive from negative words; its probability of "negative" for each
    target, normalised to shares that sum to 1, is compared with even shares by KL divergence. 0: even;
    lower is better. KL is never negative, so even noise gives more than 0: p shuffles which families of words are
    called negative and learns again. ci resamples families of the sentiment words, percentile.

    Args:
        targets: vectors of the identity terms.
        positive, negative: vectors of the sentiment words.
        families: names of the families of the positive and of the negative words; None: found from the vectors.

    >>> good, bad = [[1.0, 0.1]] * 6, [[0.1, 1.0]] * 6
    >>> found = rnsb([[1.0, 0.0], [0.0, 1.0]], good, bad, permutations=19, resamples=20)
    >>> found.shares[1] > found.shares[0]
    True
    """
    from threadpoolctl import threadpool_limits

    t = rows("targets", targets, at_least=2)
    good, bad = rows("positive", positive, like=t, at_least=5), rows("negative", negative, like=t, at_least=5)
    if permutations < 1 or resamples < 2:
        raise BadInput("RNSB needs at least 1 permutation and 2 resamples")
    words = np.concatenate([good, bad])
    label = np.repeat([0, 1], [len(good), len(bad)])
    of_good, of_bad = list_families([t], [good, bad], [None, *families])[1]
    n_good, n_bad = int(of_good.max()) + 1, int(of_bad.max()) + 1
    family, side = np.concatenate([of_good, of_bad + n_good]), np.repeat([0, 1], [n_good, n_bad])
    shares = _shares(words, label, t)
    score = _divergence(shares)
    rng = generator(seed, "permute")
    drawn = []
    with threadpool_limits(limits=1):  # fits this small are ten times slower on all threads than on one
        null = np.array([_divergence(_shares(words, rng.permutation(side)[family], t)) for _ in range(permutations)])
        for _ in range(resamples):
            one, two = (_resampled(part, of, rng) for part, of in ((good, of_good), (bad, of_bad)))
            resampled = np.repeat([0, 1], [len(one), len(two)])
            drawn.append(_divergence(_shares(np.concatenate([one, two]), resampled, t)))
    low, high = np.quantile(drawn, [0.025, 0.975])
    extreme = int(np.count_nonzero(null >= score * (1 - 1e-10)))
    ci = Interval(float(min(low, score)), float(max(high, score)), 0.95, "percentile bootstrap")
    accuracy = _accuracy(words, label, int(rng.integers(2**31)))
    p_value = (extreme + 1) / (permutations + 1)
    return RnsbResult(score, p_value, ci, tuple(shares.tolist()), accuracy, len(t), (n_good, n_bad))


def _resampled(words: Floats, families: Labels, rng: np.random.Generator) -> Floats:
    """As many families as there are, drawn with replacement, with all their words."""
    n = int(families.max()) + 1
    members = [np.flatnonzero(families == family) for family in range(n)]
    drawn: Floats = words[np.concatenate([members[family] for family in rng.integers(n, size=n)])]
    return drawn


def _shares(words: Floats, label: np.ndarray[tuple[int], np.dtype[np.intp]], targets: Floats) -> Floats:
    from sklearn.linear_model import LogisticRegression

    # At the usual tolerance (1e-4) the classifier stops early and shares are off by a per cent or more.
    lean = LogisticRegression(max_iter=1000, tol=1e-6).fit(words, label).decision_function(targets)
    # log P(negative), as logarithms: far from the boundary the probabilities themselves vanish.
    logs = -np.logaddexp(0, -lean)
    negative = np.exp(logs - logs.max())
    shares: Floats = negative / negative.sum()
    return shares


def _divergence(shares: Floats) -> float:
    from scipy.special import xlogy

    return float(xlogy(shares, shares * len(shares)).sum())


def _accuracy(words: Floats, label: np.ndarray[tuple[int], np.dtype[np.intp]], shuffle: int) -> float:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_score

    folds = StratifiedKFold(n_splits=5, shuffle=True, random_state=shuffle)
    return float(cross_val_score(LogisticRegression(max_iter=1000), words, label, cv=folds).mean())
