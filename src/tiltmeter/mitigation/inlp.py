"""INLP: what classifiers of the group use is taken away, one after another (Ravfogel et al. 2020)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.measures.geometry import rows
from tiltmeter.mitigation.eraser import Eraser
from tiltmeter.statistics.groups import Floats
from tiltmeter.statistics.permutation import generator

#: Of the examples, so many tell when to stop.
_HELD_OUT = 0.3
#: A classifier so few standard errors above the share of the largest group finds nothing.
_MARGIN = 2.0


def inlp(vectors: ArrayLike, labels: Sequence[object], *, rank: int | None = None, seed: int = 0) -> Eraser:
    """Project away the weights of linear classifiers of the group until none finds it.

    Ravfogel, Elazar, Gonen, Twiton and Goldberg (2020), Null it out, ACL. Classifier i is a linear support vector
    machine trained on the vectors without what was removed before; B is an orthonormal basis of all their weights

        v' = v - (v Bᵀ) B

    Without a ``rank`` it stops when a classifier is no better on held-out examples than the share of the largest group,
    at the latest when a quarter of the dimensions is gone. With one, it removes as many directions from all examples.

    >>> vectors = np.random.default_rng(0).normal(size=(200, 8)) + np.outer(np.repeat([3, -3], 100), np.eye(8)[0])
    >>> made = inlp(vectors, ["he"] * 100 + ["she"] * 100)
    >>> bool(abs(made.apply(np.eye(8)[:1])[0, 0]) < 0.1)
    True
    """
    from sklearn.svm import LinearSVC

    x = rows("vectors", vectors, at_least=4)
    groups, y = np.unique(np.asarray(labels, dtype=str), return_inverse=True)
    if len(y) != len(x):
        raise BadInput(f"INLP needs a label for each vector, not {len(y)} for {len(x)}")
    if len(groups) < 2 or np.bincount(y).min() < 2:
        raise BadInput("INLP needs two groups of at least two examples each")
    most = x.shape[1] // 4 if rank is None else rank
    if not 1 <= most < x.shape[1]:
        raise BadInput(f"a rank of {most} does not fit vectors of {x.shape[1]} numbers: give 1 to {x.shape[1] - 1}")
    test = np.zeros(len(x), dtype=bool)
    if rank is None:
        # So many of each group: the share of the largest is then what guessing gives.
        order = generator(seed, "draw").permutation(len(x))
        for group in range(len(groups)):
            members = order[y[order] == group]
            test[members[: max(1, int(_HELD_OUT * len(members)))]] = True
    share = float(np.bincount(y[test]).max() / test.sum()) if rank is None else 0.0
    chance = share + _MARGIN * float(np.sqrt(share * (1 - share) / max(1, test.sum())))
    basis: Floats = np.zeros((0, x.shape[1]))
    while len(basis) < most:
        left = x - (x @ basis.T) @ basis
        classifier = LinearSVC(dual=False, random_state=0).fit(left[~test], y[~test])
        if rank is None and classifier.score(left[test], y[test]) <= chance:
            break
        grown = _joined(basis, classifier.coef_)[:most]
        if len(grown) == len(basis):
            break  # nothing is left that a classifier could use
        basis = grown
    return Eraser(basis.T, basis, np.zeros(x.shape[1]))


def _joined(basis: Floats, weights: Floats) -> Floats:
    """An orthonormal basis of the one and the other; the first rows stay as they are."""
    for row in weights:
        across = row - (row @ basis.T) @ basis
        across -= (across @ basis.T) @ basis  # once more, against rounding
        length = np.linalg.norm(across)
        if length > 1e-6 * max(float(np.linalg.norm(row)), 1e-12):
            basis = np.vstack([basis, across / length])
    return basis
