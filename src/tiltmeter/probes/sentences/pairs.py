"""Sentence pairs: is the sentence that fits a stereotype the likelier one?"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tiltmeter import measures
from tiltmeter.errors import BadInput, unknown
from tiltmeter.models.protocol import Question, Span, TokenScores
from tiltmeter.probes.kind import OF_PROBABILITIES, Asked, CanAnswer, Kind, Measured, Options, Part, Replies
from tiltmeter.probes.sentences.fills import answers_to
from tiltmeter.probes.sentences.shares import FAULTY_PAIRS, preference_words, towards_stereotype
from tiltmeter.readings import SHARE, Cell, Estimate, Item, ItemMeaning, Poles, Statistic
from tiltmeter.readings.details.sentences import PairsDetails
from tiltmeter.statistics import power_of_share
from tiltmeter.statistics.estimates import preferred
from tiltmeter.stimuli import datasets
from tiltmeter.stimuli.sentences.exchanges import pair_clusters
from tiltmeter.stimuli.sentences.sentence import Sentence, SentenceSet
from tiltmeter.stimuli.sentences.shipped import pair_set, set_names

#: What each method asks, and what it compares.
_METHODS: Mapping[str, tuple[Question, str]] = {
    "nangia": (Question.PSEUDO, "the words that both sentences share, each masked in turn (Nangia et al. 2020)"),
    "meade": (Question.PSEUDO, "the words in which they differ, each masked in turn (Meade et al. 2022)"),
    "aul": (Question.UNMASKED, "all words, none of them masked (Kaneko & Bollegala 2022)"),
    "causal": (Question.TOKENS, "the whole sentence, from left to right"),
    "cps": (Question.TOKENS, "the words that both sentences share, from left to right"),
}
#: What is used where no method is chosen: the first that the model can answer. Of a masked model it is the words that
#: differ: over the shared ones, chance links of other words with the two swamp the lean of a small model.
_USUAL = ("meade", "causal")
#: Methods that the literature quotes for CrowS-Pairs besides the usual one.
_BESIDES = ("nangia", "aul")
#: Decimals to which the published code rounds scores before it compares them; the others compare them as they are.
_ROUNDED = {"nangia": 3, "meade": 3, "cps": 3}
_TITLES = {
    "pairs_en": "Sentence pairs: occupations",
    "pairs_ja": "Sentence pairs: Japanese culture",
    "crows_pairs": "CrowS-Pairs",
}
_REPAIR = (
    "Pairs that score the same count half; the published code counts them against the stereotype, and for nangia, "
    "meade and cps treats scores that agree to 3 decimals as equal."
)
_CLUSTERED = (
    "The published test treats pairs as independent. Pairs that exchange the same words (black for white) or share a "
    "template or a topic are decided by the same preference of the model; the headline counts such clusters."
)
_PREFERS = {1.0: "stereotyped", 0.5: "neither", 0.0: "other"}
#: Log-probabilities nearer than this differ by the company a text kept in its batch, not by what it says.
_SAME = 1e-3


@dataclasses.dataclass(frozen=True, slots=True)
class PairStimuli:
    """Sentence pairs, and how they are compared; None: as fits the model."""

    pairs: SentenceSet
    method: str | None


def _make(*, data: str | Path | None = None, method: str | None = None) -> list[Part[PairStimuli]]:
    """One part; of CrowS-Pairs without a method also those that the literature quotes."""
    if method is not None and method not in _METHODS:
        raise unknown("method of pairs", method, _METHODS)
    pairs = _load(data)
    title = _TITLES.get(pairs.name, f"Sentence pairs: {pairs.name}")
    besides = _BESIDES if method is None and pairs.name == "crows_pairs" else ()
    return [
        Part("", title if method is None else f"{title} ({method})", PairStimuli(pairs, method), pairs.dimension),
        *(Part(name, f"{title} ({name})", PairStimuli(pairs, name), pairs.dimension) for name in besides),
    ]


def _load(data: str | Path | None) -> SentenceSet:
    name = str(data)
    if data is None or name in set_names("pairs") or name.endswith((".yaml", ".yml")):
        return pair_set(data)
    path = datasets.find(name) if name == "crows_pairs" else Path(data)
    if not path.exists() and not path.suffix:
        raise unknown("data of pairs", name, ("crows_pairs", *set_names("pairs")))
    return datasets.load_crows_pairs(path)


def _method(stimuli: PairStimuli, can: CanAnswer) -> str | None:
    methods = _USUAL if stimuli.method is None else (stimuli.method,)
    return next((method for method in methods if can(_METHODS[method][0])), None)


def _ask(stimuli: PairStimuli, can: CanAnswer) -> Asked | None:
    method = _method(stimuli, can)
    if method is None:
        return None
    question, _ = _METHODS[method]
    texts = [text for pair in stimuli.pairs.sentences for text in pair.forms["sentence"]]
    return {question: [Span(text, 0, len(text)) for text in texts] if question is Question.PSEUDO else texts}


def _measure(stimuli: PairStimuli, replies: Replies, options: Options) -> Measured:
    method = _method(stimuli, replies.answered)
    assert method is not None  # it was asked
    pairs, scores = _scored(stimuli.pairs, method, replies)
    stereotyped, other = np.array(scores).T
    kinds, directions = ([pair.tags.get(tag, "stereo") for pair in pairs] for tag in ("kind", "direction"))
    clusters = pair_clusters(pairs)
    together: dict[str, Any] = {"clusters": clusters, "permutations": options.permutations, "seed": options.seed}
    result = measures.crows_pairs(stereotyped, other, kinds=kinds, round_to=_ROUNDED.get(method, 15), **together)
    by_direction = measures.crows_pairs(stereotyped, other, kinds=directions, **together).by_kind
    name, published = "share preferring the stereotype", result.published
    test = result.p_value, "two-sided", result.exact, result.standard_error
    effect = Estimate(name, result.score, SHARE, result.ci, *test)
    alike = result.n_clusters < result.n
    among = f"{result.n:,} pairs in {result.n_clusters:,} clusters" if alike else f"{result.n:,} pairs"
    words = preference_words(effect, preferred="the sentence that fits the stereotype", among=among)
    differs = abs(result.score - published.score) > 1e-12
    repair = (_CLUSTERED if alike else "", _REPAIR if differs else "")
    return Measured(
        effect,
        towards_stereotype("pairs"),
        f"{words} Method {method}: it compares {_METHODS[method][1]}.",
        tuple(map(_item, pairs, clusters, scores, preferred(stereotyped, other).tolist())),
        ItemMeaning("log-probability of the stereotype, less that of the other", Poles("the stereotype", "the other")),
        Statistic("mean", ("won",), margins="value"),
        n_units=result.n_clusters,
        counted="clusters of pairs" if alike else "pairs",
        published=Estimate(name, published.score, SHARE, None, published.p_value, "two-sided", True)
        if differs or alike
        else None,
        repair=" ".join(filter(None, repair)),
        notes=stimuli.pairs.notes,
        details=PairsDetails(method, result.ties, published.ties, result.by_kind, by_direction),
        power=power_of_share(preferred(stereotyped, other), clusters=clusters, permutations=options.permutations),
    )


def _item(pair: Sentence, cluster: str, scores: tuple[float, float], won: float) -> Item:
    (stereotyped, other), (score, score_other) = pair.forms["sentence"], scores
    scored = {"score_stereotyped": score, "score_other": score_other, "won": won}
    columns: dict[str, Cell] = {"other": other, **scored, "prefers": _PREFERS[won]}
    return Item(stereotyped, cluster, pair.tags["kind"], score - score_other, columns)


def _scored(source: SentenceSet, method: str, replies: Replies) -> tuple[list[Sentence], list[tuple[float, float]]]:
    """The pairs that can be compared, with the scores of both sentences; the others are left out by name."""
    question, _ = _METHODS[method]
    answers: list[TokenScores] = answers_to(question, replies)
    kept, scores = list[Sentence](), list[tuple[float, float]]()
    for pair, one, two in zip(source.sentences, answers[::2], answers[1::2], strict=True):
        reason = _incomparable(method, one, two)
        if reason:
            replies.leave_out(f"pair {pair.tags['number']}: '{pair.text}'", reason)
        else:
            kept.append(pair)
            scores.append(_scores(method, one, two))
    unread = sum(int(answer.starts[0]) > 0 for answer in answers) if question is Question.TOKENS else 0
    if unread:
        replies.leave_out(
            f"the first word of {unread:,} sentences",
            f"nothing stands before it that {replies.model} could read, so it is not scored; add bos=yes to score it",
        )
    if not kept:
        raise BadInput(
            f"no pair of '{source.name}' can be compared on {replies.model} by {method}: use other sentences"
        )
    return kept, scores


def _incomparable(method: str, one: TokenScores, two: TokenScores) -> str | None:
    """Why two sentences cannot be compared, None where they can."""
    if np.array_equal(one.ids, two.ids) and np.allclose(one.logprobs, two.logprobs, rtol=0, atol=_SAME):
        return "the model reads both sentences as the same"
    if method in ("nangia", "cps") and not set(one.ids.tolist()) & set(two.ids.tolist()):
        return "the two sentences share no word"
    if method == "meade" and not all(measures.changed_tokens(one.ids.tolist(), two.ids.tolist())):
        return "one sentence only adds words to the other, so there is nothing to compare them with"
    return None


def _scores(method: str, one: TokenScores, two: TokenScores) -> tuple[float, float]:
    if method == "causal":
        return one.total, two.total
    if method == "aul":
        return measures.aul(one.logprobs), measures.aul(two.logprobs)
    compare: Any = measures.meade if method == "meade" else measures.nangia
    scores: tuple[float, float] = compare(one.logprobs, one.ids.tolist(), two.logprobs, two.ids.tolist())
    return scores


KIND = Kind(
    "pairs",
    "Is a sentence that fits a stereotype likelier than the same sentence about another group?",
    "Nangia, Vania, Bhalerao & Bowman 2020, EMNLP (CrowS-Pairs); Meade, Poole-Dayan & Reddy 2022, ACL; Kaneko & "
    "Bollegala 2022, AAAI",
    "a sentence should not become likelier because it is about the stereotyped group.",
    "log-probabilities of tokens that fit its method: of a masked language model for nangia, meade and aul, of a "
    "causal one for causal and cps",
    _make,
    _ask,
    _measure,
    (*OF_PROBABILITIES, FAULTY_PAIRS),
)
