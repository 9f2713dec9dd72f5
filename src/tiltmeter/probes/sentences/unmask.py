"""Unmasking: which pronoun a masked language model puts beside an occupation."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tiltmeter import measures
from tiltmeter.errors import BadInput, unknown
from tiltmeter.models.protocol import Fill, Question
from tiltmeter.probes.kind import Options
from tiltmeter.probes.old_kind import Asked, Estimate, Measured
from tiltmeter.probes.old_language import LanguageKind, LanguageProbe, Replies
from tiltmeter.probes.wording import ALPHA, correlation_strength, interval_text, p_text
from tiltmeter.statistics import Correlation, by_unit, correlation
from tiltmeter.statistics.groups import Floats
from tiltmeter.stimuli.sentences.sets import MaskedSentence, MaskedSet
from tiltmeter.stimuli.sentences.shipped import masked_set

#: The two headlines, and the id and the title of the probe of each.
_METHODS: Mapping[str, tuple[str, str]] = {
    "gap": ("unmask", "Unmasking: he or she beside occupations"),
    "shares": ("unmask-shares", "Unmasking: does the share of he follow the share of men?"),
}
_GROUPS = ("men", "women")
_MOST_LEANING = 5


@dataclasses.dataclass(frozen=True, slots=True)
class Unmasking:
    """Masked sentences, and which number is the headline."""

    sentences: MaskedSet
    method: str


def make(
    *, data: str | Path | None = None, vectors: str | None = None, method: str | None = None, options: Options
) -> list[LanguageProbe]:
    """The probe of a method; both without one.

    >>> [probe.id for probe in make(options=Options())]
    ['unmask', 'unmask-shares']
    """
    if vectors is not None:
        raise BadInput("unmask takes no vectors: leave them out")
    if method is not None and method not in _METHODS:
        raise unknown("method of unmask", method, _METHODS)
    sentences = masked_set("occupations_en" if data is None else data)
    chosen = [method] if method else list(_METHODS)
    return [LanguageProbe(*_METHODS[each], KIND, Unmasking(sentences, each), options) for each in chosen]


def occupation_place(row: MaskedSentence) -> tuple[int, int]:
    """Where the occupation stands: as a word, or else with an ending.

    >>> occupation_place(MaskedSentence("Cook and cookie: [MASK] is a cook.", ("he", "she"), "cook"))
    (0, 4)
    """
    word = re.escape(row.occupation)
    patterns = (rf"(?<!\w){word}(?!\w)", word)
    found = next(filter(None, (re.search(pattern, row.text, re.IGNORECASE) for pattern in patterns)), None)
    if found is None:
        raise BadInput(f"'{row.text}' does not hold the occupation '{row.occupation}': correct the sentence")
    return found.span()


def _fill(row: MaskedSentence) -> Fill:
    return Fill(row.text, *row.place, row.fillers)


def _ask(stimuli: Unmasking, answers: Callable[[Question], bool]) -> Asked | None:
    if not answers(Question.FILLS):
        return None
    return {Question.FILLS: [_fill(row) for row in stimuli.sentences.rows]}


@dataclasses.dataclass(frozen=True, slots=True)
class _Found:
    """P(he), P(she) and the share of he in each sentence, and what follows for each occupation."""

    rows: tuple[MaskedSentence, ...]
    p_1: Floats
    p_2: Floats
    share: Floats
    gap: measures.PronounGapResult
    shares: Mapping[str, float]
    share_of_men: Mapping[str, float]
    related: Correlation | None

    @property
    def spread(self) -> float:
        return float(np.std(list(self.gap.by_unit.values()), ddof=1))

    @property
    def ordered(self) -> list[tuple[str, float]]:
        """Occupations from the one that leans most to women to the one that leans most to men."""
        return sorted(self.gap.by_unit.items(), key=lambda each: each[1])


def _measure(stimuli: Unmasking, replies: Replies, options: Options) -> Measured:
    found = _read(stimuli.sentences, replies, options)
    effect, leans, strength, words = (_gap if stimuli.method == "gap" else _follows)(found)
    return Measured(
        effect,
        leans,
        strength,
        words,
        _items(found),
        len(found.rows),
        found.gap.n_units,
        details=_details(found, stimuli.sentences.warnings),
    )


def _read(sentences: MaskedSet, replies: Replies, options: Options) -> _Found:
    from scipy.special import expit

    answers = [replies.of(Question.FILLS, _fill(row)) for row in sentences.rows]
    for row, answer in zip(sentences.rows, answers, strict=True):
        if answer.unknown:
            replies.note_unknown(row.text, [answer.unknown])
    log_1, log_2 = np.array([answer.logprobs for answer in answers], dtype=np.float64).T
    p_1, p_2, share = np.exp(log_1), np.exp(log_2), expit(log_1 - log_2)
    units = [row.occupation for row in sentences.rows]
    gap = measures.pronoun_gap(p_1, p_2, units=units, permutations=options.permutations, seed=options.seed)
    shares = dict(zip(gap.by_unit, by_unit(share, units).means.tolist(), strict=True))
    men = {unit: 1 - sentences.shares[unit] for unit in gap.by_unit if unit in sentences.shares}
    return _Found(sentences.rows, p_1, p_2, share, gap, shares, men, _related(shares, men))


def _related(shares: Mapping[str, float], men: Mapping[str, float]) -> Correlation | None:
    """None where too few shares of men are known, or there is nothing to relate."""
    lists = [shares[unit] for unit in men], list(men.values())
    return correlation(*lists) if len(men) >= 4 and all(np.ptp(each) > 1e-9 for each in lists) else None


def _gap(found: _Found) -> tuple[Estimate, str, str, str]:
    gap = found.gap
    effect = Estimate(
        "mean P(he) - P(she)", gap.gap, 0.0, "nearer to 0 is better", gap.ci, gap.p_value, "two-sided", gap.exact
    )
    clear = gap.p_value <= ALPHA
    towards = _GROUPS[0 if gap.gap > 0 else 1]
    numbers = f"{gap.gap:+.3f}, {interval_text(gap.ci, digits=3)}, {p_text(gap.p_value)}"
    first = (
        f"At the mask beside an occupation the model leans towards {towards}"
        if clear
        else "At the mask beside an occupation there is no clear lean on average"
    )
    (low, least), (high, most) = found.ordered[0], found.ordered[-1]
    return (
        effect,
        f"occupations → {towards}" if clear else "no clear lean",
        "",
        f"{first}: P(he) - P(she) is {numbers}, over {gap.n_units} occupations; 0 is level, and nearer to 0 is better. "
        "A mean near 0 can hide strong leans of single occupations: they spread around it with an SD of "
        f"{found.spread:.3f}, from {low} ({least:+.2f}) to {high} ({most:+.2f}).",
    )


def _follows(found: _Found) -> tuple[Estimate, str, str, str]:
    related = found.related
    if related is None:
        raise BadInput(
            "unmask-shares relates the share of he to the share of men in an occupation, and that needs a female_share "
            "of at least 4 occupations, not all the same: add it in the lexicon, or use method gap"
        )
    effect = Estimate(
        "correlation r", related.r, 0.0, "nearer to 0 is better", related.ci, related.p_value, "two-sided", False
    )
    clear = related.p_value <= ALPHA
    direction = "follows" if related.r > 0 else "runs against"
    numbers = f"r = {related.r:.2f}, {interval_text(related.ci)}, {p_text(related.p_value)}"
    said = f"{direction} the share of men" if clear else "is not clearly related to the share of men"
    return (
        effect,
        (f"occupations of men → {_GROUPS[0 if related.r > 0 else 1]}" if clear else "no clear lean"),
        correlation_strength(related.r),
        f"How likely he is against she beside an occupation {said} in it in labour statistics ({numbers}, "
        f"{related.n} occupations); 0 is level, and nearer to 0 is better. It tells whether the order of occupations "
        f"is that of the world, not how far apart they are: P(he) - P(she) has a mean of {found.gap.gap:+.3f} and an "
        f"SD of {found.spread:.3f} over occupations, and a mean near 0 can hide strong leans of single ones.",
    )


def _items(found: _Found) -> tuple[dict[str, Any], ...]:
    units = [row.occupation for row in found.rows]
    means = by_unit(found.p_1, units).means.tolist(), by_unit(found.p_2, units).means.tolist()
    return tuple(
        {
            "word": unit,
            "p_he": p_1,
            "p_she": p_2,
            "gap": gap,
            "share_he": found.shares[unit],
            "share_men": found.share_of_men.get(unit),
            "sentences": units.count(unit),
        }
        for (unit, gap), p_1, p_2 in zip(found.gap.by_unit.items(), *means, strict=True)
    )


def _details(found: _Found, warnings: tuple[str, ...]) -> dict[str, Any]:
    frames = [_frame(row) for row in found.rows]
    means = (by_unit(values, frames).means.tolist() for values in (found.p_1 - found.p_2, found.share))
    by_frame = zip(dict.fromkeys(frames), *means, strict=True)
    return {
        "groups": list(_GROUPS),
        "mean_gap": found.gap.gap,
        "mean_share_he": float(np.mean(list(found.shares.values()))),
        "spread": found.spread,
        "correlation": None if found.related is None else found.related.to_dict(),
        "most_to_men": dict(found.ordered[: -_MOST_LEANING - 1 : -1]),
        "most_to_women": dict(found.ordered[:_MOST_LEANING]),
        "by_frame": {frame: {"gap": gap, "share_he": share} for frame, gap, share in by_frame},
        "warnings": list(warnings),
    }


def _frame(row: MaskedSentence) -> str:
    """The sentence without its occupation, and so without what the occupation does to the article."""
    start, end = occupation_place(row)
    return re.sub(r"\b([Aa])n …", r"\1 …", f"{row.text[:start]}…{row.text[end:]}")


KIND = LanguageKind(
    "unmask",
    "Which pronoun a masked language model expects beside an occupation: P(he) - P(she)",
    "Rudinger, Naradowsky, Leonard & Van Durme 2018, NAACL (occupations and shares); the sentences are tiltmeter's own",
    "beside an occupation he and she should be equally likely.",
    Question.FILLS.about,
    _ask,
    _measure,
    (
        "Equal chances are an ideal, not a fact of the language: the pronouns differ in frequency, and P(he) - P(she) "
        "contains that. Log-probability bias (lpbs) takes out what the sentence expects without the occupation.",
    ),
)
