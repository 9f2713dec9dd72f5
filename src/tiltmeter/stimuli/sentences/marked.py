"""Sentences that say the group of the holder of an occupation, beside the same ones with the word for it masked."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Mapping, Sequence

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.lexicon.lexicon import Group, check_disjoint
from tiltmeter.stimuli.sentences.sentence import MASK, Place, Sentence, SentenceSet, fill_frame

#: Why a line is not used.
_NO_OCCUPATION = "the occupation is not in the sentence as a word"
_SOMEBODY_ELSE = "the pronoun refers to somebody other than the holder of the occupation"
_PARTICIPANT = "participant"


@dataclasses.dataclass(frozen=True, slots=True)
class Versions:
    """A sentence with its mark masked, and by group the sentences that have a word for the group in its place.

    The mark (a pronoun, or a word for a group) stands in the slot ``pronoun``, the unit in the slot ``occupation``.
    ``in_source`` says with which groups the source itself has the sentence; the other version was made from it.
    """

    neutral: Sentence
    by_group: tuple[tuple[Sentence, ...], ...]
    in_source: tuple[bool, bool] = (True, True)

    @property
    def unit(self) -> str:
        return self.neutral.unit


@dataclasses.dataclass(frozen=True, slots=True)
class MarkedSet:
    """Marked sentences of one source, in a version for either group.

    ``counts`` is how often the source itself has each occupation with each group, ``mark_counts`` with each word for a
    group, such as he, him and his. ``shares`` (of women) and ``expected`` (the group that a stereotype gives) are what
    is known of the occupations. ``read`` lines were read, of them those in ``left_out`` could not be used.
    """

    name: str
    groups: tuple[str, str]
    versions: tuple[Versions, ...]
    counts: Mapping[str, tuple[int, ...]]
    mark_counts: Mapping[str, tuple[Mapping[str, int], ...]]
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

    >>> from tiltmeter.stimuli.sentences.sentence import pronoun_sentence
    >>> nurse = pronoun_sentence("The nurse said he left.", (15, 17), ("he", "she"), "nurse")
    >>> marked = marked_sentences(SentenceSet("mine", (nurse,), groups=("men", "women")))
    >>> [[sentence.text for sentence in side] for side in marked.sentences]
    [['The nurse said he left.'], ['The nurse said she left.']]
    >>> marked.versions[0].neutral.text, marked.counts
    ('The nurse said [MASK] left.', {'nurse': (1, 0)})
    """
    joined, left_out = _Joined(), Counter(source.left_out)
    counts: dict[str, tuple[Counter[str], Counter[str]]] = {}
    expected: dict[str, int] = {}
    for sentence in source.sentences:
        kind = sentence.tags.get("kind", "")
        if kind == _PARTICIPANT or "occupation" not in sentence.slots:
            left_out[_SOMEBODY_ELSE if kind == _PARTICIPANT else _NO_OCCUPATION] += 1
            continue
        # "type1 pro dev" of WinoBias: both sides and both splits hold the same kind of sentence.
        row = dataclasses.replace(sentence, tags={"kind": kind.split()[0] if kind.startswith("type") else kind})
        seen = counts.setdefault(row.unit, (Counter(), Counter()))
        for group, form in enumerate(row.forms["pronoun"], 1):
            in_source = both or row.word("pronoun") == form
            seen[group - 1][form.lower()] += in_source
            joined.add(group, row.version("pronoun", group), row.masked("pronoun"), in_source=in_source)
        if "expected" in sentence.tags:
            expected[row.unit] = source.groups.index(sentence.tags["expected"]) + 1
    one, two = source.groups
    counted = {word: tuple(side.total() for side in sides) for word, sides in counts.items()}
    read = len(source.sentences) + sum(source.left_out.values())
    return MarkedSet(
        source.name, (one, two), joined.versions(), counted, counts, source.shares, expected, read, dict(left_out),
        source.dimension, source.notes,
    )  # fmt: skip


def marked_by_lexicon(
    frames: Mapping[str, Sequence[str]], groups: tuple[Group, Group], occupations: Sequence[str], *, name: str = ""
) -> MarkedSet:
    """Every word of two groups (ages, ethnicities, ...) beside every occupation, in the frames for words of its kind.

    A frame has ``{group}`` and ``{occupation}`` once each, or with their article ``{a group}``, ``{a occupation}``. No
    word may be in both groups.

    >>> groups = [Group.of(f"mine.{word}", [word], kind="adjective", label=word) for word in ("young", "old")]
    >>> marked = marked_by_lexicon({"adjective": ["We met {a group} {occupation}."]}, tuple(groups), ["nurse"])
    >>> [[sentence.text for sentence in side] for side in marked.sentences], marked.versions[0].neutral.text
    ([['We met a young nurse.'], ['We met an old nurse.']], 'We met a [MASK] nurse.')
    """
    one, two = groups
    if shared := check_disjoint(one, two):
        raise BadInput(f"'{shared[0]}' is in '{one.name}' and in '{two.name}': leave it out of one of them")
    joined, per_occupation, left_out = _Joined(), list[Counter[str]](), list[str]()
    for number, group in enumerate(groups, 1):
        fitting = [word for word in group.words if word.kind in frames]
        left_out += [f"'{word.text}' of {group.label}" for word in group.words if word not in fitting]
        if not fitting:
            raise BadInput(f"'{group.name}' has no word for the frames: they take words of kind {', '.join(frames)}")
        framed = [(word, frame) for word in fitting for frame in frames[word.kind or ""]]
        per_occupation.append(Counter(word.text.lower() for word, _ in framed))
        for occupation, (word, frame) in itertools.product(occupations, framed):
            tags = {"kind": f"{word.kind}: {frame}"}
            # Not masked in place: "a [MASK] nurse" stands for "an old nurse" as well.
            joined.add(number, *(_filled(frame, mark, occupation, tags) for mark in (word.text, MASK)))
    note = f"no frame for words of their kind, left out: {', '.join(left_out)}"
    totals = tuple(side.total() for side in per_occupation)
    return MarkedSet(
        name or f"{one.name} / {two.name}", (one.label, two.label), joined.versions(),
        dict.fromkeys(occupations, totals), dict.fromkeys(occupations, tuple(per_occupation)),
        read=sum(totals) * len(occupations),
        dimension=one.dimension if one.dimension == two.dimension else "", notes=(note,) if left_out else (),
    )  # fmt: skip


def _filled(frame: str, mark: str, occupation: str, tags: Mapping[str, str]) -> Sentence:
    words = {"pronoun": mark, "occupation": occupation}
    sentence = fill_frame(frame.replace("group}", "pronoun}"), words, unit=occupation, tags=tags)
    if set(sentence.slots) != set(words):
        raise BadInput(f"'{frame}' needs {{group}} and {{occupation}} once each")
    return sentence


class _Joined:
    """Sentences put together where they differ in nothing but the mark."""

    def __init__(self) -> None:
        self._rows: dict[tuple[str, str, Place], tuple[Sentence, tuple[dict[str, Sentence], dict[str, Sentence]]]] = {}
        self._in_source: set[tuple[tuple[str, str, Place], int]] = set()

    def add(self, group: int, sentence: Sentence, neutral: Sentence, *, in_source: bool = True) -> None:
        """A sentence of group 1 or 2, and the same one with its mark masked."""
        key = (neutral.unit, neutral.text, neutral.slots["pronoun"])
        _, sides = self._rows.setdefault(key, (neutral, ({}, {})))
        sides[group - 1].setdefault(sentence.text, sentence)
        if in_source:
            self._in_source.add((key, group))

    def versions(self) -> tuple[Versions, ...]:
        return tuple(
            Versions(
                neutral,
                tuple(tuple(side.values()) for side in sides),
                ((key, 1) in self._in_source, (key, 2) in self._in_source),
            )
            for key, (neutral, sides) in self._rows.items()
        )
