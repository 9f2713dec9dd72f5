"""Probes that set two (or more) groups against each other: WEAT, SEAT, association, RND, ECT, multi-group WEAT."""

from __future__ import annotations

import itertools
from typing import Any, cast

import numpy as np

from tiltmeter import measures
from tiltmeter.measures.geometry import cosines, rows
from tiltmeter.models.protocol import Question
from tiltmeter.probes.kind import Options
from tiltmeter.probes.old_kind import Estimate, Kind, Measured
from tiltmeter.probes.wording import ALPHA, interval_text, p_text, tilt
from tiltmeter.probes.words.sets import Answers, Found, Query
from tiltmeter.statistics import Alternative, by_unit, minimum_detectable_effect

_NEARER_ZERO = "nearer to 0 is better"
GENDER_CAREER = {
    "targets": ["gender.male_terms", "gender.female_terms"],
    "attributes": ["attributes.career", "attributes.family"],
}


def _statistics(options: Options) -> dict[str, Any]:
    return {
        "alternative": cast(Alternative, options.alternative),
        "permutations": options.permutations,
        "seed": options.seed,
    }


def _word_items(*scored: tuple[Found, tuple[float, ...], str]) -> tuple[dict[str, Any], ...]:
    return tuple(
        {"word": word, "group": found.label, column: score}
        for found, scores, column in scored
        for word, score in zip(found.inputs, scores, strict=True)
    )


def _headline(found: measures.WeatResult | measures.AssociationResult, options: Options) -> Estimate:
    return Estimate(
        "effect size d",
        found.effect_size,
        0.0,
        _NEARER_ZERO,
        found.ci,
        found.p_value,
        options.alternative,
        found.exact,
        found.standard_error,
    )


def _weat(query: Query, answers: Answers, options: Options) -> Measured:
    x, y = (answers.of(each, at_least=2) for each in query.targets)
    a, b = (answers.of(each) for each in query.attributes)
    found = measures.weat(x.vectors, y.vectors, a.vectors, b.vectors, **_statistics(options))
    one_sided = measures.weat(
        x.vectors, y.vectors, a.vectors, b.vectors, **{**_statistics(options), "alternative": "greater"}
    )
    leans, strength, sentence = tilt(
        (x.label, y.label),
        (a.label, b.label),
        found.effect_size,
        found.ci,
        found.p_value,
        (len(x), len(y)),
        detectable=minimum_detectable_effect(len(x), len(y)),
    )
    effect = _headline(found, options)
    published = Estimate(
        "effect size d",
        found.effect_size,
        0.0,
        _NEARER_ZERO,
        None,
        one_sided.p_value,
        "greater",
        one_sided.exact,
    )
    return Measured(
        effect,
        leans,
        strength,
        sentence,
        _word_items((x, found.scores_x, "lean"), (y, found.scores_y, "lean")),
        len(x) + len(y),
        len(x) + len(y),
        published,
        "The published test is one-sided: it looks only for a tilt in the expected direction. The headline looks both "
        "ways, and adds an interval.",
    )


def _sentences(query: Query, answers: Answers, options: Options) -> Measured:
    t_1, t_2 = (answers.of(each, at_least=2) for each in query.targets)
    a_1, a_2 = (answers.of(each) for each in query.attributes)
    found = measures.association(
        t_1.vectors,
        t_2.vectors,
        a_1.vectors,
        a_2.vectors,
        units_1=t_1.units,
        units_2=t_2.units,
        **_statistics(options),
    )
    words = (len(set(t_1.units)), len(set(t_2.units)))
    # d is in SDs of sentences; what can be found depends on how words vary, which is less.
    means = [by_unit(found.scores_1, t_1.units).means, by_unit(found.scores_2, t_2.units).means]
    narrower = float(np.concatenate(means).std() / np.std(found.scores_1 + found.scores_2))
    leans, strength, sentence = tilt(
        (t_1.label, t_2.label),
        (a_1.label, a_2.label),
        found.effect_size,
        found.ci,
        found.p_value,
        words,
        detectable=narrower * minimum_detectable_effect(*words),
    )
    effect = _headline(found, options)
    published = Estimate(
        "effect size d",
        found.published.effect_size,
        0.0,
        _NEARER_ZERO,
        None,
        found.published.p_value,
        options.alternative,
    )
    items = tuple(
        {"text": text, "word": unit, "group": each.label, "lean": score}
        for each, scores in ((t_1, found.scores_1), (t_2, found.scores_2))
        for text, unit, score in zip(each.inputs, each.units, scores, strict=True)
    )
    return Measured(
        effect,
        leans,
        strength,
        sentence,
        items,
        found.n,
        found.n_units,
        published,
        f"The published test takes all {found.n} sentences as independent. Sentences about one word are alike, so it "
        f"finds tilts that are not there; the headline counts the {found.n_units} words.",
    )


def _rnd(query: Query, answers: Answers, options: Options) -> Measured:
    x, y = (answers.of(each) for each in query.targets)
    (a,) = (answers.of(each, at_least=2) for each in query.attributes)
    found = measures.rnd(x.vectors, y.vectors, a.vectors, **_statistics(options))
    nearer, further = (x.label, y.label) if found.score < 0 else (y.label, x.label)
    numbers = f"difference of distances {found.score:.3f}, {interval_text(found.ci, digits=3)}, {p_text(found.p_value)}"
    clear = found.p_value <= ALPHA
    place = f"nearer to {nearer} than to {further}" if clear else f"not clearly nearer to {x.label} or to {y.label}"
    sentence = (
        f"{a.label[:1].upper()}{a.label[1:]}: {place} ({numbers}). The interval is about other attribute words, p "
        "about other words for the two groups."
    )
    return Measured(
        Estimate(
            "relative norm distance",
            found.score,
            0.0,
            _NEARER_ZERO,
            found.ci,
            found.p_value,
            options.alternative,
            found.exact,
            found.standard_error,
        ),
        f"{a.label} → {nearer}" if clear else "no clear lean",
        "",
        sentence,
        _word_items((a, found.by_attribute, "difference")),
        len(a),
        found.n,
    )


def _ect(query: Query, answers: Answers, options: Options) -> Measured:
    x, y = (answers.of(each) for each in query.targets)
    (a,) = (answers.of(each, at_least=4) for each in query.attributes)
    found = measures.ect(x.vectors, y.vectors, a.vectors, seed=options.seed)
    items = tuple(
        {"word": word, "group": a.label, f"cos to {x.label}": one, f"cos to {y.label}": two}
        for word, one, two in zip(a.inputs, found.similarities_x, found.similarities_y, strict=True)
    )
    return Measured(
        Estimate("coherence rho", found.score, 1.0, "nearer to 1 is better", found.ci),
        "",
        "",
        f"{x.label[:1].upper()}{x.label[1:]} and {y.label} rank {a.label} with a correlation of {found.score:.2f} "
        f"({interval_text(found.ci)}); 1 would be the same order for both.",
        items,
        len(a),
        len(a),
    )


def _multi(query: Query, answers: Answers, options: Options) -> Measured:
    groups = [answers.of(each, at_least=2) for each in query.targets]
    sets = [answers.of(each) for each in query.attributes]
    found = measures.multi_weat(
        [group.vectors for group in groups],
        [each.vectors for each in sets],
        permutations=options.permutations,
        seed=options.seed,
    )
    table = {
        (group.label, pole.label): value
        for (group, row) in zip(groups, found.associations, strict=True)
        for pole, value in zip(sets, row, strict=True)
    }
    (group, pole), strongest = max(table.items(), key=lambda item: item[1])
    clear = found.p_value <= ALPHA
    n = sum(map(len, groups))
    pairs = [
        f"{groups[c.targets[0]].label} / {groups[c.targets[1]].label}"
        + (f" on {sets[c.attributes[0]].label} / {sets[c.attributes[1]].label}" if len(sets) > 2 else "")
        for c in found.contrasts
        if c.p_adjusted <= ALPHA
    ]
    detail = f" Pairs that differ after Holm's correction: {'; '.join(pairs)}." if pairs else ""
    verdict = (
        f"({p_text(found.p_value)}); the strongest lean is {group} towards {pole} ({strongest:+.2f} SD).{detail}"
        if clear
        else f"and chance alone could explain as much ({p_text(found.p_value)})."
    )
    return Measured(
        Estimate(
            "group effect (eta)",
            found.effect_size,
            0.0,
            "nearer to 0 is better",
            None,
            found.p_value,
            "two-sided",
            False,
        ),
        f"most: {group} → {pole}" if clear else "no clear lean",
        "",
        f"Which group a word belongs to explains {found.effect_size**2:.0%} of how it leans {verdict}",
        tuple(
            {
                "word": word,
                "group": each.label,
                **{f"lean to {to.label}": v for to, v in zip(sets, row, strict=True)},
            }
            for each in groups
            for word, row in zip(each.inputs, _leans(each, sets), strict=True)
        ),
        n,
        n,
    )


def _leans(words: Found, sets: list[Found]) -> list[list[float]]:
    """Of every word the mean cosine with every set, against its mean over the sets."""
    near = np.stack(
        [cosines(rows(words.label, words.vectors), rows(each.label, each.vectors)).mean(axis=1) for each in sets],
        axis=1,
    )
    leans: list[list[float]] = (near - near.mean(axis=1, keepdims=True)).tolist()
    return leans


def labels(query: Query) -> str:
    """A title made from the sets: who is compared, on what.

    >>> labels(Query())
    ''
    """
    targets = " / ".join(each.label for each in query.targets)
    attributes = " / ".join(each.label for each in query.attributes)
    pairs = query.pairs.label if query.pairs else ""
    return " × ".join(part for part in itertools.chain((targets, attributes, pairs)) if part)


KINDS = (
    Kind(
        "weat",
        "Do two groups of words lean towards two sets of attributes? (effect size d)",
        Question.WORDS,
        _weat,
        (2, 2),
        (2, 2),
        GENDER_CAREER,
        "Caliskan, Bryson & Narayanan 2017, Science 356:183-186",
        "words for two groups of people should be equally similar to two sets of attribute words.",
    ),
    Kind(
        "seat",
        "WEAT on bleached sentences such as 'This is a nurse.'; words are the unit",
        Question.TEXTS,
        _sentences,
        (2, 2),
        (2, 2),
        {**GENDER_CAREER, "templates": "seat.bleached"},
        "May, Wang, Bordia, Bowman & Rudinger 2019, NAACL",
        "sentences that say nothing but a word should lean as little as the word should.",
    ),
    Kind(
        "association",
        "Association of sentence sets about two groups with two sets of attribute sentences",
        Question.TEXTS,
        _sentences,
        (2, 2),
        (2, 2),
        {
            "targets": ["gender.male_targets", "gender.female_targets"],
            "attributes": ["association.career", "association.family"],
            "templates": "association",
        },
        "association tests over embedding APIs (target and attribute sentence sets, Cohen's d, permutation test)",
        "the same sentence about one group or another should be equally similar to sentences about an idea.",
    ),
    Kind(
        "rnd",
        "Relative norm distance: are attributes nearer to one group's average vector?",
        Question.WORDS,
        _rnd,
        (2, 2),
        (1, 1),
        {**GENDER_CAREER, "attributes": ["attributes.career"]},
        "Garg, Schiebinger, Jurafsky & Zou 2018, PNAS 115(16)",
        "attribute words should be equally far from the averages of two groups.",
    ),
    Kind(
        "ect",
        "Embedding coherence: do two groups rank attributes alike? (Spearman)",
        Question.WORDS,
        _ect,
        (2, 2),
        (1, 1),
        {**GENDER_CAREER, "attributes": ["occupations.all"]},
        "Dev & Phillips 2019, AISTATS",
        "two groups should rank attribute words by similarity in the same order.",
    ),
    Kind(
        "multi_weat",
        "WEAT for more than two groups or attribute sets, one test for all",
        Question.WORDS,
        _multi,
        (2, 20),
        (2, 20),
        {
            "targets": ["identity.christian_terms", "identity.muslim_terms", "identity.jewish_terms"],
            "attributes": ["attributes.pleasant", "attributes.unpleasant"],
        },
        "generalises Caliskan et al. 2017; eta squared with a permutation test",
        "words for any of several groups should be equally similar to every set of attribute words.",
    ),
)
