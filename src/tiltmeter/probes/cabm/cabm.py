"""CABM: a composite score of how occupations lean, from cosine, co-occurrence and the shift of their sentences."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tiltmeter.errors import BadInput, unknown
from tiltmeter.measures import CabmIntervals
from tiltmeter.models.protocol import Question
from tiltmeter.probes.cabm.cabm_items import CLOSE, NEUTRAL, details, items, named
from tiltmeter.probes.cabm.occupation_features import Features, read_features
from tiltmeter.probes.cabm.occupation_sentences import asked_of
from tiltmeter.probes.cabm.scores import METHODS, THRESHOLD, Form, Scored, given_by_user, score
from tiltmeter.probes.kind import Options
from tiltmeter.probes.old_kind import INTRINSIC, Asked, Estimate, Measured
from tiltmeter.probes.old_language import HARM, TEMPLATES, LanguageKind, LanguageProbe, Replies
from tiltmeter.probes.sentences.pronoun_sets import load_pronouns, read_pronouns
from tiltmeter.probes.wording import ALPHA, correlation_strength, interval_text, p_text
from tiltmeter.statistics import Correlation, bootstrap_interval, correlation
from tiltmeter.stimuli.corpus_counts import in_corpus
from tiltmeter.stimuli.sentences.label_file import LabelFile, read_labels
from tiltmeter.stimuli.sentences.marked import MarkedSet, marked_sentences
from tiltmeter.stimuli.sentences.shipped import group_set

_FEWEST_SHARES = 10
_NAMED = 3
_CORRECTION = (
    "The published context term is a distance: it has no sign, so it pushes every occupation to the first group, and "
    "each term counts by the size of its own units. Here it is where the masked sentence stands between its two "
    "versions; what the sentence says without any occupation is taken off every term; each is divided by what the "
    "groups' own words and sentences reach; and forests learn labels from elsewhere, not cut from the features."
)


@dataclasses.dataclass(frozen=True, slots=True)
class Occupations:
    """Marked sentences of two groups, and how the headline weighs the features."""

    sentences: MarkedSet
    method: str
    threshold: float
    labels: LabelFile | None
    pmi_from: str


def make(
    *,
    data: str | Path | None = None,
    vectors: str | None = None,
    method: str | None = None,
    threshold: float | None = None,
    labels: str | Path | None = None,
    corpus: str | Path | None = None,
    options: Options,
) -> list[LanguageProbe]:
    """One probe for two groups, one for each pair where there are more.

    ``data``: nothing for the shipped sentences, a public set (winobias, winogender, bec_pro), a set of one's own, or
    the addresses of two or more groups of words with commas between. ``method``: how the headline weighs the features,
    or the weights of PMI, cosine and context themselves, such as 0.5,0.3,0.2. ``threshold``: from where on a score
    is a lean, 0.1 if not given. ``labels``: a table of occupations and the group that each is known for, for forests
    and validation. ``corpus``: a folder made by ``tiltmeter mine``, to count PMI in.

    >>> [probe.id for probe in make(options=Options())]
    ['cabm']
    >>> races = "identity.white_terms,identity.black_terms,identity.asian_terms"
    >>> [probe.id for probe in make(data=races, options=Options())]
    ['cabm-white_terms-black_terms', 'cabm-white_terms-asian_terms', 'cabm-black_terms-asian_terms']
    """
    if vectors is not None:
        raise BadInput("cabm takes no vectors: leave them out")
    if method is not None and method not in METHODS and given_by_user(method) is None:
        raise unknown("method of cabm", method, [*METHODS, "three weights such as 0.5,0.3,0.2"])
    check_threshold(threshold)
    whole, names = _sentences(data)
    probes = []
    for first, second in itertools.combinations(range(1, len(whole.groups) + 1), 2):
        part = f"-{names[first - 1]}-{names[second - 1]}" if len(whole.groups) > 2 else ""
        chosen = whole.between(first, second)
        title = f"CABM: occupations between {chosen.groups[0]} and {chosen.groups[1]}"
        counted, pmi_from = (chosen, f"'{chosen.name}'") if corpus is None else in_corpus(chosen, corpus)
        own = None if labels is None else read_labels(labels, groups=chosen.groups)
        usual = THRESHOLD if threshold is None else float(threshold)
        stimuli = Occupations(counted, method or "pca", usual, own, pmi_from)
        probes.append(LanguageProbe(f"cabm{part}", title, KIND, stimuli, options))
    return probes


#: Options that only this probe takes.
OPTIONS = ("threshold", "labels", "corpus")


def check_threshold(threshold: float | None) -> None:
    if threshold is not None and not (isinstance(threshold, int | float) and 0 <= threshold < 1):
        raise BadInput(f"a threshold of cabm lies from 0 to 1, such as 0.1, not {threshold}")


def _sentences(data: str | Path | None) -> tuple[MarkedSet, list[str]]:
    """The sentences, and a short name for each group."""
    if isinstance(data, str) and "," in data:
        addresses = [address.strip() for address in data.split(",")]
        return group_set(addresses), [address.rpartition(".")[2] for address in addresses]
    masked = data is None or str(data).endswith((".yaml", ".yml"))
    found = marked_sentences(read_pronouns(data), both=masked)
    prepared = load_pronouns(data)
    # Of the stereotype only what the source itself says: what follows from shares is there as a share.
    expected = {} if masked or prepared.by_share else found.expected
    return dataclasses.replace(found, shares=prepared.sentences.shares, expected=expected), list(found.groups)


def _ask(stimuli: Occupations, answers: Callable[[Question], bool]) -> Asked | None:
    # A model that reads from left to right has nothing of a sentence at the mark before it.
    causal = answers(Question.TOKENS) and not answers(Question.FILLS)
    if causal or not answers(Question.SPANS):
        return None
    return asked_of(stimuli.sentences, words=answers(Question.WORDS), fills=answers(Question.FILLS))


def _measure(stimuli: Occupations, replies: Replies, options: Options) -> Measured:
    sentences = stimuli.sentences
    features = read_features(sentences, replies, seed=options.seed)
    if features.balanced:
        replies.leave_out(
            "PMI in the corrected score",
            f"{stimuli.pmi_from} has every occupation about as often with both groups, so it tells nothing",
        )
    if features.zero_counts:
        replies.leave_out("note", f"PMI rests on smoothing alone for {', '.join(features.zero_counts)}: a count is 0")
    found = score(
        features,
        sentences,
        method=stimuli.method,
        seed=options.seed,
        threshold=stimuli.threshold,
        own_labels=_own_labels(stimuli.labels, replies),
    )
    forms = (found.corrected, found.published)
    related = [_related(features, sentences, form.headline, options) for form in forms]
    if not all(related):  # the published number must be one of the same kind
        related = [None, None]
    effect, published = (_estimate(form, each, options) for form, each in zip(forms, related, strict=True))
    leans, strength, words = _headline(found.corrected, related[0], sentences.groups, effect)
    return Measured(
        effect,
        leans,
        strength,
        f"{words} {_counted(features, found, sentences.groups)}",
        items(features, found, sentences),
        len(sentences.rows),
        len(features.words),
        published,
        _CORRECTION,
        details(features, found, sentences, pmi_from=stimuli.pmi_from),
    )


def _own_labels(file: LabelFile | None, replies: Replies) -> tuple[Mapping[str, int], str] | None:
    if file is None or file.missing:
        if file is not None:
            replies.leave_out(f"labels of {file.name}", f"{file.missing}; labels are taken from elsewhere")
        return None
    return file.labels, file.name


def _related(features: Features, sentences: MarkedSet, scores: CabmIntervals, options: Options) -> Correlation | None:
    """How the score goes with the share of men; None where too few shares are known or the groups are others."""
    known = [i for i, word in enumerate(features.words) if word in sentences.shares]
    if len(known) < _FEWEST_SHARES:
        return None
    men = [1 - sentences.shares[features.words[i]] for i in known]
    values = scores.result.scores[known]
    varies = all(np.ptp(each) > 1e-9 for each in (values, men))
    return correlation(values, men, method="spearman", seed=options.seed) if varies else None


def _estimate(form: Form, related: Correlation | None, options: Options) -> Estimate:
    if related is not None:
        name, better = "Spearman correlation with the share of men", "nearer to 0 is better"
        return Estimate(name, related.r, 0.0, better, related.ci, related.p_value, "two-sided", False)
    scores = form.headline.result.scores

    def sd(values: Any) -> float:
        return float(np.std(values, ddof=1))

    ci = bootstrap_interval(scores, sd, method="percentile", seed=options.seed)
    return Estimate("SD of the scores", sd(scores), 0.0, "lower is better", ci)


def _headline(
    form: Form, related: Correlation | None, groups: tuple[str, ...], effect: Estimate
) -> tuple[str, str, str]:
    """Which way it leans, how strongly, and a sentence."""
    assert effect.ci is not None  # both kinds of estimate have one
    if related is None:
        scores = form.headline.result.scores
        mean = bootstrap_interval(scores)
        clear = 0.0 not in mean
        towards = groups[0 if scores.mean() > 0 else 1]
        return (
            f"occupations → {towards}" if clear else "no clear lean",
            "",
            f"Occupations differ in how they lean between {groups[0]} and {groups[1]} by an SD of {effect.value:.2f} "
            f"({interval_text(effect.ci)}), where 1 is as far as the groups' own words and sentences; lower is better.",
        )
    clear = related.p_value <= ALPHA
    how = ("follows" if related.r > 0 else "runs against") if clear else "is not clearly related to"
    return (
        (f"occupations of men → {groups[0 if related.r > 0 else 1]}" if clear else "no clear lean"),
        correlation_strength(related.r),
        f"How occupations lean between {groups[0]} and {groups[1]} {how} the share of men in them (Spearman "
        f"{related.r:.2f}, {interval_text(related.ci)}, {p_text(related.p_value)}, {related.n} occupations); 0 is "
        "level, and nearer to 0 is better.",
    )


def _counted(features: Features, found: Scored, groups: tuple[str, ...]) -> str:
    scores, threshold = found.corrected.headline.result.scores, found.corrected.headline.result.threshold
    order = np.argsort(scores, kind="stable").tolist()
    low, high = (
        ", ".join(f"{features.words[i]} ({scores[i]:+.2f})" for i in some)
        for some in (order[:_NAMED], order[: -_NAMED - 1 : -1])
    )
    tally = Counter(named(found.corrected.headline, groups))
    raw = np.bincount(found.published.headline.result.categories, minlength=3).tolist()
    push = float(found.published.headline.result.contributions[:, 2].mean())
    return (
        f"On a scale where +1 is what says {groups[0]} and -1 what says {groups[1]}, {tally[groups[0]]} occupations "
        f"lean to {groups[0]}, {tally[groups[1]]} to {groups[1]}, {tally[NEUTRAL]} to neither (within {threshold:g}), "
        f"and {tally[CLOSE]} are too close to call. Most to {groups[0]}: {high}; most to {groups[1]}: {low}. Their "
        f"mean is {scores.mean():+.2f}. As "
        f"published {raw[1]} lean to {groups[0]}, {raw[2]} to {groups[1]} and {raw[0]} to neither: its context term is "
        f"a distance, which is never negative and adds {push:.2f} towards {groups[0]} on average."
    )


class _Kind(LanguageKind):
    """It reads vectors of sentences, so what is said of vectors is said of it."""

    __slots__ = ()

    @property
    def caveats(self) -> tuple[str, ...]:
        return (f"What counts as bias here: {self.idea}", HARM, INTRINSIC, TEMPLATES, *self.warnings)


KIND = _Kind(
    "cabm",
    "CABM: how occupations lean between two groups by cosine, co-occurrence and the shift of their sentences",
    "Context-Aware Bias Metric, a thesis; sentences of WinoBias (Zhao et al. 2018, NAACL), or tiltmeter's own",
    "an occupation should stand half-way between what says one group and what says the other.",
    "vectors of words in sentences read from both sides, which encoders and masked language models give",
    _ask,
    _measure,
    (
        "Intervals tell what other sentences would give, and what a direction without meaning would; they do not cover "
        "other words for the groups.",
        "PMI tells of the text it was counted in, and of the model only where it has learned from that text.",
    ),
)
