"""The single tests behind the validation of an occupation score.

Where a test is not defined it returns None and adds the reason to the caller's ``notes``.
"""

from __future__ import annotations

import dataclasses
import sys
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiltmeter.errors import BadInput
from tiltmeter.measures.cabm.cabm import categories
from tiltmeter.statistics import Correlation, Result, Share, correlation, effect_size, share
from tiltmeter.statistics.groups import Floats, numbers
from tiltmeter.statistics.permutation import generator

_PERMUTATIONS = 9_999
Integers = NDArray[np.intp]


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

    ``cohens_d`` is None where the scores do not vary within the groups.
    """

    u: float
    p_value: float
    cohens_d: float | None
    median_difference: float
    n_1: int
    n_2: int


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
    found = shapiro(values)
    kde = Density(tuple(grid.tolist()), tuple(gaussian_kde(values)(grid).tolist()))
    return kde, Normality(float(found.statistic), _above_0(found.pvalue))


def separation(name: str, values: Floats, groups: Integers, notes: list[str]) -> Separation | None:
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
    found = mannwhitneyu(one, two)
    medians = float(np.median(one) - np.median(two))
    return Separation(float(found.statistic), _above_0(found.pvalue), d, medians, one.size, two.size)


def contingency(found: Integers, known: Integers, notes: list[str], seed: int) -> Contingency | None:
    """Chi-square; where an expected count is below 5, its p-value from tables with the same margins instead."""
    from scipy.stats import chi2, random_table

    counts = np.array([[((found == row) & (known == column)).sum() for column in (1, 0, 2)] for row in (1, 0, 2)])
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
    draws = random_table(table.sum(axis=1), table.sum(axis=0)).rvs(
        size=_PERMUTATIONS, random_state=generator(seed, "permute")
    )
    null = ((draws - expected) ** 2 / expected).sum(axis=(1, 2))
    extreme = int((null >= statistic * (1 - 1e-10)).sum())
    p_value = (extreme + 1) / (_PERMUTATIONS + 1)
    return Contingency(shown, statistic, df, p_value, f"permutation ({_PERMUTATIONS} tables; an expected count < 5)")


def unmasking_agreement(
    values: Floats, found: Integers, unmasking: ArrayLike, notes: list[str], seed: int
) -> UnmaskingAgreement:
    gaps = scores_like("unmasking", unmasking, values)
    signs = categories(gaps, 0.0)
    same, decided = found == signs, found != 0
    marginal = sum(float((found == c).mean() * (signs == c).mean()) for c in (0, 1, 2))
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
    agreement = float((categories(a, threshold) == categories(b, threshold)).mean())
    pearson = _correlated(second, a, b, "pearson", notes, seed)
    spearman = _correlated(second, a, b, "spearman", notes, seed)
    return ScoreAgreement(first, second, pearson, spearman, agreement, threshold)


def _correlated(
    name: str, a: Floats, b: Floats, method: Literal["pearson", "spearman"], notes: list[str], seed: int
) -> Correlation | None:
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


def _above_0(p_value: float) -> float:
    """The smallest p-values underflow; they are small, never zero."""
    return max(float(p_value), sys.float_info.min)
