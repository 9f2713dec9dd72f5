"""How much each feature of CABM counts: weights by PCA, random forest, explanation, equal, or given.

Features are an (n, 3) array, one row an occupation, columns as in ``FEATURES``. Weights are fitted on z-scored
features. Labels say what is known of the occupations from elsewhere (labour statistics, stereotype lists,
unmasking): 1 or 2 for a group, 0 for neither, None for unknown. Labels made by thresholding the features
themselves would only say again what the features say. Forests are grown from ``seeds`` different seeds: weights are
their mean, the spread is their SD.
"""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiltmeter.errors import BadInput, MissingExtra, unknown
from tiltmeter.measures.cloze import Labels
from tiltmeter.statistics import Result
from tiltmeter.statistics.groups import Floats, as_floats, numbers
from tiltmeter.statistics.permutation import generator

FEATURES = ("pmi", "cosine", "context")
_TREES = 100
_FEWEST = 10
_UNKNOWN = -1
#: LIME's defaults: its kernel is this wide times the root of the number of features, its ridge penalised by this.
_KERNEL_WIDTH, _RIDGE = 0.75, 1.0
#: Points at which a forest is asked; LIME takes 5,000, and the mean over forests makes up for fewer.
_CLOUD = 2_000
_TINY = float(np.finfo(np.float64).tiny)


@dataclasses.dataclass(frozen=True, slots=True)
class Weights(Result):
    """Three numbers from 0 on that sum to 1, if not given otherwise.

    ``spread`` is the SD of each over re-seeding, 0 where nothing is random.
    """

    values: Floats
    method: str
    spread: Floats


def equal_weights() -> Weights:
    """A third each.

    >>> equal_weights().values.round(3).tolist()
    [0.333, 0.333, 0.333]
    """
    return _certain(np.ones(3), "equal")


def given_weights(weights: ArrayLike, *, as_given: bool = False) -> Weights:
    """The user's own, divided by their sum where it is not 1, unless they are to stay ``as_given``; ``method`` says so.

    Weights printed in papers rarely sum to 1: those of the thesis' PCA example sum to 1.05.

    >>> found = given_weights([0.58, 0.28, 0.19])
    >>> found.values.round(3).tolist(), found.method
    ([0.552, 0.267, 0.181], 'given (divided by their sum, 1.05)')
    >>> given_weights([0.58, 0.28, 0.19], as_given=True).values.tolist()
    [0.58, 0.28, 0.19]
    """
    values = numbers("weights", weights)
    if values.size != 3 or values.min() < 0 or values.max() == 0:
        raise BadInput(f"give three weights of at least 0 ({', '.join(FEATURES)}), not all of them 0")
    total = float(values.sum())
    if as_given:
        return Weights(values, "given", np.zeros(3))
    return _certain(values, "given" if abs(total - 1) < 1e-9 else f"given (divided by their sum, {total:.4g})")


def published_labels(features: ArrayLike, *, threshold: float = 0.1) -> list[int]:
    """What the published forests learn: categories at ±threshold of the PCA score of the z-scored features.

    The thesis standardises the features before it fits weights (2.5.1), and its categories lie on both sides of 0. Cut
    from the raw features they could not: the context is a distance, larger than what the other two vary by.

    >>> published_labels([[1.0, 0.1, 5.0], [-1.0, -0.1, 5.0], [0.0, 0.0, 5.0]])
    [1, 2, 0]
    """
    x = features_array(features)
    varies, z = _standardised(x)
    scores = _spread_out(z, varies) @ pca_weights(x).values
    return [1 if score > threshold else 2 if score < -threshold else 0 for score in scores.tolist()]


def pca_weights(features: ArrayLike) -> Weights:
    """|loadings| of the first principal component of the z-scored features, as published. Needs no labels.

    >>> pca_weights([[1.0, 2.0, 0.0], [2.0, 4.0, 1.0], [3.0, 6.0, -1.0], [4.0, 8.0, 0.0]]).values.round(3).tolist()
    [0.394, 0.394, 0.213]
    """
    x = features_array(features, at_least=3)
    varies, z = _standardised(x)
    return _certain(_spread_out(np.abs(np.linalg.svd(z, full_matrices=False)[2][0]), varies), "pca")


def pca_forest_weights(features: ArrayLike, labels: Labels, *, seed: int = 0, seeds: int = 10) -> Weights:
    """A random forest learns the labels from the principal components; its importances, mapped back.

    The weight of a feature is the sum over components of importance x |loading|. Components mix the features, so the
    importance of one is shared out among those it is mixed with: these weights lie nearer to a third each than those
    of a forest on the features themselves.
    """
    x, numbered = _labelled(features, labels)
    varies, z = _standardised(x)
    components = np.linalg.svd(z, full_matrices=False)[2]
    forests = _forests(z @ components.T, numbered, seed, seeds)
    mapped = [_spread_out(forest.feature_importances_ @ np.abs(components), varies) for forest in forests]
    return _fitted(mapped, "pca+forest")


def shap_weights(features: ArrayLike, labels: Labels, *, seed: int = 0, seeds: int = 10) -> Weights:
    """mean |SHAP value| of a random forest that learns the labels from the features (extra ``explain``)."""
    return _explained(features, labels, "shap", seed, seeds)


def local_linear_weights(features: ArrayLike, labels: Labels, *, seed: int = 0, seeds: int = 10) -> Weights:
    """The same with LIME's explanation in place of SHAP's (Ribeiro et al. 2016), needing no extra.

    Around each occupation a ridge regression, weighted by nearness, imitates the forest; a feature's part is its
    slope times the z-scored feature. LIME's kernel and penalty; not the ``lime`` package.
    """
    return _explained(features, labels, "local-linear", seed, seeds)


def attributions(
    features: ArrayLike, labels: Labels, *, explainer: str = "shap", seed: int = 0, seeds: int = 10
) -> Floats:
    """What moved the forest for each occupation: each feature's part in P(label 1) - P(label 2), (n, 3), signed.

    ``explainer``: ``shap`` or ``local-linear``. Occupations without a label are explained too.
    """
    parts: Floats = np.mean(list(_each_forest_explained(features, labels, explainer, seed, seeds)), axis=0)
    return parts


def features_array(features: ArrayLike, *, at_least: int = 1) -> Floats:
    """Features as a checked (n, 3) array.

    >>> features_array([[1, 2, 3]]).tolist()
    [[1.0, 2.0, 3.0]]
    """
    x = as_floats(features, "features must be numbers, three for each occupation")
    if x.ndim != 2 or x.shape[1] != 3:
        raise BadInput(f"features must have three columns ({', '.join(FEATURES)}), one row for each occupation")
    if len(x) < at_least:
        raise BadInput(f"this needs at least {at_least} occupations, found {len(x)}")
    if not np.isfinite(x).all():
        raise BadInput(f"features of occupation {int(np.argwhere(~np.isfinite(x))[0, 0])} hold NaN or infinity")
    return x


def labels_array(labels: Labels, n: int) -> NDArray[np.intp]:
    """Labels as numbers: 1, 2, 0 (neither), or -1 for None (unknown).

    >>> labels_array([1, 2, None], 3).tolist()
    [1, 2, -1]
    """
    if len(labels) != n:
        raise BadInput(f"{n} occupations but {len(labels)} labels: give one for each, None where it is not known")
    if any(label is not None and label not in (0, 1, 2) for label in labels):
        raise BadInput("a label is 1 or 2 (a group), 0 (neither) or None (not known)")
    return np.array([_UNKNOWN if label is None else int(label) for label in labels], dtype=np.intp)


def _labelled(features: ArrayLike, labels: Labels) -> tuple[Floats, NDArray[np.intp]]:
    """The occupations whose label is known, enough of them and of both groups."""
    x = features_array(features)
    numbered = labels_array(labels, len(x))
    labelled = numbered != _UNKNOWN
    if labelled.sum() < _FEWEST:
        raise BadInput(
            f"a random forest needs at least {_FEWEST} occupations with a label, found {labelled.sum()}: "
            "use pca_weights or equal_weights"
        )
    often = [int((numbered == label).sum()) for label in (1, 2, 0)]
    if not all(often[:2]):
        raise BadInput(
            f"the labels name {often[0]} occupation(s) of the first group, {often[1]} of the second and {often[2]} of "
            "neither: a forest learns from both groups, so label some of each"
        )
    return x[labelled], numbered[labelled]


def _standardised(x: Floats) -> tuple[NDArray[np.bool_], Floats]:
    """Which features vary, and those as z-scores. One that does not vary can tell occupations apart in no way."""
    varies = np.ptp(x, axis=0) > 1e-12 * np.abs(x).max(axis=0)
    if not varies.any():
        raise BadInput("no feature varies between occupations, so there is nothing to weight: use equal_weights")
    kept = x[:, varies]
    return varies, (kept - kept.mean(axis=0)) / kept.std(axis=0)


def _forests(x: Floats, labels: NDArray[np.intp], seed: int, seeds: int) -> Iterator[Any]:
    from sklearn.ensemble import RandomForestClassifier

    if seeds < 2:
        raise BadInput(f"the spread of weights needs forests of at least 2 seeds, not {seeds}")
    for start in generator(seed, "resample").integers(2**31, size=seeds):
        yield RandomForestClassifier(n_estimators=_TREES, random_state=int(start)).fit(x, labels)


def _each_forest_explained(
    features: ArrayLike, labels: Labels, explainer: str, seed: int, seeds: int
) -> Iterator[Floats]:
    if explainer not in _EXPLAINERS:
        raise unknown("explainer", explainer, _EXPLAINERS)
    x, numbered = _labelled(features, labels)
    varies, z = _standardised(x)
    every = (features_array(features)[:, varies] - x[:, varies].mean(axis=0)) / x[:, varies].std(axis=0)
    for forest in _forests(z, numbered, seed, seeds):
        yield _spread_out(_EXPLAINERS[explainer](forest, every), varies)


def _explained(features: ArrayLike, labels: Labels, explainer: str, seed: int, seeds: int) -> Weights:
    labelled = labels_array(labels, len(features_array(features))) != _UNKNOWN
    parts = _each_forest_explained(features, labels, explainer, seed, seeds)
    return _fitted([np.abs(of_forest[labelled]).mean(axis=0) for of_forest in parts], f"{explainer}+forest")


def _spread_out(values: Floats, varies: NDArray[np.bool_]) -> Floats:
    """Values of the features that vary at their places among the three, 0 at the others."""
    placed = np.zeros((*values.shape[:-1], 3))
    placed[..., varies] = values
    return placed


def _certain(raw: Floats, method: str) -> Weights:
    return Weights(raw / raw.sum(), method, np.zeros(3))


def _fitted(raw: list[Floats], method: str) -> Weights:
    weights = np.array(raw)
    totals = weights.sum(axis=1, keepdims=True)
    if totals.min() <= 0:
        raise BadInput("the features say nothing about the labels, so they give no weights: use pca_weights")
    shares = weights / totals
    mean = shares.mean(axis=0)
    return Weights(mean / mean.sum(), method, shares.std(axis=0, ddof=1))


def shap_parts(forest: Any, z: Floats) -> Floats:
    """SHAP values (Lundberg & Lee 2017), which with the mean prediction add up to each prediction."""
    try:
        explainer = importlib.import_module("shap").TreeExplainer(forest)
    except ImportError:
        raise MissingExtra("SHAP", "explain") from None
    return _between_groups(forest, np.asarray(explainer.shap_values(z)))  # (n, features, classes)


def _between_groups(forest: Any, by_class: Floats) -> Floats:
    """What a forest says of group 1 minus what it says of group 2; classes are the last axis."""
    one, two = (list(forest.classes_).index(group) for group in (1, 2))
    difference: Floats = by_class[..., one] - by_class[..., two]
    return difference


def local_linear_parts(forest: Any, z: Floats) -> Floats:
    """Slopes of a ridge regression that imitates the forest near each row, times the row."""
    width = z.shape[1]
    cloud = np.random.default_rng(forest.random_state).normal(size=(_CLOUD, width))
    target = _between_groups(forest, forest.predict_proba(cloud))
    slopes = np.empty_like(z)
    for i, occupation in enumerate(z):
        near = np.exp(-((cloud - occupation) ** 2).sum(axis=1) / (2 * _KERNEL_WIDTH**2 * width))
        total = max(float(near.sum()), _TINY)  # far from everything the ridge alone decides: no slope
        centred = cloud - near @ cloud / total
        gram = centred.T @ (near[:, None] * centred) + _RIDGE * np.eye(width)
        slopes[i] = np.linalg.solve(gram, centred.T @ (near * (target - near @ target / total)))
    return slopes * z


#: Each feature's part in P(label 1) - P(label 2), for every row of z-scored features.
_EXPLAINERS: dict[str, Callable[[Any, Floats], Floats]] = {"shap": shap_parts, "local-linear": local_linear_parts}
