"""Probes of one list of words between attribute sets: WEFAT, SemAxis, MAC, SAME, RNSB."""

from __future__ import annotations

from typing import cast

import numpy as np

from tiltmeter import measures
from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Question
from tiltmeter.probes.kind import Options
from tiltmeter.probes.old_kind import Estimate, Kind, Measured
from tiltmeter.probes.wording import ALPHA, correlation_strength, interval_text, p_text
from tiltmeter.probes.words.sets import Answers, Query
from tiltmeter.statistics import Alternative, bootstrap_interval

OCCUPATIONS = {
    "targets": ["occupations.all"],
    "attributes": ["gender.female_terms", "gender.male_terms"],
}


def _wefat(query: Query, answers: Answers, options: Options) -> Measured:
    words = answers.of(query.targets[0], at_least=4)
    a, b = (answers.of(each, at_least=2) for each in query.attributes)
    known = query.targets[0].properties
    column = next((key for word in words.inputs for key in known.get(word, {})), None)
    if column is None or any(column not in known.get(word, {}) for word in words.inputs):
        raise BadInput(
            f"'{words.label}': WEFAT relates words to a number known of each (such as female_share), and not every "
            "word has one: add it in the lexicon"
        )
    values = [float(known[word][column]) for word in words.inputs]
    found = measures.wefat(
        words.vectors,
        a.vectors,
        b.vectors,
        property=values,
        alternative=cast(Alternative, options.alternative),
        permutations=options.permutations,
        seed=options.seed,
    )
    related = found.correlation
    assert related is not None  # a property was given
    clear = related.p_value <= ALPHA
    name = column.replace("_", " ")
    direction = "follows" if related.r > 0 else "runs against"
    numbers = f"r = {related.r:.2f}, {interval_text(related.ci)}, {p_text(related.p_value)}"
    return Measured(
        Estimate(
            "correlation r",
            related.r,
            0.0,
            "nearer to 0 is better",
            related.ci,
            related.p_value,
            "two-sided",
            False,
        ),
        f"high {name} → {a.label if related.r > 0 else b.label}" if clear else "no clear lean",
        correlation_strength(related.r),
        f"How much {words.label} lean towards {a.label} rather than {b.label} {direction} their {name} in the world "
        f"({numbers})."
        if clear
        else f"How {words.label} lean between {a.label} and {b.label} is not clearly related to their {name} "
        f"({numbers}).",
        tuple(
            {"word": word, "group": words.label, "effect": effect, "p_value": p, column: value}
            for word, effect, p, value in zip(words.inputs, found.effect_sizes, found.p_values, values, strict=True)
        ),
        len(words),
        len(words),
    )


def _semaxis(query: Query, answers: Answers, options: Options) -> Measured:
    words = answers.of(query.targets[0], at_least=2)
    one, two = (answers.of(each) for each in query.attributes)
    found = measures.semaxis(words.vectors, one.vectors, two.vectors)
    ci = bootstrap_interval(found.scores, seed=options.seed)
    clear = 0.0 not in ci
    towards = one.label if found.mean > 0 else two.label
    low, high = int(np.argmin(found.scores)), int(np.argmax(found.scores))
    return Measured(
        Estimate("mean position on the axis", found.mean, 0.0, "nearer to 0 is better", ci),
        f"{words.label} → {towards}" if clear else "no clear lean",
        "",
        f"On the axis from {two.label} (-) to {one.label} (+), {words.label} stand at {found.mean:+.3f} on average "
        f"({interval_text(ci, digits=3)}), from {words.inputs[low]} ({found.scores[low]:+.2f}) to {words.inputs[high]} "
        f"({found.scores[high]:+.2f}).",
        tuple(
            {"word": word, "group": words.label, "position": score}
            for word, score in zip(words.inputs, found.scores, strict=True)
        ),
        len(words),
        len(words),
    )


def _mac(query: Query, answers: Answers, options: Options) -> Measured:
    words = answers.of(query.targets[0], at_least=2)
    sets = [answers.of(each) for each in query.attributes]
    found = measures.mac(words.vectors, [each.vectors for each in sets], seed=options.seed)
    names = " and ".join(each.label for each in sets)
    return Measured(
        Estimate("mean cosine distance", found.score, 1.0, "nearer to 1 is better", found.ci),
        "",
        "",
        f"The mean cosine distance of {words.label} from {names} is {found.score:.2f} ({interval_text(found.ci)}); 1 "
        "would mean unrelated. It does not tell to which group they are nearer.",
        tuple(
            {
                "word": word,
                "group": words.label,
                **{f"distance to {each.label}": value for each, value in zip(sets, row, strict=True)},
            }
            for word, row in zip(words.inputs, found.by_target, strict=True)
        ),
        len(words),
        len(words),
    )


def _same(query: Query, answers: Answers, options: Options) -> Measured:
    words = answers.of(query.targets[0], at_least=2)
    sets = [answers.of(each) for each in query.attributes]
    found = measures.same(words.vectors, [each.vectors for each in sets], seed=options.seed)
    names = " and ".join(each.label for each in sets)
    detail = ""
    leans = ""
    if found.skew is not None and found.stereotype is not None:
        ci = bootstrap_interval(found.by_word, seed=options.seed)
        towards = sets[0].label if found.skew > 0 else sets[1].label
        clear = 0.0 not in ci
        leans = f"{words.label} → {towards}" if clear else "no clear lean"
        detail = (
            f" On the whole they lean {f'to {towards}' if clear else 'neither way clearly'} (skew {found.skew:+.3f}, "
            f"{interval_text(ci, digits=3)}); single words differ by {found.stereotype:.3f} (stereotype)."
        )
    return Measured(
        Estimate("mean bias", found.score, 0.0, "nearer to 0 is better", found.ci),
        leans,
        "",
        f"{words.label[:1].upper()}{words.label[1:]} lie {found.score:.3f} along what separates {names} "
        f"({interval_text(found.ci, digits=3)}), where 0 is level and 1 the most.{detail}",
        tuple(
            {"word": word, "group": words.label, "bias": bias}
            for word, bias in zip(words.inputs, found.by_word, strict=True)
        ),
        len(words),
        len(words),
    )


def _rnsb(query: Query, answers: Answers, options: Options) -> Measured:
    groups = [answers.of(each) for each in query.targets]
    good, bad = (answers.of(each, at_least=5) for each in query.attributes)
    found = measures.rnsb(
        np.concatenate([group.vectors for group in groups]), good.vectors, bad.vectors, seed=options.seed
    )
    rows = [(word, group.label) for group in groups for word in group.inputs]
    means = {
        group.label: float(
            np.mean([s for s, (_, label) in zip(found.shares, rows, strict=True) if label == group.label])
        )
        for group in groups
    }
    worst = max(means, key=lambda label: means[label])
    clear = found.p_value <= ALPHA
    return Measured(
        Estimate(
            "KL from even shares",
            found.score,
            0.0,
            "lower is better",
            found.ci,
            found.p_value,
            "greater",
            False,
        ),
        f"{worst} → {bad.label}" if clear else "no clear lean",
        "",
        f"Negative sentiment is spread {'unevenly' if clear else 'about as evenly as chance would'} over the words "
        f"(KL = {found.score:.3f}, {interval_text(found.ci, digits=3)}, {p_text(found.p_value)})"
        f"{f'; {worst} get most' if clear else ''}. The sentiment classifier behind it is right {found.accuracy:.0%} "
        "of the time.",
        tuple(
            {"word": word, "group": label, "negative_share": share}
            for (word, label), share in zip(rows, found.shares, strict=True)
        ),
        len(rows),
        len(rows),
    )


KINDS = (
    Kind(
        "wefat",
        "Does the lean of words follow a fact about them, e.g. occupations and their share of women?",
        Question.WORDS,
        _wefat,
        (1, 1),
        (2, 2),
        OCCUPATIONS,
        "Caliskan, Bryson & Narayanan 2017, Science 356:183-186",
        "a word such as an occupation should not carry who is employed in it.",
    ),
    Kind(
        "semaxis",
        "Where words stand on the axis between two poles",
        Question.WORDS,
        _semaxis,
        (1, 1),
        (2, 2),
        OCCUPATIONS,
        "An, Kwak & Ahn 2018, ACL",
        "neutral words should stand in the middle between two poles.",
    ),
    Kind(
        "mac",
        "Mean average cosine distance of words from several attribute sets",
        Question.WORDS,
        _mac,
        (1, 1),
        (1, 20),
        OCCUPATIONS,
        "Manzini, Lim, Black & Tsvetkov 2019, NAACL",
        "neutral words should be unrelated to words for groups of people.",
    ),
    Kind(
        "same",
        "SAME: how far words lie along what separates the groups",
        Question.WORDS,
        _same,
        (1, 1),
        (2, 20),
        OCCUPATIONS,
        "Schroeder, Schulz & Hammer 2022, arXiv:2203.14603; IJCNN 2024",
        "neutral words should have no part in the directions that separate groups.",
    ),
    Kind(
        "rnsb",
        "Relative negative sentiment: is it spread evenly over identity terms?",
        Question.WORDS,
        _rnsb,
        (1, 20),
        (2, 2),
        {
            "targets": ["identity.christian_terms", "identity.muslim_terms", "identity.jewish_terms"],
            "attributes": ["attributes.pleasant", "attributes.unpleasant"],
        },
        "Sweeney & Najafian 2019, ACL",
        "a sentiment classifier trained on the vectors should find identity terms equally negative.",
    ),
)
