"""Probes of what is near to what: ECT, MAC, RND, and RNSB, whose classifier learns what is near to bad words."""

from __future__ import annotations

import numpy as np

from tiltmeter import measures
from tiltmeter.probes.kind import Measured, Options, statistics_options, tested
from tiltmeter.probes.words.word_sets import (
    CAREER_FAMILY,
    GENDERS,
    OCCUPATIONS,
    PLEASANT,
    RELIGIONS,
    WordVectors,
    compares,
    p_evidence,
    word_kind,
)
from tiltmeter.readings import (
    COHERENCE,
    DIFFERENCE,
    DISTANCE,
    SIZE,
    Estimate,
    Evidence,
    ItemMeaning,
    Poles,
    Statistic,
    interval_text,
)
from tiltmeter.statistics.families import Placebo


def _ect(vectors: WordVectors, options: Options) -> Measured:
    x, y = vectors.targets()
    (a,) = vectors.attributes(at_least=4)
    result = measures.ect(x.vectors, y.vectors, a.vectors, seed=options.seed)
    columns = {f"cos to {x.label}": result.similarities_x, f"cos to {y.label}": result.similarities_y}
    return Measured(
        Estimate("coherence rho", result.score, COHERENCE, result.ci),
        None,
        f"{x.title} and {y.label} rank {a.label} with a correlation of {result.score:.2f} "
        f"({interval_text(result.ci)}); 1 means the same order for both.",
        tuple(a.items([None] * len(a), **columns)),
        ItemMeaning("similarity"),
        Statistic("spearman", tuple(columns)),
        evidence=_beside(
            vectors.placebo(
                measures.ect_placebo, a.words, x=x.vectors, y=y.vectors, score=result.score, n=len(a), seed=options.seed
            )
        ),
    )


def _beside(placebo: Placebo | None) -> Evidence | None:
    return p_evidence({}, (), placebo) if placebo else None


def _mac(vectors: WordVectors, options: Options) -> Measured:
    (words,) = vectors.targets(at_least=2)
    sets = vectors.attributes()
    result = measures.mac(words.vectors, [to.vectors for to in sets], families=words.families)
    columns = dict(zip((f"distance to {to.label}" for to in sets), zip(*result.by_target, strict=True), strict=True))
    return Measured(
        Estimate("mean cosine distance", result.score, DISTANCE, result.ci),
        None,
        f"The mean cosine distance of {words.label} from {' and '.join(to.label for to in sets)} is {result.score:.2f} "
        f"({interval_text(result.ci)}); 1 means unrelated. It does not say which group they are nearer to.",
        tuple(words.items([sum(row) / len(row) for row in result.by_target], **columns)),
        ItemMeaning("mean distance"),
        Statistic("mean of units"),
        evidence=p_evidence(
            {},
            [(words.label, result.families)],
            vectors.placebo(
                measures.mac_placebo,
                [word for to in sets for word in to.words],
                targets=words.vectors,
                score=result.score,
                sizes=[len(to) for to in sets],
                seed=options.seed,
            ),
        ),
    )


def _rnd(vectors: WordVectors, options: Options) -> Measured:
    x, y = vectors.targets()
    (a,) = vectors.attributes(at_least=2)
    families = [words.families for words in (x, y, a)]
    result = measures.rnd(x.vectors, y.vectors, a.vectors, families=families, **statistics_options(options))
    repaired, name = result.repaired, "relative norm distance"
    score = repaired.score
    effect = tested(name, score, DIFFERENCE, repaired, options)
    nearer, further = (x.label, y.label) if score < 0 else (y.label, x.label)
    numbers = f"difference of distances {score:.3f}, {interval_text(repaired.ci, digits=3)}"
    return Measured(
        effect,
        # A distance: where it is positive, the first group is further away.
        Poles(f"{a.label} → {y.label}", f"{a.label} → {x.label}"),
        f"{a.title} lie nearer to {nearer} than to {further} ({numbers}). Interval and p generalise to other words "
        "for the groups and for the attributes.",
        tuple(a.items(repaired.by_attribute)),
        ItemMeaning("difference of the distances", Poles(y.label, x.label)),
        Statistic("mean of units"),
        n_units=result.n,
        published=Estimate(name, result.score, DIFFERENCE, p_value=result.p_value, alternative=options.alternative),
        repair="The mean of few or varied words lies far from everything through noise alone, and the published "
        "difference counts that as distance; the headline subtracts it, and counts word families once on both sides.",
        evidence=p_evidence(
            {"other targets": repaired.p_targets, "other attributes": repaired.p_attributes},
            zip((x.label, y.label, a.label), repaired.families, strict=True),
            vectors.placebo(
                measures.rnd_placebo,
                a.words,
                x=x.vectors,
                y=y.vectors,
                score=score,
                n=len(a),
                families=families[:2],
                seed=options.seed,
            ),
        ),
    )


def _rnsb(vectors: WordVectors, options: Options) -> Measured:
    groups = vectors.targets()
    good, bad = vectors.attributes(at_least=5)
    result = measures.rnsb(
        np.concatenate([group.vectors for group in groups]),
        good.vectors,
        bad.vectors,
        families=(good.families, bad.families),
        seed=options.seed,
    )
    effect = Estimate("KL from even shares", result.score, SIZE, result.ci, result.p_value, "greater", False)
    shares = np.split(np.array(result.shares), np.cumsum([len(group) for group in groups])[:-1])
    worst = groups[int(np.argmax([part.mean() for part in shares]))].label
    return Measured(
        effect,
        Poles(f"{worst} → {bad.label}"),
        f"How unevenly negative sentiment is spread over these words: KL = {result.score:.3f} "
        f"({interval_text(result.ci, digits=3)}); {worst} get most. The sentiment classifier behind it is right "
        f"{result.accuracy:.0%} of the time.",
        tuple(item for group, part in zip(groups, shares, strict=True) for item in group.items(part.tolist())),
        ItemMeaning("share of negative sentiment"),
        Statistic("kl from even"),
        evidence=p_evidence(
            {"sentiment words dealt at random": result.p_value},
            zip((good.label, bad.label), result.families, strict=True),
        ),
    )


ECT = word_kind(
    "ect",
    _ect,
    compares(GENDERS, OCCUPATIONS, n_targets=(2, 2), n_attributes=(1, 1)),
    placebo=True,
    summary="Embedding coherence: do two groups rank attributes alike? (Spearman)",
    citation="Dev & Phillips 2019, AISTATS",
    idea="attribute words should rank in the same order by similarity to either group.",
)
MAC = word_kind(
    "mac",
    _mac,
    compares(OCCUPATIONS, GENDERS[::-1], n_targets=(1, 1), n_attributes=(1, 20)),
    placebo=True,
    summary="Mean average cosine distance of words from several attribute sets",
    citation="Manzini, Lim, Black & Tsvetkov 2019, NAACL",
    idea="neutral words should be unrelated to words for groups of people.",
)
RND = word_kind(
    "rnd",
    _rnd,
    compares(GENDERS, CAREER_FAMILY[:1], n_targets=(2, 2), n_attributes=(1, 1)),
    placebo=True,
    summary="Relative norm distance: are attributes nearer to one group's average vector?",
    citation="Garg, Schiebinger, Jurafsky & Zou 2018, PNAS 115(16)",
    idea="attribute words should be equally far from the averages of two groups.",
)
RNSB = word_kind(
    "rnsb",
    _rnsb,
    compares(RELIGIONS, PLEASANT, n_targets=(1, 20), n_attributes=(2, 2)),
    summary="Relative negative sentiment: is it spread evenly over identity terms?",
    citation="Sweeney & Najafian 2019, ACL",
    idea="a sentiment classifier trained on the vectors should find identity terms equally negative.",
)
