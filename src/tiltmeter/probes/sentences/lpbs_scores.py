"""What a masked language model says of terms and attributes: log-probabilities with the attribute and without it."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np

from tiltmeter.models.protocol import Fill, Question
from tiltmeter.probes.old_language import Replies
from tiltmeter.probes.sentences.lpbs_sets import Attributes
from tiltmeter.stimuli.sentences.sets import MASK, TraitSentence


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


def _fills(row: TraitSentence, terms: Sequence[tuple[str, str]]) -> tuple[Fill, Fill]:
    """What is asked of a sentence: the terms at their place, and the same with the attribute hidden as well.

    Both are read at the place of the term, whichever of the two comes first. All terms are asked about at once: those
    of one token are then read off one pass.
    """
    fillers = tuple(dict.fromkeys(itertools.chain.from_iterable(terms)))
    text, place, hidden = Fill(row.text, *row.target, fillers, hidden=(row.attribute,)).with_filler(MASK)
    return Fill(text, *place, fillers), Fill(text, *place, fillers, hidden)


def asked(stimuli: Attributes) -> Iterator[tuple[TraitSentence, tuple[tuple[str, str], ...], Fill, Fill]]:
    """Each sentence, the pairs of terms for it, and what is asked of it: with the attribute and without it."""
    for each in stimuli.sets:
        for row in each.rows:
            yield row, each.terms, *_fills(row, each.terms)


def read(stimuli: Attributes, replies: Replies) -> Table:
    """The scores of each attribute in each structure: the mean over its sentences and their pairs of terms."""
    found: dict[Unit, dict[str, list[Scores]]] = {}
    for row, terms, fill, prior in asked(stimuli):
        shown, without = replies.of(Question.FILLS, fill), replies.of(Question.FILLS, prior)
        if shown.unknown:
            replies.note_unknown(fill.text, [shown.unknown])
        with_it, without_it = (_by_group(fill.fillers, filled.logprobs, terms) for filled in (shown, without))
        unit = Unit(row.trait, row.group)
        scores = Scores(with_it, without_it, frozenset(terms))
        found.setdefault(unit, {}).setdefault(row.structure, []).append(scores)
    table = {
        unit: {name: mean_of(some, by_pairs=True) for name, some in parts.items()} for unit, parts in found.items()
    }
    # The measure compares the group that it meets first with the other.
    order = {group: number for number, group in enumerate(stimuli.groups)}
    return dict(sorted(table.items(), key=lambda each: order.get(each[0].group, len(order))))


def _by_group(
    fillers: Sequence[str], logprobs: Sequence[float], terms: Sequence[tuple[str, str]]
) -> tuple[float, float]:
    """The mean log-probability of the masculine and of the feminine terms."""
    known = dict(zip(fillers, logprobs, strict=True))
    one, two = (float(np.mean([known[term] for term in side])) for side in zip(*terms, strict=True))
    return one, two
