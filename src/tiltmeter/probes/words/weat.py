"""WEAT: do two groups of words lean towards two sets of attributes?"""

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
from tiltmeter.readings import D, Estimate, ItemMeaning, Poles, Statistic, tilt_in_words
from tiltmeter.statistics import minimum_detectable_effect


def _make(*, targets: SomeGroups = GENDERS, attributes: SomeGroups = CAREER_FAMILY) -> list[Part[WordStimuli]]:
    return compared_sets("weat", targets, attributes, (2, 2), (2, 2))


def _measure(vectors: WordVectors, options: Options) -> Measured:
    x, y = vectors.targets(at_least=2)
    a, b = vectors.attributes()
    found = measures.weat(x.vectors, y.vectors, a.vectors, b.vectors, **statistics_options(options))
    detectable = minimum_detectable_effect(len(x), len(y))
    effect = tested("effect size d", found.effect_size, D, found, options)
    groups, poles = (x.label, y.label), (a.label, b.label)
    return Measured(
        effect,
        Poles.crossed(groups, poles),
        tilt_in_words(groups, poles, effect.value, found.ci, found.p_value, (len(x), len(y)), detectable=detectable),
        (*x.items(found.scores_x), *y.items(found.scores_y)),
        ItemMeaning("lean", Poles(*poles)),
        Statistic("d of units", between=groups),
        n_items=found.n,
        n_units=found.n,
        published=Estimate(
            effect.name,
            effect.value,
            D,
            p_value=found.published_p_value,
            alternative="greater",
            exact=found.exact,
        ),
        repair="The published test is one-sided: it looks only for a tilt in the expected direction. The headline "
        "looks both ways, and adds an interval.",
    )


WEAT = word_kind(
    "weat",
    _measure,
    _make,
    summary="Do two groups of words lean towards two sets of attributes? (effect size d)",
    citation="Caliskan, Bryson & Narayanan 2017, Science 356:183-186",
    idea="words for two groups of people should be equally similar to two sets of attribute words.",
)
