"""Does an occupation score hold up? Its distribution, what it separates, and what it agrees with.

Nothing here needs to be CABM: any score of occupations, positive for group 1, can be validated and compared.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.measures.cabm.cabm import Scaling, categories, scale_of
from tiltmeter.measures.cabm.checks import (
    Contingency,
    Density,
    Integers,
    Normality,
    ScoreAgreement,
    Separation,
    UnmaskingAgreement,
    contingency,
    distribution,
    score_agreement,
    scores_like,
    separation,
    unmasking_agreement,
)
from tiltmeter.measures.cabm.weights import Weights, features_array, labels_array
from tiltmeter.measures.cloze import Labels
from tiltmeter.statistics import Result
from tiltmeter.statistics.groups import Floats, numbers
from tiltmeter.statistics.permutation import generator


@dataclasses.dataclass(frozen=True, slots=True)
class Validation(Result):
    """One page on a score. ``notes`` gives the reason for everything that is None.

    ``by_category`` is published and circular: its groups are cut from the very scores it compares, so U is n_1 * n_2,
    the largest there is, whatever the score (198, the published U, is such a product: 18 x 11). ``by_label`` compares
    groups that come from elsewhere.
    """

    n: int
    sd: float
    variance: float
    iqr: float
    kde: Density | None
    normality: Normality | None
    by_category: Separation | None
    by_label: Separation | None
    contingency: Contingency | None
    unmasking: UnmaskingAgreement | None
    others: tuple[ScoreAgreement, ...]
    threshold: float
    notes: tuple[str, ...]


def validate(
    scores: ArrayLike,
    *,
    labels: Labels | None = None,
    unmasking: ArrayLike | None = None,
    threshold: float = 0.1,
    others: Mapping[str, ArrayLike] | None = None,
    seed: int = 0,
) -> Validation:
    """Distribution, separation and agreement of the scores of occupations.

    ``labels``: 1, 2, 0 (neither) or None (unknown), from a source of their own. ``unmasking``: P(1) - P(2) of each
    occupation. ``others``: other measures' scores of the same occupations, compared by correlation and by sign. For
    weights fitted on the labels, give ``cross_validated_scores``: otherwise ``by_label`` is circular too.

    >>> found = validate([0.5, 0.4, 0.3, -0.2, -0.4, -0.3], labels=[1, 1, 2, 2, 2, 2])
    >>> found.by_category.u, found.by_label.u, round(found.by_label.median_difference, 2)
    (9.0, 8.0, 0.7)
    """
    values = numbers("scores", scores)
    if values.size < 3:
        raise BadInput(f"a validation needs the scores of at least 3 occupations, found {values.size}")
    cut = categories(values, threshold)
    notes: list[str] = []
    label_numbers = None if labels is None else labels_array(labels, values.size)
    kde, normality = distribution(values, notes)
    if label_numbers is None:
        notes.append("by_label, contingency: no labels were given")
    if unmasking is None:
        notes.append("unmasking: none was given")
    low, high = np.quantile(values, [0.25, 0.75])
    return Validation(
        n=values.size,
        sd=float(values.std(ddof=1)),
        variance=float(values.var(ddof=1)),
        iqr=float(high - low),
        kde=kde,
        normality=normality,
        by_category=separation("by_category", values, cut, notes),
        by_label=None if label_numbers is None else separation("by_label", values, label_numbers, notes),
        contingency=None if label_numbers is None else contingency(cut, label_numbers, notes, seed),
        unmasking=None if unmasking is None else unmasking_agreement(values, cut, unmasking, notes, seed),
        others=tuple(
            score_agreement("score", name, values, scores_like(name, other, values), 0.0, notes, seed)
            for name, other in (others or {}).items()
        ),
        threshold=threshold,
        notes=tuple(notes),
    )


def compare(
    scores_by_method: Mapping[str, ArrayLike], *, threshold: float = 0.1, seed: int = 0
) -> tuple[ScoreAgreement, ...]:
    """Pearson, Spearman and category agreement of every two of several scores of the same occupations.

    >>> compare({"pca": [0.3, -0.2, 0.0, 0.5], "equal": [0.2, -0.2, 0.2, 0.4]})[0].agreement
    0.75
    """
    if len(scores_by_method) < 2:
        raise BadInput("a comparison needs at least two scores")
    first = numbers("scores", next(iter(scores_by_method.values())))
    checked = {name: scores_like(name, scores, first) for name, scores in scores_by_method.items()}
    return tuple(
        score_agreement(a, b, checked[a], checked[b], threshold, [], seed)
        for a, b in itertools.combinations(checked, 2)
    )


@dataclasses.dataclass(frozen=True, slots=True)
class Stability(Result):
    """``mean_sd``: mean over occupations of the SD across models, every model at root mean square 1.

    ``published`` is the same of the scores as they are, which is small for any measure in small units.
    """

    mean_sd: float
    published: float
    by_occupation: Floats
    models: tuple[str, ...]


def stability(scores_by_model: Mapping[str, ArrayLike]) -> Stability:
    """How much an occupation's score varies between models (SD, ddof 1). Lower is steadier, not truer.

    >>> found = stability({"a": [1.0, -1.0], "b": [3.0, -3.0]})
    >>> found.mean_sd, round(found.published, 3)
    (0.0, 1.414)
    """
    if len(scores_by_model) < 2:
        raise BadInput("stability compares at least two models")
    first = numbers("scores", next(iter(scores_by_model.values())))
    table = np.stack([scores_like(name, scores, first) for name, scores in scores_by_model.items()], axis=1)
    by_occupation = (table / scale_of(table, "rms")).std(axis=1, ddof=1)
    published = float(table.std(axis=1, ddof=1).mean())
    return Stability(float(by_occupation.mean()), published, by_occupation, tuple(scores_by_model))


def cross_validated_scores(
    features: ArrayLike,
    labels: Labels,
    fit: Callable[[Floats, Integers], Weights],
    *,
    folds: int = 5,
    seed: int = 0,
    scale: Scaling = None,
) -> Floats:
    """CABM scores in which no occupation had a part in its own weights or scale.

    ``fit(features, labels)`` gives the weights from the labelled occupations of the other folds; folds hold the
    labels in equal shares. Occupations without a label are scored too, with weights from the other folds.

    >>> from tiltmeter.measures.cabm.weights import equal_weights
    >>> x = [[1.0, 0.5, 0.0], [-1.0, 0.5, 0.5], [0.5, 1.0, 0.0], [-0.5, -1.0, 0.0]]
    >>> cross_validated_scores(x, [1, 2, 1, 2], lambda x, labels: equal_weights(), folds=2).round(3).tolist()
    [0.5, 0.0, 0.5, -0.5]
    """
    x = features_array(features)
    label_numbers = labels_array(labels, len(x))
    if not 2 <= folds <= len(x):
        raise BadInput(f"folds must be from 2 to the number of occupations, {len(x)}, not {folds}")
    fold = np.empty(len(x), dtype=np.intp)
    shuffled = generator(seed, "permute").permutation(len(x))
    fold[shuffled[np.argsort(label_numbers[shuffled], kind="stable")]] = np.arange(len(x)) % folds
    scores = np.empty(len(x))
    for k in range(folds):
        held, rest = fold == k, (fold != k) & (label_numbers >= 0)
        if not rest.any():
            raise BadInput("no labelled occupation is left to fit weights on: give labels or fewer folds")
        scores[held] = (x[held] / scale_of(x[fold != k], scale)) @ fit(x[rest], label_numbers[rest]).values
    return scores
