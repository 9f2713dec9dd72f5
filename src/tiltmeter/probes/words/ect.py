"""ECT: do two groups rank attributes alike?"""

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
from tiltmeter.readings import COHERENCE, Estimate, ItemMeaning, Statistic, interval_text


def _make(*, targets: SomeGroups = GENDERS, attributes: SomeGroups = OCCUPATIONS) -> list[Part[WordStimuli]]:
    return compared_sets("ect", targets, attributes, (2, 2), (1, 1))


def _measure(vectors: WordVectors, options: Options) -> Measured:
    x, y = vectors.targets()
    (a,) = vectors.attributes(at_least=4)
    found = measures.ect(x.vectors, y.vectors, a.vectors, seed=options.seed)
    columns = {f"cos to {x.label}": found.similarities_x, f"cos to {y.label}": found.similarities_y}
    return Measured(
        Estimate("coherence rho", found.score, COHERENCE, found.ci),
        None,
        f"{x.title} and {y.label} rank {a.label} with a correlation of {found.score:.2f} "
        f"({interval_text(found.ci)}); 1 would be the same order for both.",
        tuple(a.items([None] * len(a), **columns)),
        ItemMeaning("similarity"),
        Statistic("spearman", tuple(columns)),
        n_items=len(a),
        n_units=len(a),
    )


ECT = word_kind(
    "ect",
    _measure,
    _make,
    summary="Embedding coherence: do two groups rank attributes alike? (Spearman)",
    citation="Dev & Phillips 2019, AISTATS",
    idea="two groups should rank attribute words by similarity in the same order.",
)
