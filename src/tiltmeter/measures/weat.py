"""WEAT: the word embedding association test (Caliskan, Bryson & Narayanan 2017)."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.measures.geometry import (
    UNNAMED,
    Bands,
    Families,
    Partners,
    cosines,
    deal,
    generalise,
    rows,
    unit,
    unit_leans,
)
from tiltmeter.statistics import (
    Alternative,
    CrossedTest,
    Interval,
    Power,
    Result,
    by_unit,
    concatenated_d,
    effect_interval,
    permutation_test,
    within_groups,
)
from tiltmeter.statistics.families import Placebo, placebo_of


@dataclasses.dataclass(frozen=True, slots=True)
class WeatResult(Result):
    """``effect_size`` is d; ``score`` the statistic S; ``scores_x``/``scores_y`` the lean of every word.

    ``p_value`` generalises over targets and attributes (``crossed`` has both sides); ``published_p_value`` is that of
    the published test, which is one-sided ("greater") and takes words for independent and attributes for fixed.
    ``power`` is the smallest d that would have been found 8 times in 10.
    """

    effect_size: float
    score: float
    p_value: float
    published_p_value: float
    ci: Interval
    crossed: CrossedTest
    power: Power | None
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
    partners: Partners = (),
    families: Families = UNNAMED,
    alternative: Alternative = "two-sided",
    ddof: int = 1,
    permutations: int = 10_000,
    seed: int = 0,
) -> WeatResult:
    """Differential association of targets X, Y with attributes A, B.

    With s(w) = mean cos(w, A) - mean cos(w, B):

        d = (mean s over X - mean s over Y) / SD of s over X and Y        S = sum s over X - sum s over Y

    Positive: X leans towards A and Y towards B; 0 is level. ``ddof=1`` is what reproduces the published
    values. p: the larger of two, by targets and by attributes; families of words are permuted between the groups, in
    standard errors of the difference, and matched words (``partners``) exchanged within their pair. ci: bootstrap over
    target words, widened to what both sides together leave open. See ``statistics.crossed_test``.

    Args:
        x, y: vectors of the words of the two groups.
        a, b: vectors of the words of the two sets of attributes.
        partners: matched words (he, she) as places in X and Y.
        families: names of the families (he, him, his) of the words of X, Y, A, B; None: found from the vectors.

    >>> male, female = [[1.0, 0.1], [0.9, 0.0]], [[0.1, 1.0], [0.0, 0.8]]
    >>> result = weat(male, female, [[1.0, 0.0]], [[0.0, 1.0]])
    >>> round(result.effect_size, 3), round(result.score, 3), round(result.p_value, 3), result.exact
    (1.729, 3.791, 0.333, True)
    """
    x = rows("X", x, at_least=2)
    y = rows("Y", y, like=x, at_least=2)
    a, b = rows("A", a, like=x), rows("B", b, like=x)
    units = unit(x), unit(y), unit(a), unit(b)
    scores_x, scores_y = (unit_leans(targets, *units[2:]) for targets in units[:2])
    group_x, group_y = by_unit(scores_x), by_unit(scores_y)
    d = concatenated_d(group_x, group_y, ddof=ddof)
    crossed = generalise(
        *units,
        partners=partners,
        families=families,
        alternative=alternative,
        permutations=permutations,
        seed=seed,
    )
    published = permutation_test(group_x, group_y, alternative="greater", permutations=permutations, seed=seed)
    return WeatResult(
        effect_size=d,
        score=float(scores_x.sum() - scores_y.sum()),
        p_value=crossed.p_value,
        published_p_value=published.p_value,
        ci=effect_interval(group_x, group_y, d=d, inflation=crossed.inflation, df=crossed.df, seed=seed),
        crossed=crossed,
        power=crossed.power(within=within_groups(group_x, group_y), sizes=(len(x), len(y))),
        exact=crossed.headline.exact,
        standard_error=crossed.headline.standard_error,
        alternative=alternative,
        ddof=ddof,
        n=len(x) + len(y),
        scores_x=tuple(scores_x.tolist()),
        scores_y=tuple(scores_y.tolist()),
    )


def weat_placebo(
    x: ArrayLike,
    y: ArrayLike,
    neutral: ArrayLike,
    *,
    d: float,
    sizes: tuple[int, int],
    bands: Bands | None = None,
    seed: int = 0,
) -> Placebo:
    """WEAT's d of the same targets between two sets of arbitrary words of these sizes, beside the observed d.

    >>> rng = np.random.default_rng(0)
    >>> x, y, neutral = (rng.normal(size=(n, 20)) for n in (8, 8, 100))
    >>> found = weat_placebo(x, y, neutral, d=1.9, sizes=(8, 8))
    >>> found.low < 0 < found.high < 1.9, found.draws
    (True, 1000)
    """
    targets = rows("X and Y", np.concatenate([np.asarray(x), np.asarray(y)]), at_least=2)
    words = rows("neutral words", neutral, like=targets, at_least=sum(sizes))
    lean, n_x = cosines(targets, words) @ deal(len(words), sizes, bands=bands, seed=seed), len(np.asarray(x))
    return placebo_of((lean[:n_x].mean(axis=0) - lean[n_x:].mean(axis=0)) / lean.std(axis=0, ddof=1), d)
