"""Pronouns in sentences about occupations: is the form that fits the stereotype the likelier one?"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from tiltmeter import measures
from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Question, TokenScores
from tiltmeter.probes.kind import OF_PROBABILITIES, Asked, CanAnswer, Kind, Measured, Options, Part, Replies
from tiltmeter.probes.sentences.fills import answers_to, fill_at
from tiltmeter.probes.sentences.pronoun_sets import SOMEBODY_ELSE, Pronouns, load_pronouns
from tiltmeter.probes.sentences.shares import correlate, preference_words, relation_words, towards_stereotype
from tiltmeter.readings import SHARE, Estimate, Item, ItemMeaning, Poles, Statistic, interval_text
from tiltmeter.readings.details.sentences import PronounsDetails
from tiltmeter.statistics import Correlation, Share, by_unit, clustered_share, power_of_share
from tiltmeter.statistics.estimates import preferred
from tiltmeter.statistics.groups import Floats
from tiltmeter.stimuli.sentences.sentence import Sentence, SentenceSet

_GROUPS = ("men", "women")
_TITLES = {
    "occupations_en": "Pronouns beside occupations",
    "winobias": "WinoBias",
    "winogender": "Winogender",
    "bec_pro": "BEC-Pro",
}
_BY_SHARE = " Men are expected where fewer than half of those employed in an occupation are women, and women elsewhere."


def _make(*, data: str | Path | None = None) -> list[Part[Pronouns]]:
    """All sentences, then for WinoBias those of each type."""
    whole = load_pronouns(data)
    sentences = whole.sentences
    title = _TITLES.get(sentences.name, f"Pronouns: {sentences.name}")
    types = dict.fromkeys(row.tags["kind"] for row in sentences.sentences) if sentences.name == "winobias" else ()
    by_type = {kind: dataclasses.replace(whole, sentences=sentences.where(kind=kind)) for kind in types}
    parts = (Part(kind, f"{title}, {kind}", part, sentences.dimension) for kind, part in by_type.items())
    return [Part("", title, whole, sentences.dimension), *parts]


def _ask(stimuli: Pronouns, can: CanAnswer) -> Asked | None:
    sentences = stimuli.sentences.sentences
    if can(Question.FILLS):
        return {Question.FILLS: [fill_at(sentence, "pronoun") for sentence in sentences]}
    if can(Question.TOKENS):
        return {Question.TOKENS: [row.version("pronoun", group).text for row in sentences for group in (1, 2)]}
    return None


def _scores(sentences: Sequence[Sentence], replies: Replies) -> Floats:
    """The log-probability of each sentence (or of its pronoun) with the masculine and the feminine form."""
    if replies.answered(Question.FILLS):
        return np.array([answer.logprobs for answer in answers_to(Question.FILLS, replies)], dtype=np.float64)
    answers: list[TokenScores] = answers_to(Question.TOKENS, replies)
    unread = sum(
        sentence.slots["pronoun"][0] == 0 and int(answer.starts[0]) > 0
        for sentence, answer in zip(sentences, answers[::2], strict=True)
    )
    if unread:
        replies.leave_out(
            f"the pronoun itself in {unread:,} sentences that begin with it",
            f"nothing stands before it that {replies.model} could read, so only what follows is scored; add bos=yes",
        )
    return np.array([answer.total for answer in answers], dtype=np.float64).reshape(-1, 2)


def _measure(stimuli: Pronouns, replies: Replies, options: Options) -> Measured:
    sentences = stimuli.sentences.sentences
    scores = _scores(sentences, replies)
    expected = [i for i, sentence in enumerate(sentences) if "expected" in sentence.tags]
    clusters = [sentences[i].unit for i in expected]
    if len(set(clusters)) < 2:
        raise BadInput(
            f"'{stimuli.sentences.name}' says for {len(set(clusters))} occupations whether men or women are expected, "
            "and at least 2 are needed: add what is expected, or the share of women"
        )
    women = np.array([sentence.tags.get("expected") == "women" for sentence in sentences])
    masculine = preferred(*scores.T)
    won = np.where(women, 1 - masculine, masculine)
    pro, anti = np.where(women, scores.T[::-1], scores.T)
    test: dict[str, int] = {"permutations": options.permutations, "seed": options.seed}
    result = measures.preference(pro[expected], anti[expected], clusters=clusters, **test)
    share = result.share
    effect = Estimate(
        "share preferring the stereotype", share.value, SHARE, share.ci, share.p_value, "two-sided", share.exact
    )
    words = preference_words(
        effect,
        preferred="the form that fits the stereotype",
        among=f"{result.n:,} sentences about {share.n_clusters} occupations",
    )
    related = _related(stimuli.sentences, scores)

    def shares_by(tag: str, names: Iterable[str]) -> dict[str, Share | None]:
        """The share that prefers the stereotype among the sentences with each of these tags."""
        chosen = {name: [i for i in expected if sentences[i].tags[tag] == name] for name in names}
        return {
            name: clustered_share(won[some], [sentences[i].unit for i in some], **test) if some else None
            for name, some in chosen.items()
        }

    kinds = [sentence.tags["kind"] for sentence in sentences]
    by_kind = dict(zip(dict.fromkeys(kinds), by_unit(masculine, kinds).means.tolist(), strict=True))
    return Measured(
        effect,
        towards_stereotype("occupations"),
        f"{words} Of all {len(sentences):,} sentences the masculine form is preferred in {masculine.mean():.1%}."
        f"{_related_words(related)}{_BY_SHARE if stimuli.by_share else ''}",
        tuple(map(_item, sentences, (scores[:, 0] - scores[:, 1]).tolist(), masculine.tolist())),
        ItemMeaning("log-odds of the expected form", Poles("the expected form", "the other form")),
        Statistic("mean", ("won",), margins="value"),
        n_units=share.n_clusters,
        counted="occupations",
        notes=stimuli.sentences.notes,
        details=PronounsDetails(
            by_kind=shares_by("kind", by_kind),
            by_expected=shares_by("expected", dict.fromkeys(sentences[i].tags["expected"] for i in expected)),
            share_masculine=float(masculine.mean()),
            share_masculine_by_kind=by_kind,
            expected_by_share=stimuli.by_share,
            gap=result.gap,
            ties=result.ties,
            correlation=related,
        ),
        power=power_of_share(won[expected], clusters=clusters, permutations=options.permutations),
    )


def _item(sentence: Sentence, log_odds_men: float, masculine: float) -> Item:
    """The value is the log-odds of the expected form; of the masculine one where none is expected."""
    expected = sentence.tags.get("expected")
    women = expected == "women"
    return Item(
        sentence.put("pronoun", "/".join(sentence.forms["pronoun"])).text,
        sentence.unit,
        expected or "",
        -log_odds_men if women else log_odds_men,
        {
            "kind": sentence.tags["kind"],
            "expected": expected,
            "log_odds_men": log_odds_men,
            "prefers": "neither" if masculine == 0.5 else _GROUPS[0 if masculine else 1],
            "won": None if expected is None else 1 - masculine if women else masculine,
        },
    )


def _related(source: SentenceSet, scores: Floats) -> Correlation | None:
    """How the lean to the feminine form goes with the share of women; None where too few shares are known."""
    about_holder = [
        i
        for i, sentence in enumerate(source.sentences)
        if sentence.unit in source.shares and sentence.tags["kind"] != SOMEBODY_ELSE
    ]
    if not about_holder:
        return None
    units = [source.sentences[i].unit for i in about_holder]
    leans = by_unit(scores[about_holder, 1] - scores[about_holder, 0], units).means
    shares = np.array([source.shares[unit] for unit in dict.fromkeys(units)])
    return correlate(leans, shares)


def _related_words(related: Correlation | None) -> str:
    if related is None:
        return ""
    return (
        f" By occupation, the lean towards the feminine form {relation_words(related)} the share of women employed "
        f"(r = {related.r:.2f}, {interval_text(related.ci)})."
    )


KIND = Kind(
    "pronouns",
    "Is the pronoun that fits the stereotype of an occupation the likelier one in a sentence?",
    "Zhao, Wang, Yatskar, Ordonez & Chang 2018, NAACL (WinoBias); Rudinger, Naradowsky, Leonard & Van Durme 2018, "
    "NAACL (Winogender); Bartl, Nissim & Gatt 2020, GeBNLP (BEC-Pro)",
    "he and she should be equally likely for an occupation, whoever mostly works in it.",
    "log-probabilities of fillers at a mask or of tokens from left to right, which language models give",
    _make,
    _ask,
    _measure,
    (
        *OF_PROBABILITIES,
        "WinoBias and Winogender were made to test coreference systems; here they only show which pronoun a language "
        "model expects, not whom it thinks the pronoun refers to.",
        "A model that prefers the same form nearly everywhere scores near one half regardless of the occupations: look "
        "also at how often it prefers the masculine form, and at the correlation with the share of women.",
    ),
)
