"""What moved a random forest: each feature's part in P(label 1) - P(label 2), for every row of z-scored features."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

from tiltmeter.errors import MissingExtra
from tiltmeter.statistics.groups import Floats

#: LIME's defaults: its kernel is this wide times the root of the number of features, its ridge penalised by this.
_KERNEL_WIDTH, _RIDGE = 0.75, 1.0
#: Points at which a forest is asked; LIME takes 5,000, and the mean over forests makes up for fewer.
_CLOUD = 2_000
_TINY = float(np.finfo(np.float64).tiny)


def shap_parts(forest: Any, z: Floats) -> Floats:
    """SHAP values (Lundberg & Lee 2017), which with the mean prediction add up to each prediction."""
    try:
        explainer = importlib.import_module("shap").TreeExplainer(forest)
    except ImportError:
        raise MissingExtra("SHAP", "explain") from None
    values = np.asarray(explainer.shap_values(z))  # (n, features, classes)
    one, two = (list(forest.classes_).index(group) for group in (1, 2))
    difference: Floats = values[:, :, one] - values[:, :, two]
    return difference


def local_linear_parts(forest: Any, z: Floats) -> Floats:
    """Slopes of a ridge regression that imitates the forest near each row, times the row."""
    width = z.shape[1]
    cloud = np.random.default_rng(forest.random_state).normal(size=(_CLOUD, width))
    chances = forest.predict_proba(cloud)
    one, two = (list(forest.classes_).index(group) for group in (1, 2))
    target = chances[:, one] - chances[:, two]
    slopes = np.empty_like(z)
    for i, occupation in enumerate(z):
        near = np.exp(-((cloud - occupation) ** 2).sum(axis=1) / (2 * _KERNEL_WIDTH**2 * width))
        total = max(float(near.sum()), _TINY)  # far from everything the ridge alone decides: no slope
        centred = cloud - near @ cloud / total
        gram = centred.T @ (near[:, None] * centred) + _RIDGE * np.eye(width)
        slopes[i] = np.linalg.solve(gram, centred.T @ (near * (target - near @ target / total)))
    parts: Floats = slopes * z
    return parts


EXPLAINERS: dict[str, Callable[[Any, Floats], Floats]] = {"shap": shap_parts, "local-linear": local_linear_parts}
