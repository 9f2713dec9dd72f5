"""WEAT for more than two groups or sets of attributes: one test for all."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tiltmeter import measures
from tiltmeter.measures.geometry import cosines, rows
from tiltmeter.probes.kind import Measured, Options, Part
from tiltmeter.probes.words.word_sets import (
    PLEASANT,
    RELIGIONS,
    KnownWords,
    SomeGroups,
    WordStimuli,
    WordVectors,
    compared_sets,
    word_kind,
)
from tiltmeter.readings import ALPHA, ETA, Estimate, ItemMeaning, Poles, Statistic, p_text
from tiltmeter.statistics.groups import Floats


def _make(*, targets: SomeGroups = RELIGIONS, attributes: SomeGroups = PLEASANT) -> list[Part[WordStimuli]]:
    return compared_sets("multi_weat", targets, attributes, (2, 20), (2, 20))


def _measure(vectors: WordVectors, options: Options) -> Measured:
    groups, sets = vectors.targets(at_least=2), vectors.attributes()
    found = measures.multi_weat(
        [group.vectors for group in groups],
        [words.vectors for words in sets],
        permutations=options.permutations,
        seed=options.seed,
    )
    table = {
        (group.label, words.label): value
        for group, row in zip(groups, found.associations, strict=True)
        for words, value in zip(sets, row, strict=True)
    }
    (group, pole), strongest = max(table.items(), key=lambda item: item[1])
    effect = Estimate(
        "group effect (eta)", found.effect_size, ETA, p_value=found.p_value, alternative="two-sided", exact=False
    )
    pairs = [
        f"{groups[c.targets[0]].label} / {groups[c.targets[1]].label}"
        + (f" on {sets[c.attributes[0]].label} / {sets[c.attributes[1]].label}" if len(sets) > 2 else "")
        for c in found.contrasts
        if c.p_adjusted <= ALPHA
    ]
    detail = f" Pairs that differ after Holm's correction: {'; '.join(pairs)}." if pairs else ""
    verdict = (
        f"({p_text(found.p_value)}); the strongest lean is {group} towards {pole} ({strongest:+.2f} SD).{detail}"
        if effect.significant
        else f"and chance alone could explain as much ({p_text(found.p_value)})."
    )
    columns = [f"lean to {words.label}" for words in sets]
    return Measured(
        effect,
        Poles(f"most: {group} → {pole}"),
        f"Which group a word belongs to explains {found.effect_size**2:.0%} of how it leans {verdict}",
        tuple(
            item
            for words in groups
            for item in words.items(
                [None] * len(words), **dict(zip(columns, _leans(words, sets).T.tolist(), strict=True))
            )
        ),
        ItemMeaning("lean"),
        Statistic("eta", tuple(columns)),
        n_items=found.n,
        n_units=found.n,
    )


def _leans(words: KnownWords, sets: Sequence[KnownWords]) -> Floats:
    """Of every word the mean cosine with every set, against its mean over the sets."""
    matrix = rows(words.label, words.vectors)
    near = np.stack([cosines(matrix, rows(to.label, to.vectors)).mean(axis=1) for to in sets], axis=1)
    leans: Floats = near - near.mean(axis=1, keepdims=True)
    return leans


MULTI_WEAT = word_kind(
    "multi_weat",
    _measure,
    _make,
    summary="WEAT for more than two groups or attribute sets, one test for all",
    citation="generalises Caliskan et al. 2017; eta squared with a permutation test",
    idea="words for any of several groups should be equally similar to every set of attribute words.",
)
