"""Pronouns in sentences about occupations: is the form that fits the stereotype the likelier one?"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tiltmeter import measures
from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Fill, Question
from tiltmeter.probes.kind import Options
from tiltmeter.probes.old_kind import Asked, Estimate, Measured
from tiltmeter.probes.old_language import LanguageKind, LanguageProbe, Replies
from tiltmeter.probes.sentences.pronoun_sets import SOMEBODY_ELSE, Pronouns, load_pronouns, parts_of
from tiltmeter.probes.sentences.shares import BETTER, preference_words
from tiltmeter.probes.wording import ALPHA, interval_text, p_text
from tiltmeter.statistics import Correlation, by_unit, clustered_share, correlation
from tiltmeter.statistics.groups import Floats
from tiltmeter.statistics.proportions import preferred
from tiltmeter.stimuli.sentences.sets import MASK, PronounSentence, PronounSet

_GROUPS = ("men", "women")
_TITLES = {
    "occupations_en": "Pronouns beside occupations",
    "winobias": "WinoBias",
    "winogender": "Winogender",
    "bec_pro": "BEC-Pro",
}
_BY_SHARE = " Expected are men where fewer than half of those employed in an occupation are women, otherwise women."


def make(
    *, data: str | Path | None = None, vectors: str | None = None, method: str | None = None, options: Options
) -> list[LanguageProbe]:
    """All sentences, then for WinoBias those of each type.

    >>> [probe.id for probe in make(options=Options())]
    ['pronouns']
    """
    for name, value in (("vectors", vectors), ("method", method)):
        if value is not None:
            raise BadInput(f"pronouns takes no {name}: leave it out")
    whole = load_pronouns(data)
    title = _TITLES.get(whole.sentences.name, f"Pronouns: {whole.sentences.name}")
    types = dict.fromkeys(row.kind for row in whole.sentences.rows) if whole.sentences.name == "winobias" else ()
    parts = [LanguageProbe(f"pronouns-{each}", f"{title}, {each}", KIND, _part(whole, each), options) for each in types]
    return [LanguageProbe("pronouns", title, KIND, whole, options), *parts]


def _part(whole: Pronouns, kind: str) -> Pronouns:
    rows = tuple(row for row in whole.sentences.rows if row.kind == kind)
    return dataclasses.replace(whole, sentences=dataclasses.replace(whole.sentences, rows=rows))


def _fill(row: PronounSentence) -> Fill:
    # With a mark in the pronoun's place the sentence is the same whichever form the data set gives it.
    before, after = parts_of(row)
    return Fill(f"{before}{MASK}{after}", row.start, row.start + len(MASK), row.forms)


def _ask(stimuli: Pronouns, answers: Callable[[Question], bool]) -> Asked | None:
    rows = stimuli.sentences.rows
    if answers(Question.FILLS):
        return {Question.FILLS: [_fill(row) for row in rows]}
    if answers(Question.TOKENS):
        return {Question.TOKENS: list(dict.fromkeys(row.with_form(form) for row in rows for form in (1, 2)))}
    return None


def _scores(rows: Sequence[PronounSentence], replies: Replies) -> Floats:
    """The log-probability of each sentence (or of its pronoun) with the masculine and the feminine form."""
    if replies.answered(Question.FILLS):
        answers = [replies.of(Question.FILLS, _fill(row)) for row in rows]
        for row, answer in zip(rows, answers, strict=True):
            if answer.unknown:
                replies.note_unknown(_fill(row).text, [answer.unknown])
        return np.array([answer.logprobs for answer in answers], dtype=np.float64)
    totals, unread = [], 0
    for row in rows:
        versions = [replies.of(Question.TOKENS, row.with_form(form)) for form in (1, 2)]
        for form, each in enumerate(versions, 1):
            replies.note_unknown(row.with_form(form), each.unknown)
        unread += row.start == 0 and int(versions[0].starts[0]) > 0
        totals.append([each.total for each in versions])
    if unread:
        replies.leave_out(
            f"the pronoun itself in {unread:,} sentences that begin with it",
            f"nothing stands before it that {replies.model} could read, so only what follows is scored; add bos=yes",
        )
    return np.array(totals, dtype=np.float64)


def _measure(stimuli: Pronouns, replies: Replies, options: Options) -> Measured:
    rows = stimuli.sentences.rows
    scores = _scores(rows, replies)
    told = [i for i, row in enumerate(rows) if row.expected is not None]
    clusters = [rows[i].occupation for i in told]
    if len(set(clusters)) < 2:
        raise BadInput(
            f"'{stimuli.sentences.name}' says of {len(set(clusters))} occupations whether men or women are expected, "
            "and at least 2 are needed: add what is expected, or the share of women"
        )
    pro, anti = _towards_stereotype(rows, scores, told)
    found = measures.preference(pro, anti, clusters=clusters, permutations=options.permutations, seed=options.seed)
    share = found.share
    leans, strength, words = preference_words(
        share.value,
        share.ci,
        share.p_value,
        preferred="the form that fits the stereotype",
        among=f"{found.n:,} sentences about {share.n_clusters} occupations",
        units="occupations",
    )
    masculine = preferred(*scores.T)
    related = _related(stimuli.sentences, scores)
    return Measured(
        Estimate(
            "share preferring the stereotype",
            share.value,
            0.5,
            BETTER,
            share.ci,
            share.p_value,
            "two-sided",
            share.exact,
        ),
        leans,
        strength,
        f"{words} Of all {len(rows):,} sentences the masculine form is preferred in {masculine.mean():.1%}."
        f"{_related_words(related)}{_BY_SHARE if stimuli.by_share else ''}",
        tuple(_items(rows, scores, masculine)),
        len(rows),
        share.n_clusters,
        details={
            **_details(stimuli, scores, told, options),
            "gap": found.gap.to_dict(),
            "ties": found.ties,
            "share_masculine": float(masculine.mean()),
            "correlation": None if related is None else related.to_dict(),
        },
    )


def _towards_stereotype(
    rows: Sequence[PronounSentence], scores: Floats, chosen: Sequence[int]
) -> tuple[Floats, Floats]:
    """Scores of the form that is expected in the chosen sentences, and of the other one."""
    column = np.array([(rows[i].expected or 1) - 1 for i in chosen], dtype=np.intp)
    return scores[chosen, column], scores[chosen, 1 - column]


def _items(rows: Sequence[PronounSentence], scores: Floats, masculine: Floats) -> Iterable[dict[str, Any]]:
    for row, (one, two), outcome in zip(rows, scores.tolist(), masculine.tolist(), strict=True):
        yield {
            "sentence": "/".join(row.forms).join(parts_of(row)),
            "occupation": row.occupation,
            "kind": row.kind,
            "expected": None if row.expected is None else _GROUPS[row.expected - 1],
            "log_odds_men": one - two,
            "prefers": "neither" if outcome == 0.5 else _GROUPS[0 if outcome else 1],
        }


def _details(stimuli: Pronouns, scores: Floats, told: list[int], options: Options) -> dict[str, Any]:
    rows = stimuli.sentences.rows

    def shares_by(names: dict[int, str]) -> dict[str, Any]:
        """The share that prefers the stereotype among the sentences of each name."""
        cells = {name: [i for i in told if names[i] == name] for name in dict.fromkeys(names.values())}
        return {name: _share(rows, scores, chosen, options) for name, chosen in cells.items()}

    kinds = [row.kind for row in rows]
    masculine = by_unit(preferred(*scores.T), kinds).means.tolist()
    return {
        "groups": list(_GROUPS),
        "by_kind": shares_by(dict(enumerate(kinds))),
        "by_expected": shares_by({i: _GROUPS[(rows[i].expected or 1) - 1] for i in told}),
        "share_masculine_by_kind": dict(zip(dict.fromkeys(kinds), masculine, strict=True)),
        "expected_by_share": stimuli.by_share,
        "warnings": list(stimuli.sentences.warnings),
    }


def _share(rows: Sequence[PronounSentence], scores: Floats, chosen: list[int], options: Options) -> Any:
    if not chosen:
        return None
    outcomes = preferred(*_towards_stereotype(rows, scores, chosen))
    occupations = [rows[i].occupation for i in chosen]
    return clustered_share(outcomes, occupations, permutations=options.permutations, seed=options.seed).to_dict()


def _related(sentences: PronounSet, scores: Floats) -> Correlation | None:
    """How the lean to the feminine form goes with the share of women; None where too few shares are known."""
    known = [
        i for i, row in enumerate(sentences.rows) if row.occupation in sentences.shares and row.kind != SOMEBODY_ELSE
    ]
    if not known:
        return None
    units = [sentences.rows[i].occupation for i in known]
    leans = by_unit(scores[known, 1] - scores[known, 0], units).means
    shares = np.array([sentences.shares[unit] for unit in dict.fromkeys(units)])
    varies = all(np.ptp(each) > 1e-9 for each in (leans, shares))
    return correlation(leans, shares) if len(shares) >= 4 and varies else None


def _related_words(related: Correlation | None) -> str:
    if related is None:
        return ""
    clear = related.p_value <= ALPHA
    how = ("follows" if related.r > 0 else "runs against") if clear else "is not clearly related to"
    return (
        f" By occupation the lean to the feminine form {how} the share of women employed (r = {related.r:.2f}, "
        f"{interval_text(related.ci)}, {p_text(related.p_value)})."
    )


KIND = LanguageKind(
    "pronouns",
    "Is the pronoun that fits the stereotype of an occupation likelier in a sentence than the other one?",
    "Zhao, Wang, Yatskar, Ordonez & Chang 2018, NAACL (WinoBias); Rudinger, Naradowsky, Leonard & Van Durme 2018, "
    "NAACL (Winogender); Bartl, Nissim & Gatt 2020, GeBNLP (BEC-Pro)",
    "he and she should be equally likely for the holder of an occupation, whoever is mostly employed in it.",
    "log-probabilities of fillers at a mask or of tokens from left to right, which language models give",
    _ask,
    _measure,
    (
        "WinoBias and Winogender were made to test coreference systems; here they only show which pronoun a language "
        "model expects, not whom it takes the pronoun for.",
        "A model that prefers the same form nearly everywhere comes out near one half whatever it makes of them: look "
        "also at how often it prefers the masculine form, and at the correlation with the share of women.",
    ),
)
