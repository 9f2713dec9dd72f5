"""MAC: how far words are from several sets of attributes."""

from __future__ import annotations

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
from tiltmeter.readings import DISTANCE, Estimate, ItemMeaning, Statistic, interval_text


def _make(*, targets: SomeGroups = OCCUPATIONS, attributes: SomeGroups = GENDERS[::-1]) -> list[Part[WordStimuli]]:
    return compared_sets("mac", targets, attributes, (1, 1), (1, 20))


def _measure(vectors: WordVectors, options: Options) -> Measured:
    (words,) = vectors.targets(at_least=2)
    sets = vectors.attributes()
    found = measures.mac(words.vectors, [to.vectors for to in sets], seed=options.seed)
    columns = dict(zip((f"distance to {to.label}" for to in sets), zip(*found.by_target, strict=True), strict=True))
    return Measured(
        Estimate("mean cosine distance", found.score, DISTANCE, found.ci),
        None,
        f"The mean cosine distance of {words.label} from {' and '.join(to.label for to in sets)} is {found.score:.2f} "
        f"({interval_text(found.ci)}); 1 would mean unrelated. It does not tell to which group they are nearer.",
        tuple(words.items([sum(row) / len(row) for row in found.by_target], **columns)),
        ItemMeaning("mean distance"),
        Statistic("mean of units"),
        n_items=len(words),
        n_units=len(words),
    )


MAC = word_kind(
    "mac",
    _measure,
    _make,
    summary="Mean average cosine distance of words from several attribute sets",
    citation="Manzini, Lim, Black & Tsvetkov 2019, NAACL",
    idea="neutral words should be unrelated to words for groups of people.",
)
