"""Does an occupation score hold up? Its distribution, what it separates, and what it agrees with.

Nothing here needs to be CABM: any score of occupations, positive for group 1, can be validated and compared.
Where a test is not defined it returns None and adds the reason to the caller's ``notes``.
"""

from __future__ import annotations

import dataclasses
import itertools
import sys
from collections.abc import Callable, Mapping
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiltmeter.errors import BadInput
from tiltmeter.measures.cabm.cabm import Scaling, categories, scale_of
from tiltmeter.measures.cabm.weighting import Weights, features_array, labels_array
from tiltmeter.measures.cloze import Labels
from tiltmeter.statistics import Correlation, Result, Share, correlation, effect_size, share, welch_test
from tiltmeter.statistics.groups import Floats, numbers
from tiltmeter.statistics.permutation import generator

_PERMUTATIONS = 9_999
Integers = NDArray[np.intp]
Method = Literal["pearson", "spearman"]


@dataclasses.dataclass(frozen=True, slots=True)
class Density(Result):
    """A kernel density estimate (Gaussian, Scott's bandwidth)."""

    grid: tuple[float, ...]
    density: tuple[float, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Normality(Result):
    """Shapiro-Wilk: a small p-value speaks against a normal distribution, a large one proves nothing."""

    statistic: float
    p_value: float


@dataclasses.dataclass(frozen=True, slots=True)
class Separation(Result):
    """Scores of group 1 against those of group 2: Mann-Whitney U (two-sided p), Cohen's d, difference of medians.

    ``cohens_d`` is None where the scores do not vary within the groups. U takes the spread of both groups for the same
    and finds a difference where only the spreads differ; ``repaired_p_value`` is that of the means, in standard errors
    (``statistics.welch_test``), None with a single occupation in a group.
    """

    u: float
    p_value: float
    cohens_d: float | None
    median_difference: float
    n_1: int
    n_2: int
    repaired_p_value: float | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Contingency(Result):
    """Categories (rows: 1, 0, 2) against labels (columns: 1, 0, 2); ``method`` says where the p-value is from."""

    counts: tuple[tuple[int, ...], ...]
    statistic: float
    df: int
    p_value: float
    method: str


@dataclasses.dataclass(frozen=True, slots=True)
class UnmaskingAgreement(Result):
    """Agreement of the categories with the sign of P(1) - P(2).

    ``agreement`` counts a neutral occupation as a miss, as published; ``decided`` leaves them out (None where all
    are neutral). ``kappa`` is the agreement beyond that of two lists with these category counts: a score that calls
    everything male agrees often and has kappa 0. None where only one category occurs.
    """

    agreement: Share
    decided: Share | None
    kappa: float | None
    spearman: Correlation | None


@dataclasses.dataclass(frozen=True, slots=True)
class ScoreAgreement(Result):
    """Two scores of the same occupations; ``agreement``: the share of equal categories at ``threshold``."""

    first: str
    second: str
    pearson: Correlation | None
    spearman: Correlation | None
    agreement: float
    threshold: float


def distribution(values: Floats, notes: list[str]) -> tuple[Density | None, Normality | None]:
    from scipy.stats import gaussian_kde, shapiro

    spread = values.std(ddof=1)
    if np.ptp(values) <= 1e-12 * np.abs(values).max():
        notes.append("kde, normality: all scores are the same")
        return None, None
    grid = np.linspace(values.min() - spread, values.max() + spread, 200)
    test = shapiro(values)
    kde = Density(tuple(grid.tolist()), tuple(gaussian_kde(values)(grid).tolist()))
    return kde, Normality(float(test.statistic), _above_0(test.pvalue))


def separation(name: str, values: Floats, groups: Integers, notes: list[str], seed: int) -> Separation | None:
    from scipy.stats import mannwhitneyu

    one, two = values[groups == 1], values[groups == 2]
    if min(one.size, two.size) < 1:
        notes.append(f"{name}: {one.size} occupations in group 1 and {two.size} in group 2, it needs both")
        return None
    try:
        d = effect_size(one, two, sd="pooled")
    except BadInput as error:
        notes.append(f"{name}, Cohen's d: {error}")
        d = None
    test = mannwhitneyu(one, two)
    medians = float(np.median(one) - np.median(two))
    repaired = welch_test(one, two, seed=seed).p_value if min(one.size, two.size) > 1 else None
    return Separation(float(test.statistic), _above_0(test.pvalue), d, medians, one.size, two.size, repaired)


def contingency(cut: Integers, labels: Integers, notes: list[str], seed: int) -> Contingency | None:
    """Chi-square; where an expected count is below 5, its p-value from tables with the same margins instead."""
    from scipy.stats import chi2, random_table

    counts = np.array([[((cut == row) & (labels == column)).sum() for column in (1, 0, 2)] for row in (1, 0, 2)])
    shown = tuple(map(tuple, counts.tolist()))
    table = counts[counts.any(axis=1)][:, counts.any(axis=0)]
    if min(table.shape, default=0) < 2:
        notes.append("contingency: needs at least two categories and two labels among the labelled occupations")
        return None
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
    statistic = float(((table - expected) ** 2 / expected).sum())
    df = (table.shape[0] - 1) * (table.shape[1] - 1)
    if expected.min() >= 5:
        return Contingency(shown, statistic, df, _above_0(chi2.sf(statistic, df)), "chi-square")
    tables = random_table(table.sum(axis=1), table.sum(axis=0))
    draws = tables.rvs(size=_PERMUTATIONS, random_state=generator(seed, "permute"))
    null = ((draws - expected) ** 2 / expected).sum(axis=(1, 2))
    p_value = (int((null >= statistic * (1 - 1e-10)).sum()) + 1) / (_PERMUTATIONS + 1)
    return Contingency(shown, statistic, df, p_value, f"permutation ({_PERMUTATIONS} tables; an expected count < 5)")


def unmasking_agreement(
    values: Floats, cut: Integers, unmasking: ArrayLike, notes: list[str], seed: int
) -> UnmaskingAgreement:
    gaps = scores_like("unmasking", unmasking, values)
    signs = categories(gaps, 0.0)
    same, decided = cut == signs, cut != 0
    marginal = sum(float((cut == c).mean() * (signs == c).mean()) for c in (0, 1, 2))
    if marginal == 1:
        notes.append("unmasking, kappa: only one category occurs")
    return UnmaskingAgreement(
        agreement=share(int(same.sum()), values.size),
        decided=share(int(same[decided].sum()), int(decided.sum())) if decided.any() else None,
        kappa=None if marginal == 1 else (float(same.mean()) - marginal) / (1 - marginal),
        spearman=_correlated("unmasking", values, gaps, "spearman", notes, seed),
    )


def score_agreement(
    first: str, second: str, a: Floats, b: Floats, threshold: float, notes: list[str], seed: int
) -> ScoreAgreement:
    pearson, spearman = (_correlated(second, a, b, method, notes, seed) for method in get_args(Method))
    agreement = float((categories(a, threshold) == categories(b, threshold)).mean())
    return ScoreAgreement(first, second, pearson, spearman, agreement, threshold)


def _correlated(name: str, a: Floats, b: Floats, method: Method, notes: list[str], seed: int) -> Correlation | None:
    try:
        return correlation(a, b, method=method, seed=seed)
    except BadInput as error:
        notes.append(f"{name}, {method}: {error}")
        return None


def scores_like(name: str, scores: ArrayLike, others: Floats) -> Floats:
    values = numbers(name, scores)
    if values.size != others.size:
        raise BadInput(f"{name}: {values.size} scores where the others have {others.size}, one for each occupation")
    return values


def _same_occupations(scores: Mapping[str, ArrayLike], otherwise: str) -> dict[str, Floats]:
    """Two scores or more, each of the same occupations as the first; fewer are an error that says ``otherwise``."""
    if len(scores) < 2:
        raise BadInput(otherwise)
    first = numbers("scores", next(iter(scores.values())))
    return {name: scores_like(name, values, first) for name, values in scores.items()}


def _above_0(p_value: float) -> float:
    """The smallest p-values underflow; they are small, never zero."""
    return max(float(p_value), sys.float_info.min)


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
        by_category=separation("by_category", values, cut, notes, seed),
        by_label=None if label_numbers is None else separation("by_label", values, label_numbers, notes, seed),
        contingency=None if label_numbers is None else contingency(cut, label_numbers, notes, seed),
        unmasking=None if unmasking is None else unmasking_agreement(values, cut, unmasking, notes, seed),
        others=tuple(
            score_agreement("score", name, values, scores_like(name, other, values), 0.0, notes, seed)
            for name, other in (others or {}).items()
        ),
        threshold=threshold,
        notes=tuple(notes),
    )


def compare_scores(
    scores_by_method: Mapping[str, ArrayLike], *, threshold: float = 0.1, seed: int = 0
) -> tuple[ScoreAgreement, ...]:
    """Pearson, Spearman and category agreement of every two of several scores of the same occupations.

    >>> compare_scores({"pca": [0.3, -0.2, 0.0, 0.5], "equal": [0.2, -0.2, 0.2, 0.4]})[0].agreement
    0.75
    """
    checked = _same_occupations(scores_by_method, "a comparison needs at least two scores")
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
    checked = _same_occupations(scores_by_model, "stability compares at least two models")
    table = np.stack(list(checked.values()), axis=1)
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

    >>> from tiltmeter.measures.cabm.weighting import equal_weights
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
