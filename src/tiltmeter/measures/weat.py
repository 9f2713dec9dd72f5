"""WEAT: the word embedding association test (Caliskan, Bryson & Narayanan 2017)."""

from __future__ import annotations

import dataclasses

from numpy.typing import ArrayLike

from tiltmeter.measures.geometry import leans, rows
from tiltmeter.statistics import (
    Alternative,
    Interval,
    Result,
    by_unit,
    concatenated_d,
    effect_interval,
    permutation_tests,
)


@dataclasses.dataclass(frozen=True, slots=True)
class WeatResult(Result):
    """``effect_size`` is d; ``score`` the statistic S; ``scores_x``/``scores_y`` the lean of every word.

    ``published_p_value`` is that of the published test, which is one-sided ("greater").
    """

    effect_size: float
    score: float
    p_value: float
    published_p_value: float
    ci: Interval
    exact: bool
    standard_error: float
    alternative: str
    ddof: int
    n: int
    scores_x: tuple[float, ...]
    scores_y: tuple[float, ...]


def weat(
    x: ArrayLike,
    y: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    *,
    alternative: Alternative = "two-sided",
    ddof: int = 1,
    permutations: int = 10_000,
    seed: int = 0,
) -> WeatResult:
    """Differential association of targets X, Y with attributes A, B.

    With s(w) = mean cos(w, A) - mean cos(w, B):

        d = (mean s over X - mean s over Y) / SD of s over X and Y        S = sum s over X - sum s over Y

    Positive: X leans towards A and Y towards B; 0 is level. ``ddof=1`` is what reproduces the published
    values. p: permutation test over splits of X and Y, all of them up to a million. ci: bootstrap over
    target words, for the effect in the population of such words, attributes held fixed.

    >>> male, female = [[1.0, 0.1], [0.9, 0.0]], [[0.1, 1.0], [0.0, 0.8]]
    >>> result = weat(male, female, [[1.0, 0.0]], [[0.0, 1.0]])
    >>> round(result.effect_size, 3), round(result.score, 3), round(result.p_value, 3), result.exact
    (1.729, 3.791, 0.333, True)
    """
    x = rows("X", x, at_least=2)
    y = rows("Y", y, like=x, at_least=2)
    a, b = rows("A", a, like=x), rows("B", b, like=x)
    scores_x, scores_y = leans(x, a, b), leans(y, a, b)
    group_x, group_y = by_unit(scores_x), by_unit(scores_y)
    d = concatenated_d(group_x, group_y, ddof=ddof)
    test, published = permutation_tests(
        group_x, group_y, alternatives=(alternative, "greater"), permutations=permutations, seed=seed
    )
    return WeatResult(
        effect_size=d,
        score=float(scores_x.sum() - scores_y.sum()),
        p_value=test.p_value,
        published_p_value=published.p_value,
        ci=effect_interval(group_x, group_y, d=d, seed=seed),
        exact=test.exact,
        standard_error=test.standard_error,
        alternative=alternative,
        ddof=ddof,
        n=len(x) + len(y),
        scores_x=tuple(scores_x.tolist()),
        scores_y=tuple(scores_y.tolist()),
    )
