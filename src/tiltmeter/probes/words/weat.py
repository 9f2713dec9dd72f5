"""WEAT, its form for more than two groups, and WEFAT: do words lean towards attributes?"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tiltmeter import measures
from tiltmeter.errors import BadInput
from tiltmeter.measures.geometry import cosines, rows
from tiltmeter.probes.kind import Measured, Options, Part, statistics_options, tested
from tiltmeter.probes.words.word_sets import (
    CAREER_FAMILY,
    GENDERS,
    OCCUPATIONS,
    PLEASANT,
    RELIGIONS,
    KnownWords,
    SomeGroups,
    WordStimuli,
    WordVectors,
    compares,
    evidence,
    p_evidence,
    two_way_evidence,
    word_kind,
)
from tiltmeter.readings import (
    ALPHA,
    CORRELATION,
    ETA,
    D,
    Estimate,
    ItemMeaning,
    Poles,
    Statistic,
    interval_text,
    tilt_in_words,
)
from tiltmeter.statistics.groups import Floats

_CALISKAN = "Caliskan, Bryson & Narayanan 2017, Science 356:183-186"


def _make_weat(
    name: str, *, targets: SomeGroups = GENDERS, attributes: SomeGroups = CAREER_FAMILY
) -> list[Part[WordStimuli]]:
    return compares(targets, attributes, n_targets=(2, 2), n_attributes=(2, 2))(name)


def _weat(vectors: WordVectors, options: Options) -> Measured:
    x, y = vectors.targets(at_least=2)
    a, b = vectors.attributes()
    result = measures.weat(x.vectors, y.vectors, a.vectors, b.vectors, **vectors.kin(), **statistics_options(options))
    effect = tested("effect size d", result.effect_size, D, result, options)
    groups, poles = (x.label, y.label), (a.label, b.label)
    return Measured(
        effect,
        Poles.crossed(groups, poles),
        tilt_in_words(groups, poles, effect.value, result.ci),
        (*x.items(result.scores_x), *y.items(result.scores_y)),
        ItemMeaning("lean", Poles(*poles)),
        Statistic("d of units", between=groups),
        published=Estimate(
            effect.name,
            effect.value,
            D,
            p_value=result.published_p_value,
            alternative="greater",
            exact=result.exact,
        ),
        repair="The published test is one-sided, treats words as independent and covers these attributes only. The "
        "headline test is two-sided, counts word families once, and asks whether the tilt holds for other words on "
        "either side.",
        evidence=evidence(result.crossed, (*groups, *poles), vectors.association_placebo(result.effect_size, options)),
        power=result.power,
    )


def _multi_weat(vectors: WordVectors, options: Options) -> Measured:
    groups, sets = vectors.targets(at_least=2), vectors.attributes()
    result = measures.multi_weat(
        [group.vectors for group in groups],
        [words.vectors for words in sets],
        families=[words.families for words in (*groups, *sets)],
        permutations=options.permutations,
        seed=options.seed,
    )
    table = {
        (group.label, words.label): value
        for group, row in zip(groups, result.associations, strict=True)
        for words, value in zip(sets, row, strict=True)
    }
    (group, pole), strongest = max(table.items(), key=lambda item: item[1])
    effect = Estimate(
        "group effect (eta)", result.effect_size, ETA, p_value=result.p_value, alternative="two-sided", exact=False
    )
    pairs = [
        f"{groups[c.targets[0]].label} / {groups[c.targets[1]].label}"
        + (f" on {sets[c.attributes[0]].label} / {sets[c.attributes[1]].label}" if len(sets) > 2 else "")
        for c in result.contrasts
        if c.p_adjusted <= ALPHA
    ]
    detail = f" Groups that differ after correction for all pairs: {'; '.join(pairs)}." if pairs else ""
    if result.p_targets <= ALPHA < result.p_value:
        detail += " It holds for other words of the groups, but not for other words of the attributes."
    columns = [f"lean to {words.label}" for words in sets]
    return Measured(
        effect,
        Poles(f"most: {group} → {pole}"),
        f"The group explains {result.effect_size**2:.0%} of the variance of these leans; the strongest lean is {group} "
        f"towards {pole} ({strongest:+.2f} SD).{detail}",
        tuple(
            item
            for words in groups
            for item in words.items(
                [None] * len(words), **dict(zip(columns, _leans(words, sets).T.tolist(), strict=True))
            )
        ),
        ItemMeaning("lean"),
        Statistic("eta", tuple(columns)),
        evidence=p_evidence(
            {"other targets": result.p_targets, "other attributes": result.p_attributes},
            zip((words.label for words in (*groups, *sets)), result.families, strict=True),
            vectors.placebo(
                measures.multi_weat_placebo,
                [word for words in sets for word in words.words],
                targets=[group.vectors for group in groups],
                eta=result.effect_size,
                sizes=[len(words.words) for words in sets],
                seed=options.seed,
            ),
        ),
    )


def _leans(words: KnownWords, sets: Sequence[KnownWords]) -> Floats:
    """Of every word the mean cosine with every set, against its mean over the sets."""
    matrix = rows(words.label, words.vectors)
    near = np.stack([cosines(matrix, rows(to.label, to.vectors)).mean(axis=1) for to in sets], axis=1)
    leans: Floats = near - near.mean(axis=1, keepdims=True)
    return leans


def _wefat(vectors: WordVectors, options: Options) -> Measured:
    (words,) = vectors.targets(at_least=4)
    a, b = vectors.attributes(at_least=2)
    facts = vectors.words.targets[0].properties
    column = next((key for word in words.inputs for key in facts.get(word, {})), None)
    if column is None or any(column not in facts.get(word, {}) for word in words.inputs):
        raise BadInput(
            f"'{words.label}': WEFAT relates words to a number known of each (such as female_share), and not every "
            "word has one: add it in the lexicon"
        )
    values = [float(facts[word][column]) for word in words.inputs]
    kin = vectors.kin()
    result = measures.wefat(words.vectors, a.vectors, b.vectors, property=values, **kin, **statistics_options(options))
    published, related = result.correlation, result.test
    assert published is not None  # a property was given
    assert related is not None
    effect = Estimate("correlation r", published.r, CORRELATION, related.ci, related.p_value, "two-sided", False)
    name = column.replace("_", " ")
    placebo = vectors.placebo(
        measures.wefat_placebo,
        [*a.words, *b.words],
        words=words.vectors,
        property=values,
        r=published.r,
        sizes=(len(a), len(b)),
        seed=options.seed,
    )
    others = (a.label, b.label) if len(related.families) == 3 else (f"{a.label} / {b.label}",)
    return Measured(
        effect,
        Poles(f"high {name} → {a.label}", f"high {name} → {b.label}"),
        f"The higher the {name} of {words.label} in the world, the {'more' if published.r > 0 else 'less'} they "
        f"lean towards {a.label} rather than {b.label} (r = {published.r:.2f}, {interval_text(related.ci)}).",
        tuple(words.items(result.effect_sizes, **{"p_value": result.p_values, column: values})),
        ItemMeaning("effect of the word", Poles(a.label, b.label)),
        Statistic("pearson", ("value", column)),
        published=Estimate(effect.name, published.r, CORRELATION, published.ci, published.p_value, "two-sided", False),
        repair="The published test treats words as independent and the attribute words as the only ones there are. "
        "The headline generalises to other words and other attributes, and counts similar words once.",
        evidence=two_way_evidence(related, (words.label, *others), len(kin["partners"]), placebo),
        power=related.power,
    )


WEAT = word_kind(
    "weat",
    _weat,
    _make_weat,
    placebo=True,
    summary="Do two groups of words lean towards two sets of attributes? (effect size d)",
    citation=_CALISKAN,
    idea="words for two groups of people should be equally similar to two sets of attribute words.",
)
MULTI_WEAT = word_kind(
    "multi_weat",
    _multi_weat,
    compares(RELIGIONS, PLEASANT, n_targets=(2, 20), n_attributes=(2, 20)),
    placebo=True,
    summary="WEAT for more than two groups or attribute sets, one test for all",
    citation="generalises Caliskan et al. 2017; eta squared, tested by permutation",
    idea="words for each of several groups should be equally similar to every set of attribute words.",
)
WEFAT = word_kind(
    "wefat",
    _wefat,
    compares(OCCUPATIONS, GENDERS[::-1], n_targets=(1, 1), n_attributes=(2, 2)),
    placebo=True,
    summary="Does the lean of words follow a fact about them, such as the share of women in an occupation?",
    citation=_CALISKAN,
    idea="a word, such as an occupation, should not reveal who is employed in it.",
)
