"""CABM by every weighting, as published and repaired, and what speaks for and against the scores."""

from __future__ import annotations

import dataclasses
import importlib.util
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiltmeter import measures
from tiltmeter.errors import BadInput
from tiltmeter.measures import CabmIntervals, Weights
from tiltmeter.measures.cabm.weighting import FEATURES
from tiltmeter.probes.cabm.occupation_features import Features, FeatureTable
from tiltmeter.readings.details.cabm import CLOSE, GIVEN, NEUTRAL, WEIGHTINGS, CabmForm, FeatureWeights
from tiltmeter.statistics.groups import Floats
from tiltmeter.stimuli.sentences.marked import MarkedSet

THRESHOLD = 0.1
#: Below the first share of women an occupation counts as one of men, above the second as one of women.
_SHARES = (0.4, 0.6)
_FEWEST = 10
#: Forests are grown from so many seeds, and the spread of the weights over them is reported.
_FORESTS = 10
#: Fewer are enough to tell what moved a single occupation.
_EXPLAINED = 3

Labels = list[int | None]
#: How features are weighed. A forest learns labels; SHAP needs an extra, LIME's explanation takes its place without.
METHODS = tuple(name for name in WEIGHTINGS if name != GIVEN)


class WeighedForm(NamedTuple):
    """One form of the score, as published or repaired: the headline's scores, and everything else about it."""

    headline: CabmIntervals
    details: CabmForm


@dataclasses.dataclass(frozen=True, slots=True)
class Scored:
    """The published form beside the repaired one, whose labels come from ``source``, if there are any.

    ``parts`` says what moved the forest for each occupation, (occupations, 3), ``explained_by`` whose explanation it
    is; None where there is no forest.
    """

    published: WeighedForm
    repaired: WeighedForm
    labels: Labels
    source: str | None
    parts: Floats | None
    explained_by: str | None


def score(
    features: Features,
    sentences: MarkedSet,
    *,
    method: str | None,
    seed: int,
    threshold: float = THRESHOLD,
    user_labels: tuple[Mapping[str, int], str] | None = None,
) -> Scored:
    """Weigh the features both ways. What the forests of the published form learn is cut from its own features.

    ``method`` is how the headline weighs the features, one of ``METHODS`` or three weights as text; by default PCA, and
    in the published form the explained forest that the thesis chose. From ``threshold`` on a score is a lean;
    ``user_labels`` are labels of occupations, and where they come from, which the forests of both forms learn instead.
    """
    labels, source = independent_labels(features, sentences, user_labels)
    asked = method

    def form(table: FeatureTable, learned: Labels, *, repaired: bool) -> WeighedForm:
        """The form whose forests learn these labels; the repaired one is validated on held-out occupations."""
        method = asked or ("pca" if repaired else _explained_forest())
        weights, missing = _weights(table.values, learned, method, seed, as_given=not repaired)
        name = method if method in METHODS else GIVEN
        if name in missing and repaired:
            raise BadInput(f"weights by {method}: {missing[name]}")
        shown = weights.get(name, weights["pca"])
        scores = {name: measures.cabm(table.values, fitted).scores for name, fitted in weights.items()}
        crossed = _crossed(table.values, learned, method, seed) if repaired else None
        validation = measures.validate(
            measures.cabm(table.values, shown).scores if crossed is None else crossed,
            labels=labels if _known(labels) else None,
            unmasking=features.unmasking,
            threshold=threshold,
            others=_others(features),
            seed=seed,
        )
        headline = measures.with_intervals(table.values, shown, table.draws, threshold=threshold)
        details = CabmForm(
            method=shown.method,
            categories=dict(Counter(named(headline, sentences.groups))),
            weights={
                name: FeatureWeights(_three(fitted.values), fitted.method, _three(fitted.spread))
                for name, fitted in weights.items()
            },
            not_weighed=missing,
            scores={name: tuple(values.tolist()) for name, values in scores.items()},
            between_weightings=measures.compare_scores(scores, threshold=threshold),
            validation=validation,
        )
        return WeighedForm(headline, details)

    cut: Labels = [*measures.published_labels(features.published.values, threshold=threshold)]
    published = form(features.published, labels if user_labels else cut, repaired=False)
    repaired = form(features.repaired, labels, repaired=True)
    explainer = _explainer()
    try:
        x = features.repaired.values
        parts = measures.attributions(x, labels, explainer=explainer, seed=seed, seeds=_EXPLAINED)
    except BadInput:
        return Scored(published, repaired, labels, source, None, None)
    return Scored(published, repaired, labels, source, parts, explainer)


def named(scores: CabmIntervals, groups: tuple[str, str]) -> list[str]:
    """The category of each occupation in words."""
    names = (NEUTRAL, *groups)
    both = zip(scores.result.categories.tolist(), scores.too_close.tolist(), strict=True)
    return [CLOSE if close else names[category] for category, close in both]


def _three(values: Iterable[float]) -> tuple[float, float, float]:
    pmi, cosine, context = map(float, values)
    return pmi, cosine, context


def _explainer() -> str:
    return "shap" if importlib.util.find_spec("shap") else "local-linear"


def _explained_forest() -> str:
    return "shap_rf" if _explainer() == "shap" else "lime_rf"


def given_by_user(method: str) -> list[float] | None:
    """The three weights that a user wrote in place of a method.

    >>> given_by_user("0.5,0.3,0.2"), given_by_user("pca")
    ([0.5, 0.3, 0.2], None)
    """
    try:
        weights = [float(part) for part in method.split(",")]
    except ValueError:
        return None
    return weights if len(weights) == len(FEATURES) else None


def independent_labels(
    features: Features, sentences: MarkedSet, user_labels: tuple[Mapping[str, int], str] | None = None
) -> tuple[Labels, str | None]:
    """What is known about the occupations from elsewhere: from the user, or from the source that knows most of them."""
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


def _weigh(x: Floats, labels: Labels, method: str, *, seed: int, seeds: int, as_given: bool = False) -> Weights:
    if method == "pca":
        return measures.pca_weights(x)
    if method == "equal":
        # A feature that does not vary would only make the score smaller.
        varies = np.ptp(x, axis=0) > 0
        return dataclasses.replace(measures.given_weights(varies | ~varies.any()), method="equal")
    if (weights := given_by_user(method)) is not None:
        return measures.given_weights(weights, as_given=as_given)
    forests = {
        "pca_rf": measures.pca_forest_weights,
        "shap_rf": measures.shap_weights,
        "lime_rf": measures.local_linear_weights,
    }
    return forests[method](x, labels, seed=seed, seeds=seeds)


def _weights(
    x: Floats, labels: Labels, method: str, seed: int, *, as_given: bool
) -> tuple[dict[str, Weights], dict[str, str]]:
    """Weights by every method that can be had (the user's as ``given``), and of the others why not."""
    fitted: dict[str, Weights] = {}
    missing: dict[str, str] = {}
    for way in dict.fromkeys((method, "pca", "pca_rf", _explained_forest(), "equal")):
        name = way if way in METHODS else GIVEN
        try:
            fitted[name] = _weigh(x, labels, way, seed=seed, seeds=_FORESTS, as_given=as_given)
        except BadInput as error:
            missing[name] = str(error)
    return fitted, missing


def _crossed(x: Floats, labels: Labels, method: str, seed: int) -> Floats | None:
    """Scores in whose weights the occupation itself had no part, where there are labels to learn from."""
    if not _known(labels):
        return None

    def fit(rest: Floats, learned: NDArray[np.intp]) -> Weights:
        return _weigh(rest, learned.tolist(), method, seed=seed, seeds=2)

    return measures.cross_validated_scores(x, labels, fit, seed=seed)


def _others(features: Features) -> dict[str, Floats]:
    """Scores that need no weighting, to compare with: the single features that vary."""
    complete = {name: np.array(values, dtype=np.float64) for name, values in features.raw.items() if None not in values}
    return {name: values for name, values in complete.items() if np.ptp(values) > 0}
