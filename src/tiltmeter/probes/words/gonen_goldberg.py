"""The tests of Gonen & Goldberg: do words cluster by their lean, and do their neighbours share it?"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from tiltmeter import measures
from tiltmeter.measures.deals import DEALS
from tiltmeter.measures.geometry import word_families
from tiltmeter.probes.kind import Measured, Options
from tiltmeter.probes.words.word_sets import KnownWords, WordVectors, along_arbitrary, along_pairs, word_kind
from tiltmeter.readings import (
    CORRELATION,
    SHARE,
    Estimate,
    Evidence,
    ItemMeaning,
    Poles,
    Statistic,
    interval_text,
)
from tiltmeter.statistics.families import Labels, Placebo
from tiltmeter.statistics.groups import Floats
from tiltmeter.stimuli import Pairs

_CITATION = "Gonen & Goldberg 2019, NAACL"
_REPAIR = (
    "Neighbouring words are alike in any direction, so the published test finds a lean along pairs of arbitrary words "
    "too. The headline compares it with the same words dealt to the two sides at random; its lean is along the mean "
    "difference of the sides, the published one along their principal component."
)


@dataclasses.dataclass(frozen=True, slots=True)
class _Leaning:
    """Words and how they lean along pairs: by deals of the pairs' words, the true one first, and as published."""

    words: KnownWords
    families: Labels
    pairs: Pairs
    dealt: Floats
    published: Floats
    vectors: WordVectors
    seed: int

    @property
    def leans(self) -> Floats:
        return self.dealt[:, 0]

    def evidence(self, p_value: float, measure: Callable[..., Placebo], **options: Any) -> Evidence:
        """What the p-value rests on, beside what a measure of leans gives along arbitrary pairs."""

        def along(**drawn: Any) -> Placebo:
            return measure(self.words.vectors, measures.leans_between(**drawn), **options)

        placebo = along_arbitrary(self.vectors, along, self.pairs, seed=self.seed)
        return Evidence((("the words of the pairs dealt at random", p_value),), (), placebo=placebo)

    @property
    def against(self) -> str:
        """What the test compares with."""
        return f"The test compares it with the words of {self.pairs.label} dealt to the two sides at random."


def _cluster(vectors: WordVectors, options: Options) -> Measured:
    by = _lean(vectors, options)
    words, pairs = by.words, by.pairs
    result = measures.cluster_deal_test(words.vectors, by.dealt, families=by.families, seed=options.seed)
    low, high = np.array_split(np.argsort(by.published), 2)
    published = measures.cluster_bias(words.vectors[high], words.vectors[low], seed=options.seed)
    name = "cluster accuracy"
    effect = Estimate(name, result.accuracy, SHARE, result.ci, result.p_value, "greater", False)
    return Measured(
        effect,
        Poles("groups separate"),
        f"Clustering that does not know the groups separates words that lean towards {pairs.label_1} from words that "
        f"lean towards {pairs.label_2} for {result.accuracy:.0%} of {words.label} ({interval_text(result.ci)}). "
        f"{by.against}",
        tuple(words.items(by.leans.tolist())),
        ItemMeaning("lean", Poles(pairs.label_1, pairs.label_2)),
        None,  # clusters are made of the vectors, not of the leans
        published=Estimate(name, published.accuracy, SHARE, published.ci, published.p_value, "two-sided", True),
        repair=_REPAIR,
        evidence=by.evidence(result.p_value, measures.cluster_placebo, value=result.accuracy, seed=options.seed),
    )


def _neighbours(vectors: WordVectors, options: Options) -> Measured:
    by = _lean(vectors, options)
    words, pairs = by.words, by.pairs
    k = max(2, min(100, len(words) // 5))
    result = measures.neighbour_deal_test(words.vectors, by.dealt, k=k, families=by.families)
    towards_1 = by.published > np.median(by.published)
    pools = words.vectors[towards_1], words.vectors[~towards_1]
    before = measures.neighbour_bias(words.vectors, by.published, *pools, k=k).correlation
    r, name = result.correlation, "correlation r"
    effect = Estimate(name, r.r, CORRELATION, r.ci, r.p_value, "greater", False)
    return Measured(
        effect,
        Poles("neighbours share the lean", "neighbours lean the other way"),
        f"A word's lean between {pairs.label_1} and {pairs.label_2} correlates with that of its {k} nearest neighbours "
        f"among {words.label} (r = {r.r:.2f}, {interval_text(r.ci)}). {by.against}",
        tuple(words.items(by.leans.tolist(), neighbour_share=result.shares)),
        ItemMeaning("lean", Poles(pairs.label_1, pairs.label_2)),
        Statistic("pearson", ("value", "neighbour_share")),
        published=Estimate(name, before.r, CORRELATION, before.ci, before.p_value, "two-sided", False),
        repair=_REPAIR,
        evidence=by.evidence(r.p_value, measures.neighbour_placebo, value=r.r, k=k),
    )


def _lean(vectors: WordVectors, options: Options) -> _Leaning:
    (words,) = vectors.targets(at_least=8)
    pairs, one, two = vectors.pairs()
    families = word_families(words.vectors, np.concatenate([one, two]))
    dealt = measures.dealt_leans(words.vectors, one, two, deals=min(DEALS, options.permutations), seed=options.seed)
    published = np.array(measures.direct_bias(words.vectors, measures.bias_direction(one, two)).by_word)
    return _Leaning(words, families, pairs, dealt, published, vectors, options.seed)


CLUSTER_BIAS = word_kind(
    "cluster_bias",
    _cluster,
    along_pairs,
    placebo=True,
    summary="Do words that lean towards different groups form clusters?",
    citation=_CITATION,
    idea="words should not cluster by their lean.",
)
NEIGHBOUR_BIAS = word_kind(
    "neighbour_bias",
    _neighbours,
    along_pairs,
    placebo=True,
    summary="Does a word's lean show in its nearest neighbours?",
    citation=_CITATION,
    idea="a word's neighbours should not reveal its lean.",
)
