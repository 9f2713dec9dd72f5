"""CEAT: the contextualised embedding association test (Guo & Caliskan 2021)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.measures.ceat.draws import (
    Contexts,
    Sampling,
    by_context,
    contexts,
    draw_contexts,
    drawn_effects,
    scores,
    two_level_interval,
)
from tiltmeter.measures.geometry import vanishes
from tiltmeter.statistics import (
    Alternative,
    Interval,
    Result,
    by_unit,
    concatenated_d,
    permutation_test,
    random_effects,
)
from tiltmeter.statistics.groups import Floats


@dataclasses.dataclass(frozen=True, slots=True)
class DrawnEffects(Result):
    """The effect sizes of the draws in short; 95% of them lie between ``low`` and ``high``."""

    mean: float
    sd: float
    low: float
    median: float
    high: float


@dataclasses.dataclass(frozen=True, slots=True)
class RepairedCeat(Result):
    """Words are the unit, so nothing here depends on how often one draws, but for the precision of d.

    ``scores_x`` and ``scores_y`` are the mean leans of the words over their contexts, ``score`` the difference of
    their averages.
    """

    effect_size: float
    tau2: float
    p_value: float
    ci: Interval
    exact: bool
    p_standard_error: float
    alternative: str
    score: float
    scores_x: tuple[float, ...]
    scores_y: tuple[float, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class CeatResult(Result):
    """As published: the combined effect size, and beside it the ``repaired`` statistics."""

    effect_size: float
    tau2: float
    standard_error: float
    p_value: float
    draws: int
    sampling: str
    n: int
    n_contexts: int
    effects: DrawnEffects
    repaired: RepairedCeat


def ceat(
    x: Sequence[ArrayLike],
    y: Sequence[ArrayLike],
    a: Sequence[ArrayLike],
    b: Sequence[ArrayLike],
    *,
    draws: int = 5000,
    sampling: Sampling = "random",
    alternative: Alternative = "two-sided",
    permutations: int = 10_000,
    seed: int = 0,
) -> CeatResult:
    """Differential association of targets X, Y with attributes A, B, over words in many contexts each.

    Each argument lists one (contexts x dim) array a word. A draw picks one context for every word and gives WEAT's d
    (ddof 1); positive: X leans towards A and Y towards B. See ``draw_contexts`` for ``sampling``.

    As published, draws are pooled as independent studies with V = the variance of s over X and Y in the draw:

        W = 1/V    Q = sum W d² - (sum W d)² / sum W    tau² = max(0, (Q - (N - 1)) / (sum W - sum W² / sum W))
        v = 1/(V + tau²)    effect = sum v d / sum v    SE = sqrt(1 / sum v)    p = 2 (1 - Phi(|effect / SE|))

    All draws share the same words, so that p measures N, the number of draws. ``repaired`` pools with the sampling
    variance of d, (n1 + n2)/(n1 n2) + d²/(2 (n1 + n2)), gives an interval by a two-level bootstrap (target words,
    and contexts within words; attribute words held fixed), and a p-value by permuting words between X and Y (all
    splits up to a million), each word with its mean lean over all its contexts.

    >>> he, man = [[1.0, 0.1], [0.9, 0.2]], [[0.9, 0.0]]
    >>> she, woman = [[0.1, 1.0]], [[0.0, 0.8], [0.3, 0.9]]
    >>> found = ceat([he, man], [she, woman], [[[1.0, 0.0]]], [[[0.0, 1.0]]], draws=100)
    >>> round(found.effect_size, 2), round(found.repaired.effect_size, 2), round(found.repaired.p_value, 2)
    (1.72, 1.72, 0.33)
    """
    in_x = contexts("X", x, at_least=2)
    in_y = contexts("Y", y, like=in_x, at_least=2)
    # A and B are counted from the centre of X and Y too: all that matters is that they share one.
    in_a, in_b = contexts("A", a, like=in_x), contexts("B", b, like=in_x)
    lean = in_a.means.mean(axis=0) - in_b.means.mean(axis=0)
    if vanishes(lean, in_a.means):
        raise BadInput("the two sets of attributes have the same average, so no word can lean to either")
    leans = scores(x, lean), scores(y, lean)
    concatenated_d(*map(by_context, leans))  # refuses scores that do not vary at all
    sets = in_x, in_y, in_a, in_b
    counts = [count for words in sets for count in words.counts]
    picks = draw_contexts(counts, draws=draws, sampling=sampling, seed=seed)
    effects, variances = drawn_effects(*sets, picks)
    published = random_effects(effects, variances)
    return CeatResult(
        effect_size=published.mean,
        tau2=published.tau2,
        standard_error=published.standard_error,
        p_value=published.p_value,
        draws=draws,
        sampling=sampling,
        n=len(in_x) + len(in_y),
        n_contexts=sum(in_x.counts) + sum(in_y.counts),
        effects=_summary(effects),
        repaired=_repaired(sets, leans, effects, alternative=alternative, permutations=permutations, seed=seed),
    )


def _repaired(
    sets: tuple[Contexts, Contexts, Contexts, Contexts],
    leans: tuple[list[Floats], list[Floats]],
    effects: Floats,
    *,
    alternative: Alternative,
    permutations: int,
    seed: int,
) -> RepairedCeat:
    n_x, n_y = map(len, leans)
    pooled = random_effects(effects, (n_x + n_y) / (n_x * n_y) + effects**2 / (2 * (n_x + n_y)))
    means_x, means_y = ([float(leans_of_word.mean()) for leans_of_word in words] for words in leans)
    test = permutation_test(
        by_unit(means_x), by_unit(means_y), alternative=alternative, permutations=permutations, seed=seed
    )
    return RepairedCeat(
        effect_size=pooled.mean,
        tau2=pooled.tau2,
        p_value=test.p_value,
        ci=two_level_interval(*sets, leans, d=pooled.mean, seed=seed),
        exact=test.exact,
        p_standard_error=test.standard_error,
        alternative=alternative,
        score=float(np.mean(means_x) - np.mean(means_y)),
        scores_x=tuple(means_x),
        scores_y=tuple(means_y),
    )


def _summary(effects: Floats) -> DrawnEffects:
    low, median, high = np.quantile(effects, [0.025, 0.5, 0.975]).tolist()
    return DrawnEffects(float(effects.mean()), float(effects.std()), low, median, high)
