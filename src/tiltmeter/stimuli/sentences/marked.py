"""Sentences that say the group of the holder of an occupation, beside the same ones with the word for it masked."""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from tiltmeter.stimuli.sentences.sentence import Place, Sentence, SentenceSet

#: Why a line is not used.
_NO_OCCUPATION = "the occupation does not stand in the sentence as a word"
_SOMEBODY_ELSE = "the pronoun stands for somebody else than the holder of the occupation"
_PARTICIPANT = "participant"


@dataclasses.dataclass(frozen=True, slots=True)
class Versions:
    """A sentence with its mark masked, and by group the sentences that have a word for the group in its place.

    The mark (a pronoun, or a word for a group) stands in the slot ``pronoun``, the unit in the slot ``occupation``.
    """

    neutral: Sentence
    by_group: tuple[tuple[Sentence, ...], ...]

    @property
    def unit(self) -> str:
        return self.neutral.unit


@dataclasses.dataclass(frozen=True, slots=True)
class MarkedSet:
    """Marked sentences of one source, in a version for either group.

    ``counts`` is how often the source itself has each occupation with each group. ``shares`` (of women) and
    ``expected`` (the group that a stereotype gives) are what is known of the occupations. ``read`` lines were read, of
    them those in ``left_out`` could not be used.
    """

    name: str
    groups: tuple[str, str]
    versions: tuple[Versions, ...]
    counts: Mapping[str, tuple[int, ...]]
    shares: Mapping[str, float] = dataclasses.field(default_factory=dict)
    expected: Mapping[str, int] = dataclasses.field(default_factory=dict)
    read: int = 0
    left_out: Mapping[str, int] = dataclasses.field(default_factory=dict)
    dimension: str = "gender"
    notes: tuple[str, ...] = ()

    @property
    def sentences(self) -> tuple[tuple[Sentence, ...], ...]:
        """All sentences of each group."""
        return tuple(
            tuple(sentence for row in self.versions for sentence in row.by_group[place])
            for place in range(len(self.groups))
        )


def marked_sentences(source: SentenceSet, *, both: bool = False) -> MarkedSet:
    """Every pronoun sentence in its masculine and its feminine version, whichever of them the source has.

    ``both`` says that each sentence of the source stands for the two versions alike, so that they count as often.

    >>> row = Sentence("The nurse said he left.", {"pronoun": (15, 17)}, "nurse", {"pronoun": ("he", "she")})
    >>> marked = marked_sentences(SentenceSet("mine", (row,), groups=("men", "women")))
    >>> [[sentence.text for sentence in side] for side in marked.sentences]
    [['The nurse said he left.'], ['The nurse said she left.']]
    >>> marked.versions[0].neutral.text, marked.counts
    ('The nurse said [MASK] left.', {'nurse': (1, 0)})
    """
    source = _as_sentences(source)
    numbered: list[tuple[int, Sentence]] = []
    counts: dict[str, list[int]] = {}
    left_out = Counter(source.left_out)
    expected: dict[str, int] = {}
    for sentence in source.sentences:
        kind = sentence.tags.get("kind", "")
        mention = _mention(sentence)
        if kind == _PARTICIPANT or mention is None:
            left_out[_SOMEBODY_ELSE if kind == _PARTICIPANT else _NO_OCCUPATION] += 1
            continue
        # "type1 pro dev" of WinoBias: both sides and both splits hold the same kind of sentence.
        tags = {"kind": kind.split()[0] if kind.startswith("type") else kind}
        placed = dataclasses.replace(sentence, slots={**sentence.slots, "occupation": mention}, tags=tags)
        seen = counts.setdefault(sentence.unit, [0, 0])
        for group, form in enumerate(sentence.forms["pronoun"], 1):
            seen[group - 1] += both or sentence.word("pronoun") == form
            numbered.append((group, placed.version("pronoun", group)))
        if "expected" in sentence.tags:
            expected[sentence.unit] = source.groups.index(sentence.tags["expected"]) + 1
    one, two = source.groups
    return MarkedSet(
        source.name,
        (one, two),
        join_versions(numbered),
        {word: tuple(by_group) for word, by_group in counts.items()},
        source.shares,
        expected,
        len(source.sentences) + sum(source.left_out.values()),
        dict(left_out),
        source.dimension,
        source.notes,
    )


def join_versions(numbered: Iterable[tuple[int, Sentence]]) -> tuple[Versions, ...]:
    """Sentences with the number of their group, 1 or 2, put together where they differ in nothing but the mark."""
    joined: dict[tuple[str, str, Place], tuple[Sentence, tuple[dict[str, Sentence], dict[str, Sentence]]]] = {}
    for group, sentence in numbered:
        neutral = _without_mark(sentence)
        _, sides = joined.setdefault((neutral.unit, neutral.text, neutral.slots["pronoun"]), (neutral, ({}, {})))
        sides[group - 1].setdefault(sentence.text, sentence)
    return tuple(Versions(neutral, tuple(tuple(side.values()) for side in sides)) for neutral, sides in joined.values())


def _without_mark(sentence: Sentence) -> Sentence:
    if "article" in sentence.slots:  # "a [MASK] nurse" stands for "an old nurse" as well
        sentence = sentence.put("article", sentence.word("article")[0])
    return sentence.masked("pronoun")


def _mention(sentence: Sentence) -> Place | None:
    """The first whole-word mention of the occupation outside the pronoun."""
    start, end = sentence.slots["pronoun"]
    pattern = rf"(?<!\w){re.escape(sentence.unit)}(?!\w)"
    places = (match.span() for match in re.finditer(pattern, sentence.text, re.IGNORECASE))
    return next((place for place in places if place[1] <= start or place[0] >= end), None)


# --- temporary, until the loaders of pronouns give a SentenceSet: then this goes, and its one call above ---
def _as_sentences(found: Any) -> SentenceSet:
    if isinstance(found, SentenceSet):
        return found
    groups = ("men", "women")
    left_out: Counter[str] = Counter()
    for warning in found.warnings:
        said, here, lines = warning.partition(": left out lines ")
        if here:
            left_out[said.partition(": ")[2] or said] += len(lines.split(", "))
    sentences = tuple(
        Sentence(
            row.text,
            {"pronoun": (row.start, row.end)},
            row.occupation,
            {"pronoun": row.forms},
            {"kind": row.kind, "id": row.id, **({"expected": groups[row.expected - 1]} if row.expected else {})},
        )
        for row in found.rows
    )
    return SentenceSet(
        found.name,
        sentences,
        groups=groups,
        language=found.language,
        shares=found.shares,
        left_out=left_out,
        notes=found.warnings,
    )
