"""Sentences about the holder of an occupation, each marked for a group, beside the same one with the mark masked."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from tiltmeter.stimuli.sentences.sentence import Place, Sentence, SentenceSet

#: Why a line is not used.
_NO_OCCUPATION = "the occupation does not stand in the sentence as a word"
_SOMEBODY_ELSE = "the pronoun stands for somebody else than the holder of the occupation"
_PARTICIPANT = "participant"


@dataclasses.dataclass(frozen=True, slots=True)
class Neutral:
    """A sentence with its mark masked: where the mask stands, and where the occupation does."""

    text: str
    place: Place
    occupation_place: Place


@dataclasses.dataclass(frozen=True, slots=True)
class MarkedSentence:
    """A sentence whose mark (a pronoun, or a word for a group) says that somebody is of a group: 1, 2, ...

    >>> neutral = Neutral("The nurse said [MASK] left.", (15, 21), (4, 9))
    >>> MarkedSentence("The nurse said he left.", 1, "nurse", (4, 9), (15, 17), neutral, "he/she").mark
    'he'
    """

    text: str
    group: int
    occupation: str
    occupation_place: Place
    pronoun_place: Place
    neutral: Neutral
    kind: str

    @property
    def mark(self) -> str:
        return self.text[slice(*self.pronoun_place)]


@dataclasses.dataclass(frozen=True, slots=True)
class MarkedSet:
    """Marked sentences of one source, in a version for every group.

    ``counts`` is how often the source itself has each occupation with each group. ``shares`` (of women) and
    ``expected`` (the group that a stereotype gives) are what is known of the occupations. ``read`` lines were read, of
    them those in ``left_out`` could not be used.
    """

    name: str
    groups: tuple[str, ...]
    rows: tuple[MarkedSentence, ...]
    counts: Mapping[str, tuple[int, ...]]
    shares: Mapping[str, float] = dataclasses.field(default_factory=dict)
    expected: Mapping[str, int] = dataclasses.field(default_factory=dict)
    read: int = 0
    left_out: Mapping[str, int] = dataclasses.field(default_factory=dict)
    language: str = "en"
    warnings: tuple[str, ...] = ()

    def between(self, first: int, second: int) -> MarkedSet:
        """The sentences of two of the groups alone."""
        pair = (first, second)
        rows = (dataclasses.replace(row, group=pair.index(row.group) + 1) for row in self.rows if row.group in pair)
        counts = {word: tuple(by_group[each - 1] for each in pair) for word, by_group in self.counts.items()}
        groups = tuple(self.groups[each - 1] for each in pair)
        return dataclasses.replace(self, groups=groups, rows=tuple(rows), counts=counts)

    def table(self) -> dict[str, Any]:
        """What was kept and what was dropped: lines of the source, and the sentences made of them."""
        lines = {
            "read": self.read,
            "used": self.read - sum(self.left_out.values()),
            "left_out": dict(self.left_out),
            "by_group": dict(zip(self.groups, map(sum, zip(*self.counts.values(), strict=True)), strict=True)),
        }
        return {
            "lines": lines,
            "sentences": len(self.rows),
            "neutral_sentences": len({row.neutral for row in self.rows}),
            "by_group": self._counted(self.rows),
            "by_kind": {kind: self._counted(rows) for kind, rows in _split(self.rows, "kind")},
            "by_occupation": {word: self._counted(rows) for word, rows in _split(self.rows, "occupation")},
        }

    def _counted(self, rows: Iterable[MarkedSentence]) -> dict[str, int]:
        found = Counter(row.group for row in rows)
        return {name: found[number] for number, name in enumerate(self.groups, 1)}


def _split(rows: Sequence[MarkedSentence], field: str) -> Iterator[tuple[str, list[MarkedSentence]]]:
    found: dict[str, list[MarkedSentence]] = {}
    for row in rows:
        found.setdefault(getattr(row, field), []).append(row)
    yield from found.items()


def marked_sentences(source: SentenceSet, *, both: bool = False) -> MarkedSet:
    """Every pronoun sentence in its masculine and its feminine version, whichever of them the source has.

    ``both`` says that each row of the source stands for the two versions alike, so that they count as often.

    >>> from tiltmeter.stimuli.sentences.sentence import pronoun_sentence
    >>> nurse = pronoun_sentence("The nurse said he left.", (15, 17), ("he", "she"), "nurse", kind="type1")
    >>> marked = marked_sentences(SentenceSet("mine", (nurse,)))
    >>> [row.text for row in marked.rows], marked.rows[0].neutral.text, marked.counts
    (['The nurse said he left.', 'The nurse said she left.'], 'The nurse said [MASK] left.', {'nurse': (1, 0)})
    """
    rows: dict[tuple[str, str, Place], MarkedSentence] = {}
    counts: dict[str, list[int]] = {}
    left_out = Counter(source.left_out)
    expected: dict[str, int] = {}
    for sentence in source.sentences:
        if sentence.tags["kind"] == _PARTICIPANT or "occupation" not in sentence.slots:
            left_out[_SOMEBODY_ELSE if sentence.tags["kind"] == _PARTICIPANT else _NO_OCCUPATION] += 1
            continue
        by_group = counts.setdefault(sentence.unit, [0, 0])
        for group in (1, 2):
            by_group[group - 1] += both or sentence.word("pronoun") == sentence.forms["pronoun"][group - 1]
            version = _version(sentence, group)
            rows.setdefault((version.text, version.occupation, version.pronoun_place), version)
        if "expected" in sentence.tags:
            expected[sentence.unit] = 1 if sentence.tags["expected"] == "men" else 2
    return MarkedSet(
        source.name,
        ("men", "women"),
        tuple(rows.values()),
        {word: tuple(by_group) for word, by_group in counts.items()},
        dict(source.shares),
        expected,
        len(source.sentences) + sum(source.left_out.values()),
        dict(left_out),
        source.language,
        source.notes,
    )


def _version(sentence: Sentence, group: int) -> MarkedSentence:
    version, masked = sentence.version("pronoun", group), sentence.masked("pronoun")
    # "type1 pro dev" of WinoBias: both sides and both splits hold the same kind of sentence.
    kind = sentence.tags["kind"].split()[0] if sentence.tags["kind"].startswith("type") else sentence.tags["kind"]
    return MarkedSentence(
        version.text,
        group,
        sentence.unit,
        version.slots["occupation"],
        version.slots["pronoun"],
        Neutral(masked.text, masked.slots["pronoun"], masked.slots["occupation"]),
        kind,
    )
