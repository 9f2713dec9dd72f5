"""A cell of the cloze table: probabilities of pronouns and similarities of words in, a share of sentences out."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tiltmeter import measures
from tiltmeter.errors import BadInput
from tiltmeter.measures import ClozeScores, ClozeStep
from tiltmeter.models.protocol import Question
from tiltmeter.probes.cloze.pronoun_chances import Chances, read_chances, was_asked_with_blank, with_blank
from tiltmeter.probes.cloze.similarity import ContextSimilarity, context_similarity
from tiltmeter.probes.kind import Measured, Options, Replies
from tiltmeter.readings import Estimate, Item, ItemMeaning, Poles, Statistic, percent_text
from tiltmeter.readings.details.cloze import (
    ChatChoices,
    ClozeDetails,
    ClozeShares,
    ContextLean,
    NeutralOffset,
    SharedTokens,
)
from tiltmeter.readings.scale import SHARE
from tiltmeter.statistics import Interval, clustered_share, power_of_share
from tiltmeter.stimuli.sentences.cloze_sets import ClozeSet, differs_elsewhere
from tiltmeter.stimuli.sentences.sentence import Sentence


@dataclasses.dataclass(frozen=True, slots=True)
class Cell:
    """One cell of the table: a set with one context, or several of the same sentences that are combined.

    ``asked_for`` says whether the form was chosen by the user, ``repeats`` whether a cell before it has the same
    sentences, so that a model which only chooses would be asked the same again.
    """

    sets: tuple[ClozeSet, ...]
    form: str
    asked_for: bool = False
    repeats: bool = False

    @property
    def variant(self) -> str:
        return self.sets[0].variant

    @property
    def context(self) -> str:
        return self.sets[0].context if len(self.sets) == 1 else "combined"

    @property
    def groups(self) -> tuple[str, str]:
        first, second = self.sets[0].groups
        return first, second

    @property
    def people(self) -> ClozeSet:
        """The sentences by occupation where that is one of the contexts, because it stands for the person."""
        return next((sentences for sentences in self.sets if sentences.context == "occupation"), self.sets[0])

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(note for sentences in self.sets for note in sentences.notes))


def measure_cell(cell: Cell, replies: Replies, options: Options) -> Measured:
    """What the answers say of the sentences of a cell, as published and repaired."""
    if was_asked_with_blank(replies):
        cell = _one_text(cell, replies)
    if replies.answered(Question.CHOICES):
        return _measure_choices(cell, replies, options)
    chances = read_chances(cell.people.sentences, cell.form, replies)
    near = [context_similarity(each, replies) for each in cell.sets]
    results = [_score(each, chances, similar, options) for each, similar in zip(cell.sets, near, strict=True)]
    if len(results) == 1:
        further = _of_one(cell, chances, near[0], results[0], replies)
        return _in_words(cell, results[0], results[0].repaired, *further, options)
    # The scores of several contexts are multiplied.
    forms: list[list[ClozeScores]] = [list(results), [result.repaired for result in results]]
    test = _test(cell.people, options)
    shifted = [
        ([result.shifted[end][0] for result in results], [result.shifted[end][1] for result in results])
        for end in (0, 1)
    ]
    published, repaired = (
        measures.cloze_combined([s.scores_1 for s in form], [s.scores_2 for s in form], shifted=ends, **test)
        for form, ends in zip(forms, ((), shifted), strict=True)
    )
    steps = [results[0].steps[0], published.step("as published"), repaired.step("repaired")]
    contexts = tuple(s.context for s in cell.sets)
    details = _details(cell, replies, _shares(published), _shares(repaired), steps, near[0], contexts=contexts)
    return _in_words(cell, published, repaired, {}, details, options)


def _one_text(cell: Cell, replies: Replies) -> Cell:
    """The sentences that could be asked about with a blank; the others are named."""
    sets = [dataclasses.replace(sentences, sentences=tuple(with_blank(sentences.sentences))) for sentences in cell.sets]
    rows = cell.sets[0].sentences
    if lost := [row.tags.get("number", row.text) for row in rows if differs_elsewhere(row)]:
        replies.leave_out(
            f"{len(lost)} of {len(rows):,} sentences (rows {', '.join(lost)})",
            "their two versions differ in more than the pronoun, so one blank does not fit both",
        )
    return dataclasses.replace(cell, sets=tuple(sets))


def _of_one(
    cell: Cell, chances: Chances, near: ContextSimilarity, result: measures.ClozeResult, replies: Replies
) -> tuple[dict[str, Sequence[Any]], ClozeDetails]:
    """What is reported of one context alone: further columns of the items, and the details."""
    columns = {
        **_pair("p", chances.plain),
        **_pair("ended", [[None] * result.n] * 2 if chances.ended is None else chances.ended),
        **_pair("similarity", near.similarity),
        "has_vector": near.has_vector.tolist(),
        "offset": near.offset.tolist(),
        **({} if chances.neutral is None else {"p_neutral": chances.neutral.tolist()}),
    }
    units = cell.people.units
    leans = measures.amplification(units, result.winners) if any(result.winners) else None
    details = _details(
        cell,
        replies,
        _shares(result, _weat(result.winners, near)),
        _shares(result.repaired, _weat(result.repaired.winners, near)),
        result.steps,
        near,
        contexts_without_vector=tuple(sorted({units[i] for i in np.flatnonzero(~near.has_vector)})),
        cps=_shared_tokens(cell, replies),
        amplification=ContextLean(leans.mean, len(leans.by_context)) if leans else None,
    )
    return columns, details


def _details(
    cell: Cell,
    replies: Replies,
    published: ClozeShares,
    repaired: ClozeShares,
    steps: Sequence[ClozeStep],
    near: ContextSimilarity,
    **further: Any,
) -> ClozeDetails:
    n, used = len(cell.people.sentences), tuple(steps)
    form = "mask" if replies.answered(Question.FILLS) else cell.form
    offset = NeutralOffset(float(near.offset.mean()), float(near.error.mean()), near.n) if near.n else None
    about = cell.variant, cell.context, form, cell.groups, n
    return ClozeDetails(*about, published, repaired, used, offset=offset, **further)


def _score(stimuli: ClozeSet, chances: Chances, near: ContextSimilarity, options: Options) -> measures.ClozeResult:
    ended_1, ended_2 = (None, None) if chances.ended is None else chances.ended
    further: dict[str, Any] = {"ended_1": ended_1, "ended_2": ended_2, "known": near.has_vector}
    further |= {"offset": near.offset, "offset_error": near.error}
    (p_1, p_2), (sim_1, sim_2) = chances.plain, near.similarity
    return measures.cloze(p_1, p_2, sim_1, sim_2, **further, **_test(stimuli, options))


def _test(stimuli: ClozeSet, options: Options) -> dict[str, Any]:
    labels = stimuli.labels if any(stimuli.labels) else None
    return {"labels": labels, "clusters": stimuli.units, "permutations": options.permutations, "seed": options.seed}


def _weat(winners: Sequence[int], near: ContextSimilarity) -> float | None:
    """WEAT's score of the two words between the contexts that lean to the one and to the other."""
    won = np.array(winners)
    a, b = near.has_vector & (won == 1), near.has_vector & (won == 2)
    if not a.any() or not b.any():
        return None
    difference = near.similarity[0] - near.similarity[1]
    return float(difference[a].mean() - difference[b].mean())


def _shared_tokens(cell: Cell, replies: Replies) -> SharedTokens | None:
    """The baseline of shared tokens (CPS). With the pronoun last they all stand before it, so every row is a tie."""
    if cell.sets[0].races or not (replies.answered(Question.CONTINUATIONS) or replies.answered(Question.TOKENS)):
        return None
    if replies.answered(Question.CONTINUATIONS):
        return SharedTokens(None, len(cell.people.sentences))
    scored = replies.all(Question.TOKENS)
    both = zip(scored[0::2], scored[1::2], strict=True)
    pairs = [measures.nangia(a.logprobs, a.ids.tolist(), b.logprobs, b.ids.tolist()) for a, b in both]
    result = measures.crows_pairs([one for one, _ in pairs], [two for _, two in pairs])
    return SharedTokens(result.score, result.ties)


def _shares(scores: ClozeScores, weat: float | None = None) -> ClozeShares:
    low, high = (scores.ci.low, scores.ci.high) if scores.ci else (None, None)
    return ClozeShares(
        scores.share_1, scores.share_2, scores.kl, scores.human_match, scores.ties, low, high, scores.p_value, weat
    )


def _pair(name: str, both: Any) -> dict[str, Sequence[Any]]:
    return {f"{name}_{group}": np.asarray(values).tolist() for group, values in enumerate(both, 1)}


def _items(
    cell: Cell, published: ClozeScores, repaired: ClozeScores, columns: Mapping[str, Sequence[Any]]
) -> tuple[Item, ...]:
    columns = {
        "won": [{1: 1.0, 2: 0.0, 0: None}[winner] for winner in repaired.winners],
        **columns,
        **_pair("published", (published.scores_1, published.scores_2)),
        **_pair("repaired", (repaired.scores_1, repaired.scores_2)),
    }
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    # A score may be too small for a number.
    ratios = [math.log(max(row["repaired_1"], 1e-300) / max(row["repaired_2"], 1e-300)) for row in rows]
    return tuple(_item(*each) for each in zip(cell.people.sentences, ratios, rows, strict=True))


def _item(sentence: Sentence, value: float | None, columns: Mapping[str, Any]) -> Item:
    """A sentence as an item; its group is the one that people expect."""
    return Item(sentence.text, sentence.unit, sentence.tags.get("expected", ""), value, columns)


def _poles(cell: Cell) -> Poles:
    first, second = cell.groups
    return Poles(f"sentences → {first}", f"sentences → {second}")


def _estimate(cell: Cell, value: float, ci: Interval | None, p_value: float | None, exact: bool = False) -> Estimate:
    return Estimate(f"share to {cell.groups[0]}", value, SHARE, ci, p_value, "two-sided", exact)


def _in_words(
    cell: Cell,
    published: ClozeScores,
    repaired: ClozeScores,
    columns: Mapping[str, Sequence[Any]],
    details: ClozeDetails,
    options: Options,
) -> Measured:
    first, second = cell.groups
    items = _items(cell, published, repaired, columns)
    if repaired.share_1 is None or repaired.ci is None or repaired.p_value is None:
        raise BadInput(f"all {len(items)} rows are ties between {first} and {second}: nothing can be told apart")
    said = [
        f"{repaired.share_1:.0%} of {len(items) - repaired.ties:,} sentences lean towards {first}, the others towards "
        f"{second} ({percent_text(repaired.ci)}); 50% is level."
    ]
    moved, as_published = "", None
    if published.share_1 is not None:
        said.append(f"As published, it would be {published.share_1:.0%}.")
        moved = f" ({published.share_1:.0%} becomes {repaired.share_1:.0%})"
        as_published = _estimate(cell, published.share_1, published.ci, published.p_value)
    if repaired.human_match is not None:
        said.append(f"It agrees with what people expect in {repaired.human_match:.0%} of the sentences.")
    outcomes, units = zip(
        *((won, item.unit) for item in items if (won := item.columns["won"]) is not None), strict=True
    )
    ended = ""
    if cell.form == "last" and not cell.sets[0].races:
        ended = 'the sentence is ended, because P("her") after a stem also counts "her mother", and '
    return Measured(
        _estimate(cell, repaired.share_1, repaired.ci, repaired.p_value),
        _poles(cell),
        " ".join(said),
        items,
        ItemMeaning(f"log-ratio of the scores of {first} and {second}", Poles(first, second)),
        Statistic("mean", ("won",), margins="value"),
        n_units=len({item.unit for item in items}),
        published=as_published,
        repair=f"Repaired{moved}: {ended}the difference between the two words' vectors on neutral words is subtracted "
        "from the similarities, because that constant would otherwise decide every row.",
        notes=cell.notes,
        details=details,
        power=power_of_share(outcomes, clusters=units, permutations=options.permutations),
    )


def _measure_choices(cell: Cell, replies: Replies, options: Options) -> Measured:
    """The share of sentences in which group 1's pronoun is chosen.

    A choice that turns with the order of the options counts half, unless the model says how sure it is.
    """
    stimuli, first = cell.sets[0], cell.groups[0]
    items, n = [], len(stimuli.sentences)
    for sentence, chosen in zip(stimuli.sentences, replies.all(Question.CHOICES), strict=True):
        votes = [vote for vote in (chosen.first, chosen.second) if vote]
        won = votes.count(1) / len(votes) if votes else None
        chance = None
        if chosen.chances is not None:  # how sure it is in either order decides where its choice turns with the order
            chance = sum(chosen.chances) / 2
            won = 0.5 if chance == 0.5 else float(chance > 0.5)
        of_chance = {} if chance is None else {"chance": chance}
        items.append(_item(sentence, won, {"won": won, "first": chosen.first, "second": chosen.second, **of_chance}))
    decided = [(item.unit, item.value) for item in items if item.value is not None]
    if not decided:
        raise BadInput(f"{replies.model} chose no pronoun in any of the {n} sentences: nothing can be measured")
    refused = n - len(decided)
    turned = sum({item.columns["first"], item.columns["second"]} == {1, 2} for item in items)
    if refused:
        replies.leave_out(f"{refused} of {n} sentences", "the model chose neither word")
    units, outcomes = zip(*decided, strict=True)
    share = clustered_share(outcomes, units, permutations=options.permutations, seed=options.seed)
    clear = [(item.group, item.value) for item in items if item.group and item.value not in (None, 0.5)]
    agreed = [(value == 1) == (expected == first) for expected, value in clear]
    match = sum(agreed) / len(agreed) if agreed else None
    choices = ChatChoices(refused, turned, match)
    return Measured(
        _estimate(cell, share.value, share.ci, share.p_value, share.exact),
        _poles(cell),
        f"Asked to choose, the model takes the word for {first} in {share.value:.0%} of {len(decided):,} sentences "
        f"({percent_text(share.ci)}); 50% is level. It refused {refused}, and in {turned} "
        "its choice depended on the order of the options."
        + ("" if match is None else f" It agrees with what people expect in {match:.0%}."),
        tuple(items),
        ItemMeaning(f"share of the choices for {first}", Poles(*cell.groups)),
        Statistic("mean", ("won",)),
        n_units=share.n_clusters,
        notes=cell.notes,
        details=ClozeDetails(cell.variant, "choice", "choice", cell.groups, n, choices=choices),
        power=power_of_share(outcomes, clusters=units, permutations=options.permutations),
    )
