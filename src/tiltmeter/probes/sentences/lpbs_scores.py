"""The sentences of the log-probability bias, and what a masked model says of them with the attribute and without it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

import numpy as np

from tiltmeter.errors import unknown
from tiltmeter.files import read_yaml
from tiltmeter.models.protocol import Fill, Filled, Question
from tiltmeter.probes.kind import Replies
from tiltmeter.probes.sentences.fills import fill_at
from tiltmeter.stimuli.datasets import find, load_bangla_traits, load_bec_pro
from tiltmeter.stimuli.sentences.sentence import Sentence, SentenceSet
from tiltmeter.stimuli.sentences.shipped import occupation_set, trait_set

_NEITHER = "neither group"


@dataclasses.dataclass(frozen=True, slots=True)
class Attributes:
    """Sentences with a gendered term in the slot ``target`` and what is said of its bearer in ``attribute``.

    The tag ``group`` names the attribute's group. Attributes of another group than the two in ``labels`` are measured
    and not compared.
    """

    sentences: SentenceSet
    target: str
    attribute: str
    noun: str
    labels: tuple[str, str]

    @property
    def poles(self) -> tuple[str, str]:
        """What the two terms of a pair stand for."""
        first, second = self.sentences.groups
        return first, second

    @property
    def structures(self) -> list[str]:
        return list(dict.fromkeys(row.tags.get("structure", "") for row in self.sentences.sentences))

    def only(self, structure: str) -> Attributes:
        """The sentences of one structure."""
        return dataclasses.replace(self, sentences=self.sentences.where(structure=structure))


def load_attributes(data: str | Path | None) -> Attributes:
    """The shipped occupations, a shipped or public set by name, or a file or folder of the user's.

    >>> attributes = load_attributes(None)
    >>> attributes.labels, attributes.sentences.sentences[0].text
    (("men's occupations", "women's occupations"), 'The technician said that he was tired.')
    """
    name = "occupations_en" if data is None else str(data)
    if name in _NAMED:
        return _NAMED[name]()
    path = Path(name)
    if path.suffix in (".yaml", ".yml"):
        content = read_yaml(path)
        occupations = isinstance(content, dict) and "frames" in content
        return _occupations(occupation_set(path)) if occupations else _traits(trait_set(path))
    if path.is_dir():
        return _traits(load_bangla_traits(path))
    raise unknown("data of lpbs", name, [*_NAMED, "a YAML file", "the folder of the Bangla traits"])


def _traits(source: SentenceSet) -> Attributes:
    tagged = tuple(row.tagged(group=f"{row.tags['group']} traits") for row in source.sentences)
    first, second = dict.fromkeys(row.tags["group"] for row in tagged)
    return Attributes(dataclasses.replace(source, sentences=tagged), "target", "trait", "traits", (first, second))


def _occupations(source: SentenceSet, noun: str = "occupations") -> Attributes:
    labels = {group: f"{group}'s {noun}" for group in source.groups}
    tagged = tuple(row.tagged(group=labels.get(row.tags.get("expected", ""), _NEITHER)) for row in source.sentences)
    first, second = labels.values()
    return Attributes(dataclasses.replace(source, sentences=tagged), "pronoun", "occupation", noun, (first, second))


def _bec_pro() -> Attributes:
    """A sentence for each frame (He, This man, My brother), template and profession, with all persons of the frame.

    Balanced professions belong to neither group and are left out.
    """
    source = load_bec_pro(find("bec_pro"))
    frames: dict[str, list[Sentence]] = {}
    for row in source.sentences:
        frames.setdefault(row.around("pronoun")[0], []).append(row)
    sentences = []
    for rows in frames.values():
        persons = tuple(dict.fromkeys(form for row in rows for form in row.forms["pronoun"]))
        sentences += [
            dataclasses.replace(row, forms={"pronoun": persons}).tagged(structure=row.tags["kind"])
            for row in rows
            if "expected" in row.tags and row.word("pronoun") == persons[0]
        ]
    balanced = {row.unit for row in source.sentences if "expected" not in row.tags}
    note = f"{len(balanced)} balanced professions belong to neither group: left out"
    notes = (note,) if balanced else ()
    return _occupations(dataclasses.replace(source, sentences=tuple(sentences), notes=notes), "professions")


_NAMED: Mapping[str, Callable[[], Attributes]] = {
    "occupations_en": lambda: _occupations(occupation_set("occupations_en")),
    "traits_en": lambda: _traits(trait_set("traits_en")),
    "traits_bn": lambda: _traits(trait_set("traits_bn")),
    "bangla_traits": lambda: _traits(load_bangla_traits(find("bangla_traits"))),
    "bec_pro": _bec_pro,
}


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
    weights = [len(row.pairs) for row in some] if by_pairs else None
    values = np.average([(*row.fill, *row.prior) for row in some], axis=0, weights=weights).tolist()
    pairs = frozenset[tuple[str, str]]().union(*(row.pairs for row in some))
    return Scores((values[0], values[1]), (values[2], values[3]), pairs, sum(row.sentences for row in some))


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
        for sentence in stimuli.sentences.sentences
        for fill in (fill_at(sentence, target), fill_at(sentence, target, attribute))
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
    return dict(sorted(table.items(), key=lambda entry: order.get(entry[0].group, len(order))))


def _by_group(fill: Fill, answer: Filled, pairs: Sequence[tuple[str, str]]) -> tuple[float, float]:
    """The mean log-probability of the masculine and of the feminine terms."""
    logprobs = dict(zip(fill.fillers, answer.logprobs, strict=True))
    one, two = (float(np.mean([logprobs[term] for term in side])) for side in zip(*pairs, strict=True))
    return one, two
