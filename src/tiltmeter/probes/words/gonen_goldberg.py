"""The tests of Gonen & Goldberg: do words cluster by their lean, and do their neighbours share it?"""

from __future__ import annotations

import numpy as np

from tiltmeter import measures
from tiltmeter.probes.kind import Measured, Options
from tiltmeter.probes.words.word_sets import KnownWords, WordVectors, along_pairs, word_kind
from tiltmeter.readings import CORRELATION, SHARE, Estimate, ItemMeaning, Poles, Statistic, interval_text, p_text
from tiltmeter.statistics.groups import Floats
from tiltmeter.stimuli import Pairs

_CITATION = "Gonen & Goldberg 2019, NAACL"


def _cluster(vectors: WordVectors, options: Options) -> Measured:
    words, pairs, leans = _leans(vectors)
    low, high = np.array_split(np.argsort(leans), 2)
    found = measures.cluster_bias(words.vectors[high], words.vectors[low], seed=options.seed)
    effect = Estimate("cluster accuracy", found.accuracy, SHARE, found.ci, found.p_value, "two-sided", True)
    return Measured(
        effect,
        Poles("groups separate"),
        f"Words that lean to {pairs.label_1} and words that lean to {pairs.label_2} "
        f"{'fall' if effect.significant else 'do not clearly fall'} into clusters of their own: two clusters made "
        f"without knowing the groups find them again for {found.accuracy:.0%} of {words.label} "
        f"({interval_text(found.ci)}, {p_text(found.p_value)}).",
        tuple(words.items(leans.tolist())),
        ItemMeaning("lean", Poles(pairs.label_1, pairs.label_2)),
        None,  # clusters are made of the vectors, not of the leans
    )


def _neighbours(vectors: WordVectors, _options: Options) -> Measured:
    words, pairs, leans = _leans(vectors)
    towards_1 = leans > np.median(leans)
    k = max(2, min(100, len(words) // 5))
    found = measures.neighbour_bias(words.vectors, leans, words.vectors[towards_1], words.vectors[~towards_1], k=k)
    r = found.correlation
    effect = Estimate("correlation r", r.r, CORRELATION, r.ci, r.p_value, "two-sided", False)
    return Measured(
        effect,
        Poles("neighbours share the lean", "neighbours lean the other way"),
        f"A word's lean between {pairs.label_1} and {pairs.label_2} "
        f"{'shows' if effect.significant else 'does not clearly show'} in which of the {words.label} are its {k} "
        f"nearest neighbours (r = {r.r:.2f}, {interval_text(r.ci)}, {p_text(r.p_value)}).",
        tuple(words.items(leans.tolist(), neighbour_share=found.shares)),
        ItemMeaning("lean", Poles(pairs.label_1, pairs.label_2)),
        Statistic("pearson", ("value", "neighbour_share")),
    )


def _leans(vectors: WordVectors) -> tuple[KnownWords, Pairs, Floats]:
    (words,) = vectors.targets(at_least=8)
    pairs, one, two = vectors.pairs()
    return words, pairs, np.array(measures.direct_bias(words.vectors, measures.bias_direction(one, two)).by_word)


CLUSTER_BIAS = word_kind(
    "cluster_bias",
    _cluster,
    along_pairs,
    summary="Do words that lean to two groups fall into clusters of their own?",
    citation=_CITATION,
    idea="words should not be grouped by the lean they have.",
)
NEIGHBOUR_BIAS = word_kind(
    "neighbour_bias",
    _neighbours,
    along_pairs,
    summary="Does a word's lean show in which words stand around it?",
    citation=_CITATION,
    idea="a word's neighbours should not tell its lean.",
)
