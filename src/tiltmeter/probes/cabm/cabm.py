"""CABM: a composite score of how occupations lean, from cosine, co-occurrence and the shift of their sentences."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from tiltmeter import measures
from tiltmeter.errors import BadInput, unknown
from tiltmeter.measures import CabmIntervals
from tiltmeter.measures.cabm.weighting import FEATURES
from tiltmeter.models.protocol import Question
from tiltmeter.probes.cabm.occupation_features import Features, read_features
from tiltmeter.probes.cabm.occupation_sentences import asked_of, reads_from_the_left
from tiltmeter.probes.cabm.weighting import METHODS, THRESHOLD, Scored, given_by_user, named, score
from tiltmeter.probes.kind import (
    EXPECTATION_HARM,
    INTRINSIC,
    TEMPLATES,
    Asked,
    CanAnswer,
    Kind,
    Measured,
    Options,
    Part,
    Replies,
)
from tiltmeter.probes.sentences.pronoun_sets import load_pronouns, read_pronouns
from tiltmeter.probes.sentences.shares import correlate, relation_words
from tiltmeter.readings import CORRELATION, SIZE, Estimate, Item, ItemMeaning, Poles, Statistic, interval_text
from tiltmeter.readings.details.cabm import CLOSE, NEUTRAL, CabmDetails, SentenceCounts
from tiltmeter.statistics import Correlation, bootstrap_interval
from tiltmeter.statistics.groups import Floats
from tiltmeter.stimuli.occupation_facts import LabelFile, in_corpus, read_occupation_labels
from tiltmeter.stimuli.sentences.marked import MarkedSet, marked_sentences
from tiltmeter.stimuli.sentences.shipped import group_set

_FEWEST_SHARES = 10
_NAMED = 3
_ENDS = (0.025, 0.975)
_REPAIR = (
    "The published context term is a distance: it has no sign, so it pushes every occupation towards the first group, "
    "and each term is weighted by its own units. Repaired, it is the position of the masked sentence between its two "
    "versions; the value without any occupation is subtracted from every term; each term is divided by what the "
    "groups' own words and sentences reach; and forests learn labels from an independent source, not from the features."
)

_FROM_THE_LEFT = (
    "The model reads from left to right: a sentence is represented by its last token, a word by what precedes it, "
    "and a mask is a word like any other. An occupation before its pronoun is the same with either pronoun, so its "
    "cosine says less."
)


@dataclasses.dataclass(frozen=True, slots=True)
class Occupations:
    """Marked sentences of two groups, and how the headline weighs the features, if that was said."""

    sentences: MarkedSet
    method: str | None
    threshold: float
    labels: LabelFile | None
    pmi_from: str


def make(
    *,
    data: str | Path | None = None,
    method: str | None = None,
    threshold: float | None = None,
    labels: str | Path | None = None,
    corpus: str | Path | None = None,
) -> list[Part[Occupations]]:
    """The whole for two groups, one part for each pair where there are more.

    Args:
        data: Nothing for the shipped sentences, a public set (winobias, winogender, bec_pro, bug), a set of one's own
            (YAML, or a table of sentences with occupation and group), or the addresses of two or more groups of words
            with commas between.
        method: How the headline weighs the features, or the weights of PMI, cosine and context themselves, such as
            0.5,0.3,0.2.
        threshold: From where on a score is a lean, 0.1 if not given.
        labels: A table of occupations and the group that each is known for, for forests and validation.
        corpus: A folder made by ``tiltmeter mine``, to count PMI in.

    >>> [part.title for part in make()]
    ['CABM: occupations between men and women']
    >>> [part.name for part in make(data="identity.white_terms,identity.black_terms,identity.asian_terms")]
    ['white_terms-black_terms', 'white_terms-asian_terms', 'black_terms-asian_terms']
    """
    if method is not None and method not in METHODS and given_by_user(method) is None:
        raise unknown("method of cabm", method, [*METHODS, "three weights such as 0.5,0.3,0.2"])
    if threshold is not None and not (isinstance(threshold, int | float) and 0 <= threshold < 1):
        raise BadInput(f"a threshold of cabm is from 0 to 1, such as 0.1, not {threshold}")
    parts = []
    for name, sentences in _sentences(data):
        title = f"CABM: occupations between {sentences.groups[0]} and {sentences.groups[1]}"
        counted, pmi_from = (sentences, f"'{sentences.name}'") if corpus is None else in_corpus(sentences, corpus)
        labelled = None if labels is None else read_occupation_labels(labels, groups=sentences.groups)
        cut = THRESHOLD if threshold is None else float(threshold)
        stimuli = Occupations(counted, method, cut, labelled, pmi_from)
        parts.append(Part(name, title, stimuli, sentences.dimension))
    return parts


def _sentences(data: str | Path | None) -> Iterator[tuple[str, MarkedSet]]:
    """The sentences of every two groups, with a short name where there are more than two."""
    if isinstance(data, str) and "," in data:
        addresses = [address.strip() for address in data.split(",")]
        for pair in itertools.combinations(addresses, 2):
            name = "-".join(address.rpartition(".")[2] for address in pair)
            yield name if len(addresses) > 2 else "", group_set(pair)
        return
    masked = data is None or str(data).endswith((".yaml", ".yml"))
    marked = marked_sentences(read_pronouns(data), both=masked)
    # Of the stereotype only what the source itself says: what follows from shares is there as a share.
    expected = {} if masked else marked.expected
    yield "", dataclasses.replace(marked, shares=load_pronouns(data).sentences.shares, expected=expected)


def _ask(stimuli: Occupations, can: CanAnswer) -> Asked | None:
    if not can(Question.SPANS):
        return None
    # A model that reads from left to right has nothing of a sentence at the mark before it.
    causal = can(Question.TOKENS) and not can(Question.FILLS)
    return asked_of(stimuli.sentences, words=can(Question.WORDS), fills=can(Question.FILLS), causal=causal)


def _measure(stimuli: Occupations, replies: Replies, options: Options) -> Measured:
    sentences, groups = stimuli.sentences, stimuli.sentences.groups
    features = read_features(sentences, replies, seed=options.seed)
    if features.balanced:
        replies.leave_out(
            "PMI in the repaired score",
            f"{stimuli.pmi_from} has every occupation about equally often with both groups: no information",
        )
    one = (
        f"as published, versions made of its sentences stand in for the other group where {sentences.name} has an "
        f"occupation with one group only: {', '.join(features.with_one)}"
    )
    zero = f"PMI rests on smoothing alone for {', '.join(features.zero_counts)}: a count is 0"
    file = stimuli.labels
    if file is not None and file.missing:
        replies.leave_out(f"labels of {file.name}", f"{file.missing}; labels are taken from elsewhere")
    labels = None if file is None or file.missing else (file.labels, file.name)
    how, threshold, seed = stimuli.method, stimuli.threshold, options.seed
    scored = score(features, sentences, method=how, seed=seed, threshold=threshold, user_labels=labels)
    headlines = (scored.repaired.headline, scored.published.headline)
    related = [_related(features, sentences, headline, options) for headline in headlines]
    if None in related:  # the published number must be one of the same kind
        related = [None, None]
    effect, published = (
        _estimate(headline.result.scores, rho, options) for headline, rho in zip(headlines, related, strict=True)
    )
    poles, words = _headline(headlines[0].result.scores, related[0], groups, effect)
    return Measured(
        effect,
        poles,
        f"{words} {_counted(features, scored, groups)}",
        _items(features, scored, sentences),
        ItemMeaning("score", Poles(*groups)),
        Statistic("sd of units") if related[0] is None else Statistic("spearman", ("value", "share_men")),
        sum(map(len, sentences.sentences)),
        len(features.words),
        published,
        _REPAIR,
        (
            *([one] if features.with_one else []),
            *([zero] if features.zero_counts else []),
            *([_FROM_THE_LEFT] if reads_from_the_left(replies) else []),
            *sentences.notes,
        ),
        _details(features, scored, sentences, pmi_from=stimuli.pmi_from),
    )


def _related(features: Features, sentences: MarkedSet, scores: CabmIntervals, options: Options) -> Correlation | None:
    """How the score goes with the share of men; None where too few shares are known or the groups are others."""
    places = [i for i, word in enumerate(features.words) if word in sentences.shares]
    men = [1 - sentences.shares[features.words[i]] for i in places]
    return correlate(scores.result.scores[places], men, at_least=_FEWEST_SHARES, method="spearman", seed=options.seed)


def _estimate(scores: Floats, related: Correlation | None, options: Options) -> Estimate:
    if related is not None:
        name = "Spearman correlation with the share of men"
        return Estimate(name, related.r, CORRELATION, related.ci, related.p_value, "two-sided", False)

    def sd(values: Floats) -> float:
        return float(np.std(values, ddof=1))

    ci = bootstrap_interval(scores, sd, method="percentile", seed=options.seed)
    return Estimate("SD of the scores", sd(scores), SIZE, ci)


def _headline(
    scores: Floats, related: Correlation | None, groups: tuple[str, str], effect: Estimate
) -> tuple[Poles, str]:
    """What the effect's ends mean, and a sentence."""
    assert effect.ci is not None  # both kinds of estimate have one
    if related is None:
        # A spread has no direction; what it can have is a mean that lies to one side.
        aside = 0.0 not in bootstrap_interval(scores)
        return (
            Poles(f"occupations → {groups[0 if scores.mean() > 0 else 1]}" if aside else ""),
            f"Occupations differ in how they lean between {groups[0]} and {groups[1]} by an SD of {effect.value:.2f} "
            f"({interval_text(effect.ci)}), where 1 is the distance of the groups' own words and sentences; lower is "
            "better.",
        )
    return (
        Poles(*(f"occupations of men → {group}" for group in groups)),
        f"The lean of occupations between {groups[0]} and {groups[1]} {relation_words(related)} their share of men "
        f"(Spearman {related.r:.2f}, {interval_text(related.ci)}, {related.n} occupations); "
        "0 is level, and nearer to 0 is better.",
    )


def _counted(features: Features, scored: Scored, groups: tuple[str, str]) -> str:
    scores, threshold = scored.repaired.headline.result.scores, scored.repaired.headline.result.threshold
    order = np.argsort(scores, kind="stable").tolist()
    low, high = (
        ", ".join(f"{features.words[i]} ({scores[i]:+.2f})" for i in some)
        for some in (order[:_NAMED], order[: -_NAMED - 1 : -1])
    )
    tally = Counter(named(scored.repaired.headline, groups))
    raw = np.bincount(scored.published.headline.result.categories, minlength=3).tolist()
    push = float(scored.published.headline.result.contributions[:, 2].mean())
    return (
        f"On a scale from -1 (explicitly {groups[1]}) to +1 (explicitly {groups[0]}), {tally[groups[0]]} occupations "
        f"lean towards {groups[0]}, {tally[groups[1]]} towards {groups[1]}, {tally[NEUTRAL]} towards neither (within "
        f"{threshold:g}), and {tally[CLOSE]} are too close to call. Most towards {groups[0]}: {high}; most towards "
        f"{groups[1]}: {low}. The mean is {scores.mean():+.2f}. As published, {raw[1]} lean towards {groups[0]}, "
        f"{raw[2]} towards {groups[1]} and {raw[0]} towards neither: the published context term is a distance, which "
        f"is never negative and adds {push:.2f} towards {groups[0]} on average."
    )


def _items(features: Features, scored: Scored, sentences: MarkedSet) -> tuple[Item, ...]:
    """One item per occupation; its value is the repaired score."""
    repaired, published = scored.repaired.headline, scored.published.headline
    names = (NEUTRAL, *sentences.groups)
    categories = named(repaired, sentences.groups)
    often = count_sentences(sentences).by_occupation
    items = []
    for i, word in enumerate(features.words):
        label = scored.labels[i]
        # What each feature adds to the score, and to P(group 1) - P(group 2) of the forest, by SHAP or in its place.
        parts = repaired.result.contributions[i].tolist()
        moved = [None] * len(FEATURES) if scored.parts is None else scored.parts[i].tolist()
        columns = {
            "low": float(repaired.low[i]),
            "high": float(repaired.high[i]),
            "published": float(published.result.scores[i]),
            "published_low": float(published.low[i]),
            "published_high": float(published.high[i]),
            "published_group": names[int(published.result.categories[i])],
            **{name: values[i] for name, values in features.raw.items()},
            **_intervals(features, i),
            **{f"published_pmi_{number}": float(side[i]) for number, side in enumerate(features.group_pmi or (), 1)},
            **{f"part_{name}": part for name, part in zip(FEATURES, parts, strict=True)},
            **{f"moved_{name}": part for name, part in zip(FEATURES, moved, strict=True)},
            "unmasking": None if features.unmasking is None else float(features.unmasking[i]),
            "known_label": None if label is None else names[label],
            "share_men": 1 - sentences.shares[word] if word in sentences.shares else None,
            **{f"sentences_{number}": n for number, n in enumerate(often[word].values(), 1)},
        }
        items.append(Item(word, word, categories[i], float(repaired.result.scores[i]), columns))
    return tuple(items)


def _intervals(features: Features, i: int) -> dict[str, float]:
    """Intervals of the features, before they were divided."""
    draws: dict[str, Floats] = {
        "cosine": features.repaired.draws[:, i, 1] * features.units[1],
        "signed_context": features.repaired.draws[:, i, 2] * features.units[2],
        "pmi": np.array([features.raw["pmi"][i]], dtype=np.float64)
        if features.balanced
        else features.repaired.draws[:, i, 0] * features.units[0],
        "published_pmi": features.published.draws[:, i, 0],
        "context": features.published.draws[:, i, 2],
    }
    ends = {name: np.quantile(values, _ENDS).tolist() for name, values in draws.items()}
    return {
        f"{name}_{end}": value for name, both in ends.items() for end, value in zip(("low", "high"), both, strict=True)
    }


def _details(features: Features, scored: Scored, sentences: MarkedSet, *, pmi_from: str) -> CabmDetails:
    """Weights, scores by every weighting, validation, explanations and what the data are."""
    repaired, published = scored.repaired.headline.result, scored.published.headline.result
    scores = {"repaired": repaired.scores, "published": published.scores}
    return CabmDetails(
        groups=sentences.groups,
        threshold=repaired.threshold,
        labels_from=scored.source,
        pmi_from=pmi_from,
        explained_by=scored.explained_by,
        units=dict(zip(FEATURES, features.units, strict=True)),
        repaired=scored.repaired.details,
        published=scored.published.details,
        between_forms=measures.compare_scores(scores, threshold=repaired.threshold)[0],
        sentences=features.loudest,
        projection=features.projection,
        data=count_sentences(sentences),
    )


def count_sentences(sentences: MarkedSet) -> SentenceCounts:
    """What was kept of the source and what was dropped."""
    by_kind: dict[str, Counter[str]] = {}
    by_occupation: dict[str, Counter[str]] = {}
    for group, side in zip(sentences.groups, sentences.sentences, strict=True):
        for sentence in side:
            by_kind.setdefault(sentence.tags["kind"], Counter())[group] += 1
            by_occupation.setdefault(sentence.unit, Counter())[group] += 1

    def by_group(counts: Mapping[str, int]) -> dict[str, int]:
        return {group: counts[group] for group in sentences.groups}

    sizes = {group: len(side) for group, side in zip(sentences.groups, sentences.sentences, strict=True)}
    in_source = map(sum, zip(*sentences.counts.values(), strict=True))
    return SentenceCounts(
        read=sentences.read,
        used=sentences.read - sum(sentences.left_out.values()),
        left_out=sentences.left_out,
        in_source=dict(zip(sentences.groups, in_source, strict=True)),
        sentences=sum(sizes.values()),
        neutral_sentences=len({(row.neutral.text, *row.neutral.slots.values()) for row in sentences.versions}),
        by_group=sizes,
        by_kind={kind: by_group(counts) for kind, counts in by_kind.items()},
        by_occupation={word: by_group(counts) for word, counts in by_occupation.items()},
    )


KIND = Kind(
    "cabm",
    "CABM: how occupations lean between two groups, by cosine, co-occurrence and sentence shift",
    "Dhanawardhana, Developing a metric to detect gender bias in contextual word embeddings (CABM), thesis, SLIIT",
    "an occupation should stand half-way between words and sentences about one group and about the other.",
    Question.SPANS.about,
    make,
    _ask,
    _measure,
    (
        EXPECTATION_HARM,
        INTRINSIC,
        TEMPLATES,
        "Intervals cover what other sentences, and directions without meaning, would give; they do not cover other "
        "words for the groups.",
        "PMI describes the text it was counted in, and the model only if it was trained on that text.",
    ),
)
