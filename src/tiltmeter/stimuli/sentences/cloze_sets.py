"""Sentences with a place for a pronoun, in two versions, and the context word that is said to decide between them."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiltmeter.stimuli.lexicon.lexicon import group
from tiltmeter.stimuli.sentences.sentence import Sentence, SentenceSet, fill_frame
from tiltmeter.stimuli.sentences.shipped import occupation_shares, read_shipped

if TYPE_CHECKING:
    from tiltmeter.stimuli.sentences.shipped_file import ClozeFile, PairsFile

PRONOUN = "pronoun"
#: Tags of a sentence whose file names other words to compare the context with than those that stand in the text.
COMPARED = ("compared_1", "compared_2")
_ENDS = ("", ".", "。")


@dataclasses.dataclass(frozen=True, slots=True)
class ClozeSet(SentenceSet):
    """Sentences with one kind of context (noun, verb, occupation, ...) in one variant (all, someone, person).

    The unit of a sentence is its context word. With ``races`` the pronoun has one form for all, and it is the context
    that is compared with two races; each race is one or more words whose vectors are summed.
    """

    variant: str = "all"
    context: str = "context"
    races: tuple[tuple[str, ...], ...] = ()

    @property
    def labels(self) -> tuple[int | None, ...]:
        """The group that people expect in each sentence, 1 or 2; None where they expect neither."""
        numbers = {group: number for number, group in enumerate(self.groups, 1)}
        return tuple(numbers.get(sentence.tags.get("expected", "")) for sentence in self.sentences)

    @property
    def versions(self) -> tuple[tuple[str, ...], ...]:
        """The sentences of each group."""
        return tuple(tuple(sentence.of_group(group).text for sentence in self.sentences) for group in (1, 2))


def two_versions(
    text_1: str, text_2: str, pronouns: tuple[str, str], *, contexts: tuple[str, str], row: int, expected: str = ""
) -> Sentence:
    """One sentence of which two versions are known, with the pronoun as a slot.

    What else differs between the versions, before the pronoun or after it, is a slot with two forms too. ``contexts``
    are the word that is said to decide, in both versions; ``row`` is the number of the row in its file; ``expected`` is
    the group that people expect, if they expect one.

    >>> both = ("Ask him if he ran.", "Ask her if she ran.")
    >>> sentence = two_versions(*both, ("him", "her"), contexts=("run", "run"), row=1)
    >>> sentence.word("pronoun"), sentence.forms["after"]
    ('him', (' if he ran.', ' if she ran.'))
    >>> sentence.of_group(2).text
    'Ask her if she ran.'
    """
    one, two = pronouns
    starts = (match.start() for match in re.finditer(re.escape(one), text_1))
    shared = (at for at in starts if text_1[:at] == text_2[:at] and text_2[at:].startswith(two))
    at_1 = at_2 = next(shared, -1)
    if at_1 < 0:
        at_1, at_2 = text_1.index(one), text_2.index(two)
    end_1, end_2 = at_1 + len(one), at_2 + len(two)
    slots, forms = {PRONOUN: (at_1, end_1)}, {PRONOUN: pronouns}
    if text_1[:at_1] != text_2[:at_2]:
        slots["before"], forms["before"] = (0, at_1), (text_1[:at_1], text_2[:at_2])
    if text_1[end_1:] != text_2[end_2:]:
        slots["after"], forms["after"] = (end_1, len(text_1)), (text_1[end_1:], text_2[end_2:])
    tags = {"number": str(row), "context_2": contexts[1], "expected": expected}
    return Sentence(text_1, slots, contexts[0], forms, {name: tag for name, tag in tags.items() if tag})


def stem(sentence: Sentence) -> str | None:
    """What stands before the pronoun where it is the last word of every version; None where it is not.

    >>> stem(Sentence("It was cut by him.", {"pronoun": (14, 17)}))
    'It was cut by'
    """
    before, after = sentence.around(PRONOUN)
    last = set(sentence.forms.get("after", (after,))) <= set(_ENDS)
    return before.rstrip() if last and "before" not in sentence.slots and not re.search(r"\w$", before) else None


def differs_elsewhere(sentence: Sentence) -> bool:
    """Whether its versions differ in more than the pronoun, so that one text with a blank cannot stand for both.

    >>> both = ("Tell him that he ran.", "Tell her that she ran.")
    >>> differs_elsewhere(two_versions(*both, ("him", "her"), contexts=("run", "run"), row=1))
    True
    """
    return "before" in sentence.slots or not set(sentence.forms.get("after", ())) <= set(_ENDS)


def cloze_sets(name: str | Path = "cloze_en") -> tuple[ClozeSet, ...]:
    """Sentences that end in a pronoun: one set for each variant and each context word.

    What people expect is said in the file, or else follows from the share of women in the occupation: the share in the
    file, or that of the lexicon ``occupations``.

    >>> first = cloze_sets()[0]
    >>> first.name, first.sentences[0].text, first.units[0], first.labels[0]
    ('cloze_en-all-noun', 'The engineer confirmed that the bridge was designed by him', 'bridge', 1)
    """
    file: ClozeFile = read_shipped("cloze", name)
    shares = occupation_shares(group("occupations.all"))
    sets = []
    for (variant, person), context in itertools.product(file.variants.items(), ("noun", "verb", "occupation")):
        frames = [(row.frame(person), getattr(row, context), row.expected_group(shares)) for row in file.rows]
        sets.append(_cloze_set(file, f"{file.name}-{variant}-{context}", frames, variant=variant, context=context))
    return tuple(sets)


def japanese_cloze(name: str | Path = "pairs_ja") -> ClozeSet:
    """Minimal pairs on stereotypes of Japanese culture, with the topic as the context word that is said to decide.

    >>> sentence = japanese_cloze().sentences[0]
    >>> sentence.forms["pronoun"], sentence.unit, sentence.tags["expected"]
    (('彼', '彼女'), 'サラリーマン', 'men')
    """
    file: PairsFile = read_shipped("pairs", name)
    frames = [(frame, topic.context, topic.group) for topic in file.topics for frame in topic.sentences]
    return _cloze_set(file, file.name, frames, context="topic")


def _cloze_set(
    file: ClozeFile | PairsFile, name: str, frames: Iterable[tuple[str, str, int | None]],
    *, variant: str = "all", context: str,
) -> ClozeSet:  # fmt: skip
    """The set of some frames, each with its context word and the group that people expect in it."""
    words, forms = {PRONOUN: file.pronouns[0]}, {PRONOUN: file.pronouns}
    sentences = []
    for number, (frame, unit, expected) in enumerate(frames, 1):
        tags = {"number": str(number), **({"expected": file.groups[expected - 1]} if expected else {})}
        sentences.append(fill_frame(frame, words, unit=unit, forms=forms, tags=tags))
    about: dict[str, Any] = {"groups": file.groups, "language": file.language, "notes": tuple(file.warnings)}
    return ClozeSet(name, tuple(sentences), **about, variant=variant, context=context)
