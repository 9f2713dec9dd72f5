"""Probes along the direction that pairs such as he/she span: RIPA and direct bias."""

from __future__ import annotations

import math

from tiltmeter import measures
from tiltmeter.probes.kind import Measured, Options, Part
from tiltmeter.probes.words.word_sets import (
    DEFINITIONAL,
    OCCUPATIONS,
    SomeGroups,
    WordStimuli,
    WordVectors,
    along_pairs,
    word_kind,
)
from tiltmeter.readings import DIFFERENCE, SIZE, Estimate, ItemMeaning, Poles, Statistic, interval_text
from tiltmeter.stimuli import SomePairs


def _make_ripa(*, targets: SomeGroups = OCCUPATIONS, pairs: SomePairs = DEFINITIONAL) -> list[Part[WordStimuli]]:
    return along_pairs("ripa", targets, pairs)


def _ripa(vectors: WordVectors, options: Options) -> Measured:
    (words,) = vectors.targets(at_least=2)
    pairs, one, two = vectors.pairs()
    found = measures.ripa(words.vectors, one, two, seed=options.seed)
    effect = Estimate("mean inner product", found.score, DIFFERENCE, found.ci)
    towards = f"to {pairs.label_1 if found.score > 0 else pairs.label_2}"
    return Measured(
        effect,
        Poles(f"{words.label} → {pairs.label_1}", f"{words.label} → {pairs.label_2}"),
        f"Along {pairs.label} {words.label} lean {towards if effect.significant else 'neither way clearly'} "
        f"({found.score:+.3f}, {interval_text(found.ci, digits=3)}).",
        tuple(words.items(found.by_word)),
        ItemMeaning("inner product", Poles(pairs.label_1, pairs.label_2)),
        Statistic("mean of units"),
        n_items=len(words),
        n_units=len(words),
    )


def _make_direct(*, targets: SomeGroups = OCCUPATIONS, pairs: SomePairs = DEFINITIONAL) -> list[Part[WordStimuli]]:
    return along_pairs("direct_bias", targets, pairs)


def _direct(vectors: WordVectors, options: Options) -> Measured:
    (words,) = vectors.targets(at_least=2)
    pairs, one, two = vectors.pairs()
    found = measures.direct_bias(words.vectors, measures.bias_direction(one, two), seed=options.seed)
    width = words.vectors.shape[1]
    extremes = sorted(zip(found.by_word, words.inputs, strict=True))
    return Measured(
        Estimate("direct bias", found.score, SIZE, found.ci),
        None,
        f"On average {words.label} have {found.score:.3f} of their direction in common with {pairs.label} "
        f"({interval_text(found.ci, digits=3)}); unrelated directions of {width} dimensions have "
        f"about {math.sqrt(2 / (math.pi * width)):.3f}. Most to {pairs.label_1}: {extremes[-1][1]}; most to "
        f"{pairs.label_2}: {extremes[0][1]}.",
        tuple(words.items(found.by_word)),
        ItemMeaning("cosine", Poles(pairs.label_1, pairs.label_2)),
        Statistic("mean of units", absolute=True),
        n_items=len(words),
        n_units=len(words),
    )


RIPA = word_kind(
    "ripa",
    _ripa,
    _make_ripa,
    summary="Relational inner product of words with pairs such as he/she",
    citation="Ethayarajh, Duvenaud & Hirst 2019, ACL",
    idea="neutral words should have no inner product with the relation that pairs of words share.",
)
DIRECT_BIAS = word_kind(
    "direct_bias",
    _direct,
    _make_direct,
    summary="How much of neutral words lies along the direction of pairs such as he/she",
    citation="Bolukbasi, Chang, Zou, Saligrama & Kalai 2016, NeurIPS",
    idea="neutral words should have no part in the direction that separates pairs of words.",
)
