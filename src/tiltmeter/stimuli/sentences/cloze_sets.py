"""Sentences with a place for a pronoun, in two versions, and the context word that is said to decide between them."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import TYPE_CHECKING

from tiltmeter.stimuli.lexicon.lexicon import group
from tiltmeter.stimuli.sentences.sentence import Sentence, SentenceSet, fill_frame
from tiltmeter.stimuli.sentences.shipped import occupation_shares, read_shipped

if TYPE_CHECKING:
    from tiltmeter.stimuli.sentences.shipped_file import ClozeEntry, ClozeFile, PairsFile

PRONOUN = "pronoun"
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

    What else differs between the versions, before the pronoun or after it, is a slot with two forms too.

    Args:
        text_1: The version of group 1.
        text_2: The version of group 2.
        pronouns: The word of each group that is compared.
        contexts: The word that is said to decide, in both versions.
        row: The number of the row in its file, for messages.
        expected: The group that people expect, if they expect one.

    >>> both = ("Ask him if he ran.", "Ask her if she ran.")
    >>> sentence = two_versions(*both, ("him", "her"), contexts=("run", "run"), row=1)
    >>> sentence.word("pronoun"), sentence.forms["after"]
    ('him', (' if he ran.', ' if she ran.'))
    >>> sentence.of_group(2).text
    'Ask her if she ran.'
    """
    one, two = pronouns
    starts = (found.start() for found in re.finditer(re.escape(one), text_1))
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


def cloze_sets(name: str | Path = "cloze_en") -> tuple[ClozeSet, ...]:
    """Sentences that end in a pronoun: one set for each variant and each context word.

    What people expect is said in the file, or else follows from the share of women in the occupation: the share in the
    file, or that of the lexicon ``occupations``.

    >>> first = cloze_sets()[0]
    >>> first.name, first.sentences[0].text, first.units[0], first.labels[0]
    ('cloze_en-all-noun', 'The engineer confirmed that the bridge was designed by him', 'bridge', 1)
    """
    from tiltmeter.stimuli.sentences.shipped_file import ClozeFile

    file = read_shipped("cloze", name, ClozeFile)
    shares = occupation_shares(group("occupations.all"))

    def sentence(entry: ClozeEntry, person: str, context: str, number: int) -> Sentence:
        return _in_frame(file, entry.frame(person), context, entry.expected_group(shares), number)

    return tuple(
        ClozeSet(
            f"{file.name}-{variant}-{context}",
            tuple(sentence(entry, person, getattr(entry, context), n) for n, entry in enumerate(file.rows, 1)),
            groups=file.groups,
            language=file.language,
            notes=tuple(file.warnings),
            variant=variant,
            context=context,
        )
        for variant, person in file.variants.items()
        for context in ("noun", "verb", "occupation")
    )


def japanese_cloze(name: str | Path = "pairs_ja") -> ClozeSet:
    """Minimal pairs on stereotypes of Japanese culture, with the topic as the context word that is said to decide.

    >>> sentence = japanese_cloze().sentences[0]
    >>> sentence.forms["pronoun"], sentence.unit, sentence.tags["expected"]
    (('彼', '彼女'), 'サラリーマン', 'men')
    """
    from tiltmeter.stimuli.sentences.shipped_file import PairsFile

    file = read_shipped("pairs", name, PairsFile)
    frames = [(topic, frame) for topic in file.topics for frame in topic.sentences]
    sentences = tuple(
        _in_frame(file, frame, topic.context, topic.group, number) for number, (topic, frame) in enumerate(frames, 1)
    )
    return ClozeSet(
        file.name, sentences, groups=file.groups, language=file.language, notes=tuple(file.warnings), context="topic"
    )


def _in_frame(file: ClozeFile | PairsFile, frame: str, context: str, expected: int | None, number: int) -> Sentence:
    tags = {"number": str(number), **({"expected": file.groups[expected - 1]} if expected else {})}
    words, forms = {PRONOUN: file.pronouns[0]}, {PRONOUN: file.pronouns}
    return fill_frame(frame, words, unit=context, forms=forms, tags=tags)
