"""Probes along a direction: of pairs such as he/she (RIPA, direct bias), or between groups (SemAxis, SAME)."""

from __future__ import annotations

import math

import numpy as np

from tiltmeter import measures
from tiltmeter.probes.kind import Measured, Options
from tiltmeter.probes.words.word_sets import GENDERS, OCCUPATIONS, WordVectors, along_pairs, compares, word_kind
from tiltmeter.readings import DIFFERENCE, SIZE, Estimate, ItemMeaning, Poles, Statistic, interval_text
from tiltmeter.statistics import bootstrap_interval


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
    )


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
    )


def _semaxis(vectors: WordVectors, options: Options) -> Measured:
    (words,) = vectors.targets(at_least=2)
    one, two = vectors.attributes()
    found = measures.semaxis(words.vectors, one.vectors, two.vectors)
    ci = bootstrap_interval(found.scores, seed=options.seed)
    low, high = int(np.argmin(found.scores)), int(np.argmax(found.scores))
    return Measured(
        Estimate("mean position on the axis", found.mean, DIFFERENCE, ci),
        Poles(f"{words.label} → {one.label}", f"{words.label} → {two.label}"),
        f"On the axis from {two.label} (-) to {one.label} (+), {words.label} stand at {found.mean:+.3f} on average "
        f"({interval_text(ci, digits=3)}), from {words.inputs[low]} ({found.scores[low]:+.2f}) to {words.inputs[high]} "
        f"({found.scores[high]:+.2f}).",
        tuple(words.items(found.scores)),
        ItemMeaning("position on the axis", Poles(one.label, two.label)),
        Statistic("mean of units"),
    )


def _same(vectors: WordVectors, options: Options) -> Measured:
    (words,) = vectors.targets(at_least=2)
    sets = vectors.attributes()
    found = measures.same(words.vectors, [to.vectors for to in sets], seed=options.seed)
    poles, item_poles, detail = None, None, ""
    if found.skew is not None and found.stereotype is not None:
        # The effect is a size. Which way the words lean on the whole is another question, with an interval of its own.
        ci = bootstrap_interval(found.by_word, seed=options.seed)
        towards = sets[0].label if found.skew > 0 else sets[1].label
        clear = 0.0 not in ci
        poles = Poles(f"{words.label} → {towards}" if clear else "")
        item_poles = Poles(sets[0].label, sets[1].label)
        detail = (
            f" On the whole they lean {f'to {towards}' if clear else 'neither way clearly'} (skew {found.skew:+.3f}, "
            f"{interval_text(ci, digits=3)}); single words differ by {found.stereotype:.3f} (stereotype)."
        )
    return Measured(
        Estimate("mean bias", found.score, SIZE, found.ci),
        poles,
        f"{words.title} lie {found.score:.3f} along what separates {' and '.join(to.label for to in sets)} "
        f"({interval_text(found.ci, digits=3)}), where 0 is level and 1 the most.{detail}",
        tuple(words.items(found.by_word)),
        ItemMeaning("bias", item_poles),
        Statistic("mean of units", absolute=True),
    )


RIPA = word_kind(
    "ripa",
    _ripa,
    along_pairs,
    summary="Relational inner product of words with pairs such as he/she",
    citation="Ethayarajh, Duvenaud & Hirst 2019, ACL",
    idea="neutral words should have no inner product with the relation that pairs of words share.",
)
DIRECT_BIAS = word_kind(
    "direct_bias",
    _direct,
    along_pairs,
    summary="How much of neutral words lies along the direction of pairs such as he/she",
    citation="Bolukbasi, Chang, Zou, Saligrama & Kalai 2016, NeurIPS",
    idea="neutral words should have no part in the direction that separates pairs of words.",
)
SEMAXIS = word_kind(
    "semaxis",
    _semaxis,
    compares(OCCUPATIONS, GENDERS[::-1], n_targets=(1, 1), n_attributes=(2, 2)),
    summary="Where words stand on the axis between two poles",
    citation="An, Kwak & Ahn 2018, ACL",
    idea="neutral words should stand in the middle between two poles.",
)
SAME = word_kind(
    "same",
    _same,
    compares(OCCUPATIONS, GENDERS[::-1], n_targets=(1, 1), n_attributes=(2, 20)),
    summary="SAME: how far words lie along what separates the groups",
    citation="Schroeder, Schulz & Hammer 2022, arXiv:2203.14603; IJCNN 2024",
    idea="neutral words should have no part in the directions that separate groups.",
)
