"""What a run of mining looks for, and all that decides what it finds: words with their forms, lengths, options."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from tiltmeter.errors import BadInput
from tiltmeter.files import is_yaml_path
from tiltmeter.stimuli.languages import Language, is_word_character, language
from tiltmeter.stimuli.lexicon.lexicon import Group, group, load_lexicon
from tiltmeter.stimuli.mining.corpus import FileKind

#: Whether a window may reach into the line before and after: of a text file, of a file of any kind, or of none.
Across = Literal["none", "lines", "records"]
_LENGTH = re.compile(r"(>(?=0)|>?(?=[1-9]))([0-9]{1,7})")


@dataclass(frozen=True, slots=True)
class LexiconWord:
    """A word of a lexicon, the forms it takes (itself first), and the addresses of the groups that hold it."""

    text: str
    forms: tuple[str, ...]
    groups: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Length:
    """How much text around a word: exactly so many words, all of a text with more than so many, or a sentence.

    >>> Length.parse(">75")
    Length(kind='more', words=75)
    >>> str(Length.parse("9"))
    '9'
    """

    kind: Literal["exactly", "more", "sentence"]
    words: int = -1

    @classmethod
    def parse(cls, text: str) -> Length:
        if text == "sentence":
            return cls("sentence")
        if match := _LENGTH.fullmatch(text):
            return cls("more" if match[1] else "exactly", int(match[2]))
        raise BadInput(f"unknown length '{text}': write a number of words (9), more than a number (>75) or sentence")

    def __str__(self) -> str:
        return {"exactly": f"{self.words}", "more": f">{self.words}", "sentence": "sentence"}[self.kind]


@dataclass(frozen=True, slots=True)
class MiningSettings:
    """The words and lengths to look for, how many windows to keep of each, and how texts are read."""

    language: Language
    words: tuple[LexiconWord, ...]
    lengths: tuple[Length, ...]
    keep: int
    within: Literal["text", "sentence"]
    across: Across
    errors: Literal["strict", "replace"]
    seed: int

    def joins(self, kind: FileKind) -> bool:
        """Whether windows may reach into the record before and after, in a file of this kind."""
        return self.across == "records" or (self.across == "lines" and kind == "text")

    @property
    def reservoirs(self) -> int:
        """How many there are: one for each word and length, numbered by word, then by length."""
        return len(self.words) * len(self.lengths)


def parse_lengths(texts: Iterable[str]) -> tuple[Length, ...]:
    """Lengths, each once.

    >>> [str(length) for length in parse_lengths(["9", ">75", "9"])]
    ['9', '>75']
    """
    lengths = tuple(dict.fromkeys(Length.parse(text.strip()) for text in texts))
    if not lengths:
        raise BadInput("no length is given: write e.g. 9,25,75,>75")
    return lengths


def find_groups(addresses: Sequence[str | Group]) -> dict[str, Group]:
    """The groups behind addresses; the name or file of a lexicon stands for all of its groups.

    >>> list(find_groups(["gender.male_terms"]))
    ['gender.male_terms']
    """
    groups: dict[str, Group] = {}
    for address in addresses:
        if isinstance(address, Group):
            groups[address.name] = address
        elif "." not in address or is_yaml_path(address):
            members = load_lexicon(address).groups
            if not members:
                raise BadInput(f"lexicon '{address}' holds no group of words: give one that does")
            groups |= {f"{address}.{name}": members[name] for name in members}
        else:
            groups[address] = group(address)
    if not groups:
        raise BadInput("no words to look for: name a lexicon, e.g. gender.male_terms,gender.female_terms")
    return groups


def language_of(code: str | None, groups: dict[str, Group]) -> Language:
    """The language asked for, or else the one all groups are in."""
    if code is not None:
        return language(code)
    codes = sorted({group.language for group in groups.values()})
    if len(codes) > 1:
        raise BadInput(f"the words are in several languages ({', '.join(codes)}): say which with --language")
    return language(codes[0])


def find_words(groups: dict[str, Group], language: Language) -> tuple[LexiconWord, ...]:
    """Every word of the groups once, with its forms; a word of two groups is looked for once and counts for both."""
    addresses_of: dict[tuple[str, ...], dict[str, None]] = {}
    for address, members in groups.items():
        for word in members.words:
            forms = language.forms(word)
            for form in forms:
                if not any(map(is_word_character, form)):
                    raise BadInput(f"{address}: '{form}' holds no letter, so it cannot be found: remove it")
            addresses_of.setdefault(forms, {})[address] = None
    return tuple(LexiconWord(forms[0], forms, tuple(addresses)) for forms, addresses in addresses_of.items())
