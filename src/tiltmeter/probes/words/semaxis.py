"""SemAxis: where words stand on the axis between two poles."""

from __future__ import annotations

import numpy as np

from tiltmeter import measures
from tiltmeter.probes.kind import Measured, Options, Part
from tiltmeter.probes.words.word_sets import (
    GENDERS,
    OCCUPATIONS,
    SomeGroups,
    WordStimuli,
    WordVectors,
    compared_sets,
    word_kind,
)
from tiltmeter.readings import DIFFERENCE, Estimate, ItemMeaning, Poles, Statistic, interval_text
from tiltmeter.statistics import bootstrap_interval


def _make(*, targets: SomeGroups = OCCUPATIONS, attributes: SomeGroups = GENDERS[::-1]) -> list[Part[WordStimuli]]:
    return compared_sets("semaxis", targets, attributes, (1, 1), (2, 2))


def _measure(vectors: WordVectors, options: Options) -> Measured:
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
        n_items=len(words),
        n_units=len(words),
    )


SEMAXIS = word_kind(
    "semaxis",
    _measure,
    _make,
    summary="Where words stand on the axis between two poles",
    citation="An, Kwak & Ahn 2018, ACL",
    idea="neutral words should stand in the middle between two poles.",
)
