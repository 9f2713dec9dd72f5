"""LEACE: the smallest change after which no linear classifier can find the group (Belrose et al. 2023)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.measures.geometry import rows
from tiltmeter.mitigation.eraser import Eraser
from tiltmeter.statistics.groups import Floats

#: Correlations of a whitened direction with the group that are smaller than this are taken for noise.
_TOLERANCE = 0.01


def leace(vectors: ArrayLike, labels: Sequence[object], *, shrink: bool = True) -> Eraser:
    """Remove what is linearly correlated with the group, and change the vectors as little as that allows.

    Belrose, Schneider-Joseph, Ravfogel, Cotterell, Raff and Biderman (2023), NeurIPS, theorem 4.3. With Σ_XX and Σ_XZ
    the covariances of the vectors and of vectors and groups, W = Σ_XX^(-1/2) and U the left singular vectors of W Σ_XZ

        x' = x - W⁻¹ U Uᵀ W (x - mean)

    Of all maps after which the groups have the same mean, it moves the vectors least. With fewer examples than
    dimensions Σ_XX cannot be inverted, and with few more hardly: ``shrink`` draws it towards a sphere as far as
    Bodnar, Gupta and Parolya (2014) find optimal. It is the default of the authors' package too, and makes the groups'
    means equal only nearly.

    >>> vectors = np.random.default_rng(0).normal(size=(200, 4)) + np.outer(np.repeat([3, -3], 100), np.eye(4)[0])
    >>> after = leace(vectors, ["he"] * 100 + ["she"] * 100, shrink=False).apply(vectors)
    >>> bool(np.allclose(after[:100].mean(axis=0), after[100:].mean(axis=0)))
    True
    """
    x = rows("vectors", vectors, at_least=4)
    groups, y = np.unique(np.asarray(labels, dtype=str), return_inverse=True)
    if len(y) != len(x):
        raise BadInput(f"LEACE needs a label for each vector, not {len(y)} for {len(x)}")
    if len(groups) < 2 or np.bincount(y).min() < 2:
        raise BadInput("LEACE needs two groups of at least two examples each")
    mean = x.mean(axis=0)
    z = np.eye(len(groups))[y][:, 1:]
    between = (x - mean).T @ (z - z.mean(axis=0)) / (len(x) - 1)
    within = (x - mean).T @ (x - mean)
    within = shrunk(within / len(x), len(x)) if shrink else within / (len(x) - 1)
    sizes, axes = np.linalg.eigh(within)
    there = sizes > sizes[-1] * len(sizes) * np.finfo(float).eps
    roots = np.sqrt(np.maximum(sizes, 0.0))
    whiten = (axes * np.divide(1.0, roots, where=there, out=np.zeros_like(roots))) @ axes.T
    colour = (axes * np.where(there, roots, 0.0)) @ axes.T
    directions, strengths, _ = np.linalg.svd(whiten @ between, full_matrices=False)
    directions = directions[:, strengths > _TOLERANCE]
    left, right = whiten @ directions, directions.T @ colour
    return Eraser(left, right, (mean @ left) @ right)


def shrunk(covariance: Floats, n: int) -> Floats:
    """The covariance of n examples drawn towards a sphere of the same trace.

    >>> shrunk(np.diag([2.0, 0.0]), 4).round(2).tolist()
    [[1.5, 0.0], [0.0, 0.5]]
    """
    width, trace = len(covariance), float(np.trace(covariance))
    sphere = trace**2 / width  # its squared Frobenius norm, and its product with the covariance
    spread = float((covariance**2).sum()) - sphere
    weight = 1.0 if spread <= 0 else min(1.0, trace**2 / n / spread)
    shrunken: Floats = (1 - weight) * covariance + weight * trace / width * np.eye(width)
    return shrunken
