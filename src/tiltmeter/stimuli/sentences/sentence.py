"""A sentence with slots: places that can be filled otherwise. Here, and nowhere else, a word is exchanged."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TypeAlias

#: Characters of a text, from the first to the one behind the last.
Place: TypeAlias = tuple[int, int]

#: Stands at a place whose word is hidden.
MASK = "[MASK]"


@dataclasses.dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, the places in it that can be filled otherwise, and what it stands for.

    ``slots`` are places by name, none of which overlap. ``unit`` is the word that the sentence is an observation of.
    ``forms`` are by slot the words of the groups in that place (the first group's first), with the case they have
    there. ``tags`` say what else is known of the sentence: its group, its structure, what people expect of it.

    >>> sentence = Sentence("He is a nurse.", {"pronoun": (0, 2), "occupation": (8, 13)}, "nurse",
    ...     {"pronoun": ("He", "She")})
    >>> other = sentence.put("pronoun", "She")
    >>> other.text, other.slots["occupation"], other.word("occupation")
    ('She is a nurse.', (9, 14), 'nurse')
    >>> sentence.masked("pronoun", "occupation").text
    '[MASK] is a [MASK].'
    """

    text: str
    slots: Mapping[str, Place] = dataclasses.field(default_factory=dict)
    unit: str = ""
    forms: Mapping[str, tuple[str, ...]] = dataclasses.field(default_factory=dict)
    tags: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def word(self, slot: str) -> str:
        """What stands in a slot."""
        start, end = self.slots[slot]
        return self.text[start:end]

    def around(self, slot: str) -> tuple[str, str]:
        """What stands before a slot and after it."""
        start, end = self.slots[slot]
        return self.text[:start], self.text[end:]

    def put(self, slot: str, word: str) -> Sentence:
        """The sentence with another word in a slot; the slots behind it move."""
        start, end = self.slots[slot]
        longer = len(word) - (end - start)
        moved = {
            name: (first + longer, last + longer) if first >= end and name != slot else (first, last)
            for name, (first, last) in self.slots.items()
        }
        text = self.text[:start] + word + self.text[end:]
        return dataclasses.replace(self, text=text, slots={**moved, slot: (start, start + len(word))})

    def version(self, slot: str, group: int) -> Sentence:
        """The sentence with the form of group 1, 2, ... in a slot."""
        return self.put(slot, self.forms[slot][group - 1])

    def of_group(self, group: int) -> Sentence:
        """The sentence with the form of group 1, 2, ... in every slot that has forms."""
        sentence = self
        for slot in self.forms:
            sentence = sentence.version(slot, group)
        return sentence

    def masked(self, *slots: str) -> Sentence:
        """The sentence with a mask in each of the slots."""
        made = self
        for slot in slots:
            made = made.put(slot, MASK)
        return made

    def tagged(self, **tags: str) -> Sentence:
        """The sentence with further tags."""
        return dataclasses.replace(self, tags={**self.tags, **tags})

    def __hash__(self) -> int:
        return hash((self.text, self.unit, tuple(self.slots.items())))


@dataclasses.dataclass(frozen=True, slots=True)
class SentenceSet:
    """Sentences of one source.

    ``label`` is how it is called in a table. ``groups`` are whom the forms stand for, ``shares`` what is known of the
    units (such as the share of women, 0 to 1). ``left_out`` counts the lines of the source that could not be used, by
    reason; ``notes`` are remarks that travel with every reading.
    """

    name: str
    sentences: tuple[Sentence, ...]
    label: str = ""
    groups: tuple[str, ...] = ()
    dimension: str = "gender"
    language: str = "en"
    shares: Mapping[str, float] = dataclasses.field(default_factory=dict)
    left_out: Mapping[str, int] = dataclasses.field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(sentence.text for sentence in self.sentences)

    @property
    def units(self) -> tuple[str, ...]:
        """The unit of each sentence, in order."""
        return tuple(sentence.unit for sentence in self.sentences)
