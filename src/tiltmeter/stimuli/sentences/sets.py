"""What a language model is shown: sentences with a place for a pronoun, pairs of sentences, traits in structures."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

#: Marks the place of a filler in a sentence that is written by hand.
MASK = "[MASK]"


@dataclasses.dataclass(frozen=True, slots=True)
class SentencePair:
    """Two sentences that differ in whom they speak of; ``stereotyped`` is the one that fits the stereotype."""

    stereotyped: str
    other: str
    kind: str
    number: int
    direction: str = "stereo"


@dataclasses.dataclass(frozen=True, slots=True)
class PairSet:
    """Sentence pairs of one source."""

    name: str
    rows: tuple[SentencePair, ...]
    language: str = "en"
    warnings: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class PronounSentence:
    """A sentence with a gendered word (mostly a pronoun) that refers to an occupation.

    ``start`` and ``end`` are the characters of the gendered word in ``text``; ``forms`` its masculine and feminine
    form in that place, with the case it has there. ``expected`` is the group (1 men, 2 women) that the stereotype or
    the label gives the occupation, None where there is none. ``kind`` names the part of the data set.

    >>> PronounSentence("The nurse said he left.", 15, 17, ("he", "she"), "nurse", 2, "type 1", "1").other
    'The nurse said she left.'
    """

    text: str
    start: int
    end: int
    forms: tuple[str, str]
    occupation: str
    expected: int | None
    kind: str
    id: str

    @property
    def word(self) -> str:
        return self.text[self.start : self.end]

    def with_form(self, group: int) -> str:
        """The sentence with the form of group 1 or 2."""
        return self.text[: self.start] + self.forms[group - 1] + self.text[self.end :]

    @property
    def other(self) -> str:
        return self.with_form(2 if self.word == self.forms[0] else 1)


@dataclasses.dataclass(frozen=True, slots=True)
class PronounSet:
    """Pronoun sentences of one source, and what is known of the occupations (such as female_share, 0 to 1)."""

    name: str
    rows: tuple[PronounSentence, ...]
    shares: Mapping[str, float] = dataclasses.field(default_factory=dict)
    language: str = "en"
    warnings: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class TraitSentence:
    """A sentence with a place for a gendered term and a trait in it; both places by characters.

    ``text`` holds ``terms[0]`` of the set at ``target``, to be replaced by each term in turn.
    """

    text: str
    target: tuple[int, int]
    attribute: tuple[int, int]
    trait: str
    group: str
    structure: str


@dataclasses.dataclass(frozen=True, slots=True)
class TraitSet:
    """Traits of two groups (positive, negative) in several structures, and the pairs of gendered terms."""

    name: str
    rows: tuple[TraitSentence, ...]
    terms: tuple[tuple[str, str], ...]
    groups: tuple[str, str]
    language: str = "en"
    warnings: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class StereoExample:
    """A StereoSet example: one context and three sentences, by label (stereotype, anti-stereotype, unrelated).

    ``kind`` is intrasentence (the context holds BLANK) or intersentence (the sentence follows the context);
    ``sentences`` maps the label to (sentence id, sentence).
    """

    id: str
    kind: str
    target: str
    bias_type: str
    context: str
    sentences: Mapping[str, tuple[str, str]]


@dataclasses.dataclass(frozen=True, slots=True)
class MaskedSentence:
    """A sentence with one ``[MASK]``, the fillers of both groups that fit there, and the occupation it is about.

    >>> MaskedSentence("The nurse said that [MASK] was tired.", ("he", "she"), "nurse").place
    (20, 26)
    """

    text: str
    fillers: tuple[str, str]
    occupation: str

    @property
    def place(self) -> tuple[int, int]:
        start = self.text.index(MASK)
        return start, start + len(MASK)


@dataclasses.dataclass(frozen=True, slots=True)
class MaskedSet:
    """Masked sentences of one source; ``shares`` is what is known of the occupations (female share, 0 to 1)."""

    name: str
    rows: tuple[MaskedSentence, ...]
    shares: Mapping[str, float] = dataclasses.field(default_factory=dict)
    language: str = "en"
    warnings: tuple[str, ...] = ()
