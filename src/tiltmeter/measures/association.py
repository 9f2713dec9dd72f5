"""Association of sentence sets, and SEAT: many sentences a word, so the word is the unit."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.measures.geometry import (
    UNNAMED,
    Families,
    Partners,
    generalise,
    leans,
    mean_directions,
    rows,
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
    pooled_d,
    within_groups,
)
from tiltmeter.statistics.groups import Units


@dataclasses.dataclass(frozen=True, slots=True)
class PublishedAssociation(Result):
    """The statistics as published: each sentence an independent observation, which it is not."""

    effect_size: float
    p_value: float
    n: int


@dataclasses.dataclass(frozen=True, slots=True)
class AssociationResult(Result):
    """Headline: d with p, interval and power by word. ``cohens_d`` divides by the pooled SD instead."""

    effect_size: float
    cohens_d: float
    score: float
    p_value: float
    ci: Interval
    crossed: CrossedTest
    power: Power | None
    exact: bool
    standard_error: float
    alternative: str
    ddof: int
    n: int
    n_units: int
    scores_1: tuple[float, ...]
    scores_2: tuple[float, ...]
    published: PublishedAssociation


def association(
    targets_1: ArrayLike,
    targets_2: ArrayLike,
    attributes_1: ArrayLike,
    attributes_2: ArrayLike,
    *,
    units_1: Units | None = None,
    units_2: Units | None = None,
    attribute_units_1: Units | None = None,
    attribute_units_2: Units | None = None,
    partners: Partners = (),
    families: Families = UNNAMED,
    published_times: Sequence[Sequence[int]] = (),
    published_alternative: Alternative | None = None,
    alternative: Alternative = "two-sided",
    ddof: int = 1,
    permutations: int = 10_000,
    seed: int = 0,
) -> AssociationResult:
    """Do sentences about targets 1 lean towards attributes 1 more than those about targets 2?

    association(e) = mean cos(e, attributes 1) - mean cos(e, attributes 2) of every target sentence;
    d = (mean over targets 1 - mean over targets 2) / SD of all of them. Positive: targets 1 lean towards
    attributes 1; 0 is level.

    ``units_1`` and ``units_2`` name the word each sentence stands for. Sentences of one word are alike, so
    p permutes words and ci resamples words, each word counting once; with as many sentences for every
    word d is the published one. As in ``weat``, p and ci generalise over the attributes too, whose words
    ``attribute_units_1`` and ``attribute_units_2`` name, and count families of words; ``partners`` and ``families`` go
    by words. ``published`` treats every sentence as independent and attributes as fixed; it counts each sentence so
    many times as ``published_times`` says for targets 1, targets 2, attributes 1 and attributes 2, where a list repeats
    words, and tests ``published_alternative``, if that is another.

    >>> he, she = [[1.0, 0.1], [0.9, 0.2], [0.8, 0.0]], [[0.1, 1.0], [0.2, 0.9], [0.0, 0.7]]
    >>> words = {"units_1": ["he", "he", "man"], "units_2": ["she", "she", "woman"]}
    >>> found = association(he, she, [[1.0, 0.0]], [[0.0, 1.0]], **words)
    >>> round(found.effect_size, 2), round(found.p_value, 3), round(found.published.p_value, 2)
    (1.82, 0.333, 0.1)
    """
    if (units_1 is None) != (units_2 is None):
        raise BadInput("name the units of both groups of targets, or of neither")
    t_1 = rows("targets 1", targets_1)
    t_2 = rows("targets 2", targets_2, like=t_1)
    a_1, a_2 = rows("attributes 1", attributes_1, like=t_1), rows("attributes 2", attributes_2, like=t_1)
    scores_1, scores_2 = leans(t_1, a_1, a_2), leans(t_2, a_1, a_2)
    words_1, words_2 = by_unit(scores_1, units_1), by_unit(scores_2, units_2)
    if min(words_1.n, words_2.n) < 2:
        raise BadInput("each group of targets needs sentences about at least two different words")
    d = concatenated_d(words_1, words_2, ddof=ddof)
    crossed = generalise(
        mean_directions(t_1, units_1),
        mean_directions(t_2, units_2),
        mean_directions(a_1, attribute_units_1),
        mean_directions(a_2, attribute_units_2),
        partners=partners,
        families=families,
        alternative=alternative,
        permutations=permutations,
        seed=seed,
    )
    every = [t_1, t_2, a_1, a_2]
    if published_times:
        every = [np.repeat(each, times, axis=0) for each, times in zip(every, published_times, strict=True)]
    single_1, single_2 = (by_unit(leans(each, *every[2:])) for each in every[:2])
    per_sentence = permutation_test(
        single_1, single_2, alternative=published_alternative or alternative, permutations=permutations, seed=seed
    )
    return AssociationResult(
        effect_size=d,
        cohens_d=pooled_d(words_1, words_2),
        score=float(words_1.means.mean() - words_2.means.mean()),
        p_value=crossed.p_value,
        ci=effect_interval(words_1, words_2, d=d, inflation=crossed.inflation, df=crossed.df, seed=seed),
        crossed=crossed,
        # d is in SDs of sentences; what can be found depends on how words vary, which is less.
        power=crossed.power(within=within_groups(words_1, words_2), sizes=(words_1.n, words_2.n)),
        exact=crossed.headline.exact,
        standard_error=crossed.headline.standard_error,
        alternative=alternative,
        ddof=ddof,
        n=len(scores_1) + len(scores_2),
        n_units=words_1.n + words_2.n,
        scores_1=tuple(scores_1.tolist()),
        scores_2=tuple(scores_2.tolist()),
        published=PublishedAssociation(
            effect_size=concatenated_d(single_1, single_2, ddof=ddof),
            p_value=per_sentence.p_value,
            n=single_1.n + single_2.n,
        ),
    )
