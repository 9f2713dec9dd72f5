"""Probes along a direction: of pairs such as he/she (RIPA, direct bias), or between groups (SemAxis, SAME)."""

from __future__ import annotations

import math

import numpy as np

from tiltmeter import measures
from tiltmeter.measures.deals import DEALS
from tiltmeter.measures.geometry import word_families
from tiltmeter.probes.kind import Measured, Options
from tiltmeter.probes.words.word_sets import (
    GENDERS,
    OCCUPATIONS,
    WordVectors,
    along_arbitrary,
    along_pairs,
    compares,
    two_way_evidence,
    word_kind,
)
from tiltmeter.readings import (
    ALPHA,
    DIFFERENCE,
    SIZE,
    Estimate,
    Evidence,
    ItemMeaning,
    Poles,
    Statistic,
    interval_text,
    p_text,
)
from tiltmeter.statistics.families import Placebo
from tiltmeter.statistics.two_way import TwoWay


def _ripa(vectors: WordVectors, options: Options) -> Measured:
    (words,) = vectors.targets(at_least=2)
    pairs, one, two = vectors.pairs()
    result = measures.ripa(words.vectors, one, two)
    effect = _tested("mean inner product", result.score, result.test)
    towards = pairs.label_1 if result.score > 0 else pairs.label_2
    placebo = along_arbitrary(vectors, measures.ripa_placebo, pairs, value=result.score, seed=options.seed)
    return Measured(
        effect,
        Poles(f"{words.label} → {pairs.label_1}", f"{words.label} → {pairs.label_2}"),
        f"Along {pairs.label} these {words.label} lean towards {towards} on average ({result.score:+.3f}, "
        f"{interval_text(result.ci, digits=3)}).{_single(result.test)}",
        tuple(words.items(result.by_word)),
        ItemMeaning("inner product", Poles(pairs.label_1, pairs.label_2)),
        Statistic("mean of units"),
        evidence=two_way_evidence(result.test, (words.label, pairs.label), 0, placebo),
        power=result.test.power,
    )


def _direct(vectors: WordVectors, options: Options) -> Measured:
    (words,) = vectors.targets(at_least=2)
    pairs, one, two = vectors.pairs()
    families = word_families(words.vectors, np.concatenate([one, two]))
    result = measures.direct_bias(words.vectors, measures.bias_direction(one, two), families=families)
    placebo = along_arbitrary(vectors, measures.direct_bias_placebo, pairs, value=result.score, seed=options.seed)
    width = words.vectors.shape[1]
    extremes = sorted(zip(result.by_word, words.inputs, strict=True))
    return Measured(
        Estimate("direct bias", result.score, SIZE, result.ci),
        None,
        f"The mean absolute cosine between {words.label} and the direction of {pairs.label} is {result.score:.3f} "
        f"({interval_text(result.ci, digits=3)}); between unrelated directions in {width} dimensions it is "
        f"about {math.sqrt(2 / (math.pi * width)):.3f}. Most towards {pairs.label_1}: {extremes[-1][1]}; most towards "
        f"{pairs.label_2}: {extremes[0][1]}. Words have some component along any direction, so a value above 0 is not "
        "in itself a finding; it is not tested.",
        tuple(words.items(result.by_word)),
        ItemMeaning("cosine", Poles(pairs.label_1, pairs.label_2)),
        Statistic("mean of units", absolute=True),
        evidence=Evidence((), (), placebo=placebo) if placebo else None,
    )


def _semaxis(vectors: WordVectors, options: Options) -> Measured:
    (words,) = vectors.targets(at_least=2)
    one, two = vectors.attributes()
    kin = vectors.kin()
    result = measures.semaxis(words.vectors, one.vectors, two.vectors, **kin)
    low, high = int(np.argmin(result.scores)), int(np.argmax(result.scores))
    return Measured(
        _tested("mean position on the axis", result.mean, result.test),
        Poles(f"{words.label} → {one.label}", f"{words.label} → {two.label}"),
        f"On the axis from {two.label} (-) to {one.label} (+), {words.label} stand at {result.mean:+.3f} on average "
        f"({interval_text(result.ci, digits=3)}), from {words.inputs[low]} "
        f"({result.scores[low]:+.2f}) to {words.inputs[high]} ({result.scores[high]:+.2f}).{_single(result.test)}",
        tuple(words.items(result.scores)),
        ItemMeaning("position on the axis", Poles(one.label, two.label)),
        Statistic("mean of units"),
        evidence=two_way_evidence(
            result.test,
            _labels(result.test, words.label, one.label, two.label),
            len(kin["partners"]),
            _on_axis(vectors, result.mean, options),
        ),
        power=result.test.power,
    )


def _same(vectors: WordVectors, options: Options) -> Measured:
    (words,) = vectors.targets(at_least=2)
    sets = vectors.attributes()
    attributes = [to.vectors for to in sets]
    deals = min(DEALS, options.permutations)
    partners = vectors.kin()["partners"] if len(sets) == 2 else ()
    result = measures.same(words.vectors, attributes, partners=partners, permutations=deals, seed=options.seed)
    effect = Estimate("mean bias", result.score, SIZE, result.ci, result.p_value, "greater", False)
    poles, item_poles, detail = None, None, ""
    if result.skew_test is not None:
        # The effect is a size. Which way the words lean on the whole is another question, with a test of its own.
        skew = result.skew_test
        towards = sets[0].label if skew.value > 0 else sets[1].label
        clear = skew.p_value <= ALPHA
        poles = Poles(f"{words.label} → {towards}" if clear else "")
        item_poles = Poles(sets[0].label, sets[1].label)
        detail = (
            f" Overall they {f'lean towards {towards}' if clear else 'do not clearly lean either way'} (skew "
            f"{skew.value:+.3f}, {interval_text(skew.ci, digits=3)}, {p_text(skew.p_value)}); single words differ by "
            f"{result.stereotype:.3f} (stereotype)."
        )
    return Measured(
        effect,
        poles,
        f"{words.title} lie {result.score:.3f} along what separates {' and '.join(to.label for to in sets)} "
        f"({interval_text(result.ci, digits=3)}), where 0 is level and 1 the maximum. The test compares this with "
        f"the same words dealt to the groups at random.{detail}",
        tuple(words.items(result.by_word)),
        ItemMeaning("bias", item_poles),
        Statistic("mean of units", absolute=True),
        evidence=Evidence(
            (("attributes dealt at random", result.p_value),),
            (),
            placebo=_on_axis(vectors, result.score, options, size_only=True) if len(sets) == 2 else None,
        ),
    )


def _tested(name: str, value: float, result: TwoWay) -> Estimate:
    return Estimate(name, value, DIFFERENCE, result.ci, result.p_value, "two-sided", False)


def _single(result: TwoWay) -> str:
    """What to say where there is one pair, or one word at a pole."""
    single = " The direction has a single example, so how much another one would change the result is unknown."
    return single if result.by_others is None else ""


def _labels(result: TwoWay, words: str, one: str, two: str) -> tuple[str, ...]:
    """What the test counts the families of: both poles, or their matched pairs."""
    return (words, one, two) if len(result.families) == 3 else (words, f"{one} / {two}")


def _on_axis(vectors: WordVectors, value: float, options: Options, *, size_only: bool = False) -> Placebo | None:
    """The same words on axes between arbitrary words; None where the model knows too few."""
    (words,), (one, two) = vectors.targets(), vectors.attributes()
    return vectors.placebo(
        measures.axis_placebo,
        [*one.words, *two.words],
        words=words.vectors,
        value=value,
        sizes=(len(one), len(two)),
        size_only=size_only,
        seed=options.seed,
    )


RIPA = word_kind(
    "ripa",
    _ripa,
    along_pairs,
    placebo=True,
    summary="Relational inner product of words with pairs such as he/she",
    citation="Ethayarajh, Duvenaud & Hirst 2019, ACL",
    idea="neutral words should have no inner product with the relation that pairs of words share.",
)
DIRECT_BIAS = word_kind(
    "direct_bias",
    _direct,
    along_pairs,
    placebo=True,
    summary="How far neutral words lie along the direction of pairs such as he/she",
    citation="Bolukbasi, Chang, Zou, Saligrama & Kalai 2016, NeurIPS",
    idea="neutral words should have no component along the direction that separates pairs of words.",
)
SEMAXIS = word_kind(
    "semaxis",
    _semaxis,
    compares(OCCUPATIONS, GENDERS[::-1], n_targets=(1, 1), n_attributes=(2, 2)),
    placebo=True,
    summary="Where words lie on the axis between two poles",
    citation="An, Kwak & Ahn 2018, ACL",
    idea="neutral words should stand half-way between the two poles.",
)
SAME = word_kind(
    "same",
    _same,
    compares(OCCUPATIONS, GENDERS[::-1], n_targets=(1, 1), n_attributes=(2, 20)),
    placebo=True,
    summary="SAME: how far words lie along the directions that separate the groups",
    citation="Schroeder, Schulz & Hammer 2022, arXiv:2203.14603; IJCNN 2024",
    idea="neutral words should have no component along the directions that separate groups.",
)
