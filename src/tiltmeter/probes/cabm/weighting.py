"""CABM by every weighting, as published and repaired, and what speaks for and against the scores."""

from __future__ import annotations

import dataclasses
import importlib.util
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tiltmeter import measures
from tiltmeter.errors import BadInput
from tiltmeter.measures import CabmIntervals, Validation, Weights
from tiltmeter.measures.cabm.weights import FEATURES
from tiltmeter.probes.cabm.occupation_features import Features, FeatureTable
from tiltmeter.readings.details.cabm import GIVEN, WEIGHTINGS
from tiltmeter.statistics.groups import Floats
from tiltmeter.stimuli.sentences.marked import MarkedSet

THRESHOLD = 0.1
#: Below the first share of women an occupation counts as one of men, above the second as one of women.
_SHARES = (0.4, 0.6)
_FEWEST = 10
#: Forests are grown from so many seeds, and the spread of the weights over them is told.
_FORESTS = 10
#: Fewer are enough to tell what moved a single occupation.
_EXPLAINED = 3

Labels = list[int | None]
#: How features are weighed. A forest learns labels; SHAP needs an extra, LIME's explanation takes its place without.
METHODS = tuple(name for name in WEIGHTINGS if name != GIVEN)


@dataclasses.dataclass(frozen=True, slots=True)
class WeighedForm:
    """One form of the score, as published or repaired: weights by method, the headline's scores, and its validation.

    ``missing`` says of the other weightings why they could not be had.
    """

    weights: Mapping[str, Weights]
    scores: Mapping[str, Floats]
    headline: CabmIntervals
    validation: Validation
    missing: Mapping[str, str]


@dataclasses.dataclass(frozen=True, slots=True)
class Scored:
    """The published form beside the repaired one, whose labels come from ``source``, if there are any."""

    published: WeighedForm
    repaired: WeighedForm
    labels: Labels
    source: str | None
    explained: Explained | None


@dataclasses.dataclass(frozen=True, slots=True)
class Explained:
    """What moved the forest for each occupation, (occupations, 3), and whose explanation it is."""

    parts: Floats
    by: str


def score(
    features: Features,
    sentences: MarkedSet,
    *,
    method: str,
    seed: int,
    threshold: float = THRESHOLD,
    user_labels: tuple[Mapping[str, int], str] | None = None,
) -> Scored:
    """Weigh the features both ways. What the forests of the published form learn is cut from its own PCA score.

    Args:
        features: Those of the occupations.
        sentences: Where they come from; they tell what is known of the occupations.
        method: How the headline weighs the features: one of ``METHODS``, or three weights as text.
        seed: Of everything random.
        threshold: From where on a score is a lean.
        user_labels: Labels of occupations, and where they come from, in place of what is known.
    """
    labels, source = independent_labels(features, sentences, user_labels)
    table = features.published
    cut: Labels = measures.cabm(
        table.values, measures.pca_weights(table.values), threshold=threshold
    ).categories.tolist()
    name = method if method in METHODS else GIVEN
    weights, missing = _weights(table.values, cut, method, seed)
    shown = name if name in weights else "pca"
    published = _form(table, weights, missing, shown, labels, features, seed, threshold, tested=None)
    table = features.repaired
    weights, missing = _weights(table.values, labels, method, seed)
    if name in missing:
        raise BadInput(f"weights by {method}: {missing[name]}")
    tested = _crossed(table.values, labels, method, seed)
    repaired = _form(table, weights, missing, name, labels, features, seed, threshold, tested=tested)
    return Scored(published, repaired, labels, source, _explained(table.values, labels, seed))


def _explained(x: Floats, labels: Labels, seed: int) -> Explained | None:
    """Signed parts of each feature in what a forest makes of an occupation; None where there is no forest."""
    explainer = _explainer()
    try:
        return Explained(measures.attributions(x, labels, explainer=explainer, seed=seed, seeds=_EXPLAINED), explainer)
    except BadInput:
        return None


def _explainer() -> str:
    return "shap" if importlib.util.find_spec("shap") else "local-linear"


def given_by_user(method: str) -> list[float] | None:
    """The three weights that a user wrote in place of a method.

    >>> given_by_user("0.5,0.3,0.2"), given_by_user("pca")
    ([0.5, 0.3, 0.2], None)
    """
    try:
        weights = [float(each) for each in method.split(",")]
    except ValueError:
        return None
    return weights if len(weights) == len(FEATURES) else None


def independent_labels(
    features: Features, sentences: MarkedSet, user_labels: tuple[Mapping[str, int], str] | None = None
) -> tuple[Labels, str | None]:
    """What is known of the occupations from elsewhere: from the user, or of the sources the one that knows most."""
    if user_labels is not None:
        labels, source = user_labels
        return [labels.get(word) for word in features.words], source
    low, high = _SHARES
    shares = {word: 1 if share < low else 2 if share > high else 0 for word, share in sentences.shares.items()}
    sources: dict[str, Labels] = {
        "labour statistics": [shares.get(word) for word in features.words],
        "stereotype lists": [sentences.expected.get(word) for word in features.words],
    }
    source = max(sources, key=lambda name: _known(sources[name]))
    if _known(sources[source]) >= _FEWEST:
        return sources[source], source
    if features.unmasking is not None:
        return [1 if gap > 0 else 2 for gap in features.unmasking.tolist()], "unmasking"
    return [None] * len(features.words), None


def _known(labels: Labels) -> int:
    return sum(label is not None for label in labels)


def _weigh(x: Floats, labels: Labels, method: str, *, seed: int, seeds: int) -> Weights:
    if method == "pca":
        return measures.pca_weights(x)
    if method == "equal":
        # A feature that does not vary would only make the score smaller.
        varies = np.ptp(x, axis=0) > 0
        return dataclasses.replace(measures.given_weights(varies | ~varies.any()), method="equal")
    if (weights := given_by_user(method)) is not None:
        return measures.given_weights(weights)
    forests = {
        "pca_rf": measures.pca_forest_weights,
        "shap_rf": measures.shap_weights,
        "lime_rf": measures.local_linear_weights,
    }
    return forests[method](x, labels, seed=seed, seeds=seeds)


def _weights(x: Floats, labels: Labels, method: str, seed: int) -> tuple[dict[str, Weights], dict[str, str]]:
    """Weights by every method that can be had (the user's as ``given``), and of the others why not."""
    fitted: dict[str, Weights] = {}
    missing: dict[str, str] = {}
    explained = "shap_rf" if _explainer() == "shap" else "lime_rf"
    for each in dict.fromkeys((method, "pca", "pca_rf", explained, "equal")):
        name = each if each in METHODS else GIVEN
        try:
            fitted[name] = _weigh(x, labels, each, seed=seed, seeds=_FORESTS)
        except BadInput as error:
            missing[name] = str(error)
    return fitted, missing


def _form(
    table: FeatureTable,
    weights: dict[str, Weights],
    missing: dict[str, str],
    method: str,
    labels: Labels,
    features: Features,
    seed: int,
    threshold: float,
    *,
    tested: Floats | None,
) -> WeighedForm:
    scores = {name: measures.cabm(table.values, each, threshold=threshold).scores for name, each in weights.items()}
    validation = measures.validate(
        scores[method] if tested is None else tested,
        labels=labels if _known(labels) else None,
        unmasking=features.unmasking,
        threshold=threshold,
        others=_others(features),
        seed=seed,
    )
    headline = measures.with_intervals(table.values, weights[method], table.draws, threshold=threshold)
    return WeighedForm(weights, scores, headline, validation, missing)


def _crossed(x: Floats, labels: Labels, method: str, seed: int) -> Floats | None:
    """Scores in whose weights the occupation itself had no part, where there are labels to learn from."""
    if not _known(labels):
        return None

    def fit(rest: Floats, known: NDArray[np.intp]) -> Weights:
        return _weigh(rest, known.tolist(), method, seed=seed, seeds=2)

    return measures.cross_validated_scores(x, labels, fit, seed=seed)


def _others(features: Features) -> dict[str, Floats]:
    """Scores that need no weighting, to compare with: the single features that vary."""
    known = {name: np.array(values, dtype=np.float64) for name, values in features.raw.items() if None not in values}
    return {name: values for name, values in known.items() if np.ptp(values) > 0}
