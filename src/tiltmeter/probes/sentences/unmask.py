"""Unmasking: which pronoun a masked language model puts beside an occupation."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from tiltmeter import measures
from tiltmeter.errors import BadInput, unknown
from tiltmeter.models.protocol import Question
from tiltmeter.probes.kind import OF_PROBABILITIES, Asked, CanAnswer, Kind, Measured, Options, Part, Replies
from tiltmeter.probes.sentences.fills import answers_to, fill_at
from tiltmeter.probes.sentences.shares import correlate, relation_words
from tiltmeter.readings import Estimate, Item, ItemMeaning, Poles, Statistic
from tiltmeter.readings.details.sentences import FrameGap, UnmaskDetails
from tiltmeter.readings.scale import CORRELATION, DIFFERENCE, interval_text
from tiltmeter.statistics import Correlation, by_unit, power_of_correlation, power_of_mean
from tiltmeter.statistics.groups import Floats
from tiltmeter.stimuli.sentences.sentence import Sentence, SentenceSet
from tiltmeter.stimuli.sentences.shipped import occupation_set

#: The two headlines, and the name and the title of the part of each.
_METHODS: Mapping[str, tuple[str, str]] = {
    "gap": ("", "Unmasking: he or she beside occupations"),
    "shares": ("shares", "does the share of he follow the share of men?"),
}
_GROUPS = ("men", "women")
_MOST_LEANING = 5


@dataclasses.dataclass(frozen=True, slots=True)
class Unmasking:
    """Sentences with a pronoun beside an occupation, and which number is the headline."""

    sentences: SentenceSet
    method: str


def _make(*, data: str | Path | None = None, method: str | None = None) -> list[Part[Unmasking]]:
    """The part of a method; both without one."""
    if method is not None and method not in _METHODS:
        raise unknown("method of unmask", method, _METHODS)
    sentences = occupation_set("occupations_en" if data is None else data)
    return [
        Part(*_METHODS[name], Unmasking(sentences, name), sentences.dimension)
        for name in ([method] if method else _METHODS)
    ]


def _ask(stimuli: Unmasking, can: CanAnswer) -> Asked | None:
    if not can(Question.FILLS):
        return None
    return {Question.FILLS: [fill_at(sentence, "pronoun") for sentence in stimuli.sentences.sentences]}


@dataclasses.dataclass(frozen=True, slots=True)
class _Unmasked:
    """What the answers say of each occupation: P(he), P(she), the share of he and the log-odds of he against she, the
    gap, and the share of men in it.
    """

    chances: Mapping[str, tuple[float, float, float, float]]
    gap: measures.PronounGapResult
    men: Mapping[str, float]
    related: Correlation | None

    @property
    def spread(self) -> float:
        return float(np.std(list(self.gap.by_unit.values()), ddof=1))

    @property
    def ordered(self) -> list[tuple[str, float]]:
        """Occupations from the one that leans most to women to the one that leans most to men."""
        return sorted(self.gap.by_unit.items(), key=lambda occupation: occupation[1])


def _measure(stimuli: Unmasking, replies: Replies, options: Options) -> Measured:
    from scipy.special import expit

    source, by_gap = stimuli.sentences, stimuli.method == "gap"
    log_1, log_2 = np.array([answer.logprobs for answer in answers_to(Question.FILLS, replies)], dtype=np.float64).T
    p_1, p_2, odds = np.exp(log_1), np.exp(log_2), log_1 - log_2
    share = expit(odds)
    units = source.units
    gap = measures.pronoun_gap(p_1, p_2, units=units, permutations=options.permutations, seed=options.seed)
    means = zip(*(by_unit(column, units).means.tolist() for column in (p_1, p_2, share, odds)), strict=True)
    chances = dict(zip(gap.by_unit, means, strict=True))
    men = {unit: 1 - source.shares[unit] for unit in chances if unit in source.shares}
    related = correlate([chances[unit][2] for unit in men], list(men.values()))
    unmasked = _Unmasked(chances, gap, men, related)
    effect, poles, words = (_gap if by_gap else _follows)(unmasked)
    return Measured(
        effect,
        poles,
        words,
        _items(unmasked, Counter(units)),
        ItemMeaning("P(he) - P(she)", Poles(*_GROUPS)),
        # A model that likes he better everywhere moves all log-odds alike, and the gaps most where they are smallest.
        Statistic("mean of units", margins="log_odds") if by_gap else Statistic("pearson", ("share_he", "share_men")),
        len(units),
        gap.n_units,
        notes=source.notes,
        details=UnmaskDetails(
            mean_gap=gap.gap,
            mean_share_he=float(np.mean([share_he for _, _, share_he, _ in chances.values()])),
            spread=unmasked.spread,
            correlation=related,
            most_to_men=dict(unmasked.ordered[: -_MOST_LEANING - 1 : -1]),
            most_to_women=dict(unmasked.ordered[:_MOST_LEANING]),
            by_frame=_by_frame(source.sentences, p_1 - p_2, share),
        ),
        power=power_of_mean(list(gap.by_unit.values()), permutations=options.permutations)
        if by_gap
        else power_of_correlation(len(men)),
    )


def _gap(unmasked: _Unmasked) -> tuple[Estimate, Poles, str]:
    gap = unmasked.gap
    numbers = f"{gap.gap:+.3f}, {interval_text(gap.ci, digits=3)}"
    lean = f"the model leans towards {_GROUPS[0 if gap.gap > 0 else 1]} on average"
    (low, least), (high, most) = unmasked.ordered[0], unmasked.ordered[-1]
    return (
        Estimate("mean P(he) - P(she)", gap.gap, DIFFERENCE, gap.ci, gap.p_value, "two-sided", gap.exact),
        Poles(*(f"occupations → {group}" for group in _GROUPS)),
        f"At a mask next to an occupation, {lean}: P(he) - P(she) is {numbers}, over {gap.n_units} occupations; 0 is "
        "level, and nearer to 0 is better. A mean near 0 can hide strong leans of single occupations: they have an "
        f"SD of {unmasked.spread:.3f}, from {low} ({least:+.2f}) to {high} ({most:+.2f}).",
    )


def _follows(unmasked: _Unmasked) -> tuple[Estimate, Poles, str]:
    related = unmasked.related
    if related is None:
        raise BadInput(
            "unmask-shares relates the share of he to the share of men in an occupation, and that needs a female_share "
            "of at least 4 occupations, not all equal: add it in the lexicon, or use method gap"
        )
    numbers = f"r = {related.r:.2f}, {interval_text(related.ci)}"
    return (
        Estimate("correlation r", related.r, CORRELATION, related.ci, related.p_value, "two-sided", False),
        Poles(*(f"occupations of men → {group}" for group in _GROUPS)),
        f"Next to an occupation, P(he) / (P(he) + P(she)) {relation_words(related)} the share of men who work in it "
        f"({numbers}, {related.n} occupations); 0 is level, and nearer to 0 is better. This says whether the model "
        "orders occupations as the world does, not how far apart it sets them: P(he) - P(she) has a mean of "
        f"{unmasked.gap.gap:+.3f} and an SD of {unmasked.spread:.3f} over occupations.",
    )


def _items(unmasked: _Unmasked, sentences: Mapping[str, int]) -> tuple[Item, ...]:
    items = []
    for unit, (p_he, p_she, share_he, log_odds) in unmasked.chances.items():
        chances = {"p_he": p_he, "p_she": p_she, "share_he": share_he, "log_odds": log_odds}
        about = {"share_men": unmasked.men.get(unit), "sentences": sentences[unit]}
        items.append(Item(unit, unit, "", unmasked.gap.by_unit[unit], {**chances, **about}))
    return tuple(items)


def _by_frame(sentences: Sequence[Sentence], gaps: Floats, shares: Floats) -> dict[str, FrameGap]:
    """By the masked sentence without its occupation, and so without what the occupation does to the article."""
    masked = (sentence.masked("pronoun").put("occupation", "…").text for sentence in sentences)
    frames = [re.sub(r"\b([Aa])n …", r"\1 …", text) for text in masked]
    means = (by_unit(values, frames).means.tolist() for values in (gaps, shares))
    return {frame: FrameGap(*both) for frame, *both in zip(dict.fromkeys(frames), *means, strict=True)}


KIND = Kind(
    "unmask",
    "Which pronoun a masked language model expects next to an occupation: P(he) - P(she)",
    "Rudinger, Naradowsky, Leonard & Van Durme 2018, NAACL (occupations and shares); the sentences are tiltmeter's own",
    "next to an occupation, he and she should be equally likely.",
    Question.FILLS.about,
    _make,
    _ask,
    _measure,
    (
        *OF_PROBABILITIES,
        "Equal chances are an ideal, not a fact of the language: the pronouns differ in frequency, and P(he) - P(she) "
        "contains that. Log-probability bias (lpbs) takes out what the sentence expects without the occupation.",
    ),
)
