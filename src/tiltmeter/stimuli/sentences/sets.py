"""What a language model is shown: sentences with a place for a pronoun, pairs of sentences, traits in structures."""

from __future__ import annotations

import dataclasses
import re

#: Marks the place of a filler in a sentence that is written by hand.
MASK = "[MASK]"


@dataclasses.dataclass(frozen=True, slots=True)
class ClozeRow:
    """One sentence in two versions that differ in the pronoun (or name), and the context word said to decide.

    ``label`` is the group people expect, 1 or 2, or None; ``number`` the row in its file, for messages.

    >>> row = ClozeRow("It was cooked by him", "It was cooked by her", ("him", "her"), ("cooked", "cooked"), 1, 2)
    >>> row.stem
    'It was cooked by'
    """

    text_1: str
    text_2: str
    pronouns: tuple[str, str]
    contexts: tuple[str, str]
    label: int | None
    number: int

    @property
    def stem(self) -> str | None:
        """What stands before the pronoun where it is the last word of both versions; None where it is not."""
        ends = [
            re.search(rf"\s*(?<!\w){re.escape(word)}[.。]?$", text)
            for text, word in zip(self.texts, self.pronouns, strict=True)
        ]
        stems = {text[: end.start()] for text, end in zip(self.texts, ends, strict=True) if end}
        return stems.pop() if all(ends) and len(stems) == 1 else None

    @property
    def texts(self) -> tuple[str, str]:
        return self.text_1, self.text_2


@dataclasses.dataclass(frozen=True, slots=True)
class ClozeSet:
    """Rows with one kind of context (noun, verb, occupation, ...) in one variant (all, someone, person)."""

    name: str
    variant: str
    context: str
    groups: tuple[str, str]
    rows: tuple[ClozeRow, ...]
    language: str = "en"
    warnings: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class RaceRow:
    """A sentence that ends in "them", and the occupation in it."""

    text: str
    context: str
    number: int

    @property
    def stem(self) -> str:
        return self.text.rstrip(".").rsplit(None, 1)[0]

    @property
    def pronoun(self) -> str:
        return self.text.rstrip(".").rsplit(None, 1)[1]


@dataclasses.dataclass(frozen=True, slots=True)
class RaceSet:
    """Occupation sentences to be revised by two races; each race is one or more words whose vectors are summed."""

    name: str
    races: tuple[tuple[str, ...], tuple[str, ...]]
    rows: tuple[RaceRow, ...]
    warnings: tuple[str, ...] = ()
