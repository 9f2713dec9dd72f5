"""What a masked language model says of terms and attributes: log-probabilities with the attribute and without it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from tiltmeter.models.protocol import Fill, Filled, Question
from tiltmeter.probes.kind import Replies
from tiltmeter.probes.sentences.fills import fill_at
from tiltmeter.probes.sentences.lpbs_sets import Attributes


class Unit(NamedTuple):
    """What is resampled: an attribute. One that stands in both groups is two."""

    attribute: str
    group: str


@dataclasses.dataclass(frozen=True, slots=True)
class Scores:
    """Mean log-probabilities of the terms (masculine, feminine) in some sentences: with the attribute, without it."""

    fill: tuple[float, float]
    prior: tuple[float, float]
    pairs: frozenset[tuple[str, str]]
    sentences: int = 1

    @property
    def fill_bias(self) -> float:
        return self.fill[0] - self.fill[1]

    @property
    def prior_bias(self) -> float:
        return self.prior[0] - self.prior[1]

    @property
    def association(self) -> float:
        return self.fill_bias - self.prior_bias


def mean_of(some: Sequence[Scores], *, by_pairs: bool = False) -> Scores:
    """The mean of scores, each counting once, or as often as it has pairs of terms."""
    weights = [len(each.pairs) for each in some] if by_pairs else None
    values = np.average([(*each.fill, *each.prior) for each in some], axis=0, weights=weights).tolist()
    pairs = frozenset[tuple[str, str]]().union(*(each.pairs for each in some))
    return Scores((values[0], values[1]), (values[2], values[3]), pairs, sum(each.sentences for each in some))


#: By attribute, and within it by structure.
Table: TypeAlias = Mapping[Unit, Mapping[str, Scores]]


def fills(stimuli: Attributes) -> list[Fill]:
    """What is asked of each sentence: the terms at their place, and the same with the attribute hidden as well.

    Both are read at the place of the term, whichever of the two comes first. All terms are asked about at once: those
    of one token are then read off one pass.
    """
    target, attribute = stimuli.target, stimuli.attribute
    return [
        fill
        for each in stimuli.sentences.sentences
        for fill in (fill_at(each, target), fill_at(each, target, attribute))
    ]


def read_scores(stimuli: Attributes, replies: Replies) -> Table:
    """The scores of each attribute in each structure: the mean over its sentences and their pairs of terms."""
    asked, answers = replies.asked(Question.FILLS), replies.all(Question.FILLS)
    scores: dict[Unit, dict[str, list[Scores]]] = {}
    for sentence, fill, shown, hidden in zip(
        stimuli.sentences.sentences, asked[::2], answers[::2], answers[1::2], strict=True
    ):
        if shown.unknown:
            replies.note_unknown(fill.text, [shown.unknown])
        forms = sentence.forms[stimuli.target]
        pairs = list(zip(forms[::2], forms[1::2], strict=True))
        unit = Unit(sentence.unit, sentence.tags["group"])
        with_it, without = (_by_group(fill, answer, pairs) for answer in (shown, hidden))
        structure = sentence.tags.get("structure", "")
        rows = scores.setdefault(unit, {}).setdefault(structure, [])
        rows.append(Scores(with_it, without, frozenset(pairs)))
    table = {
        unit: {name: mean_of(some, by_pairs=True) for name, some in parts.items()} for unit, parts in scores.items()
    }
    # The measure compares the group that it meets first with the other.
    order = {group: number for number, group in enumerate(stimuli.labels)}
    return dict(sorted(table.items(), key=lambda each: order.get(each[0].group, len(order))))


def _by_group(fill: Fill, answer: Filled, pairs: Sequence[tuple[str, str]]) -> tuple[float, float]:
    """The mean log-probability of the masculine and of the feminine terms."""
    logprobs = dict(zip(fill.fillers, answer.logprobs, strict=True))
    one, two = (float(np.mean([logprobs[term] for term in side])) for side in zip(*pairs, strict=True))
    return one, two
