"""RND: are attributes nearer to the average vector of one group?"""

from __future__ import annotations

from tiltmeter import measures
from tiltmeter.probes.kind import Measured, Options, Part
from tiltmeter.probes.words.word_sets import (
    CAREER_FAMILY,
    GENDERS,
    SomeGroups,
    WordStimuli,
    WordVectors,
    compared_sets,
    statistics_options,
    tested,
    word_kind,
)
from tiltmeter.readings import DIFFERENCE, ItemMeaning, Poles, Statistic, interval_text, p_text


def _make(*, targets: SomeGroups = GENDERS, attributes: SomeGroups = CAREER_FAMILY[:1]) -> list[Part[WordStimuli]]:
    return compared_sets("rnd", targets, attributes, (2, 2), (1, 1))


def _measure(vectors: WordVectors, options: Options) -> Measured:
    x, y = vectors.targets()
    (a,) = vectors.attributes(at_least=2)
    found = measures.rnd(x.vectors, y.vectors, a.vectors, **statistics_options(options))
    effect = tested("relative norm distance", found.score, DIFFERENCE, found, options)
    nearer, further = (x.label, y.label) if found.score < 0 else (y.label, x.label)
    numbers = f"difference of distances {found.score:.3f}, {interval_text(found.ci, digits=3)}, {p_text(found.p_value)}"
    place = (
        f"nearer to {nearer} than to {further}"
        if effect.significant
        else f"not clearly nearer to {x.label} or to {y.label}"
    )
    return Measured(
        effect,
        # A distance: where it is positive, the first group is further away.
        Poles(f"{a.label} → {y.label}", f"{a.label} → {x.label}"),
        f"{a.title}: {place} ({numbers}). The interval is about other attribute words, p about other words for the two "
        "groups.",
        tuple(a.items(found.by_attribute)),
        ItemMeaning("difference of the distances", Poles(y.label, x.label)),
        Statistic("mean of units"),
        n_items=len(a),
        n_units=found.n,
    )


RND = word_kind(
    "rnd",
    _measure,
    _make,
    summary="Relative norm distance: are attributes nearer to one group's average vector?",
    citation="Garg, Schiebinger, Jurafsky & Zou 2018, PNAS 115(16)",
    idea="attribute words should be equally far from the averages of two groups.",
)
