"""Lexicons: groups of words, pairs of words and sentence templates, with their language and their source.

A lexicon is one YAML file, in any language::

    name: mine
    language: en                 # BCP 47
    licence: MIT
    dimension: gender            # what the groups differ in; a group may say another, or "" for none
    groups:
      jobs:
        dimension: ""
        kind: noun               # of the words that say no other
        properties: [share]      # what else a word may carry; {share: 50} also says what it carries otherwise
        words:
          - engineer
          - {word: nurse, phrase: a trained nurse, share: 88.5}
          - {word: hers, kind: owner}
      men: {partners: women, words: [he, {word: him, family: he}, king]}    # he/she, him/her, king/queen
      women: {words: [she, {word: her, family: she}, queen]}    # her is no more than a form of she: one family
    pairs:
      gender: {label_1: female, label_2: male, pairs: [[she, he], [woman, man]]}
    templates:
      work:
        templates:
          - {subject: "{} came late.", object: "We waited for {}.", owner: "The desk was {}."}

What it holds is addressed as ``lexicon.name``, e.g. ``gender.male_terms``; for a file of your own the address
is its path and the name, e.g. ``my_words.yaml.jobs``. Where an address is accepted, the words themselves are too.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Self, TypeAlias, TypeVar

from tiltmeter.errors import BadInput, unknown
from tiltmeter.files import is_yaml_path, yaml_names
from tiltmeter.stimuli.text import comparable, normalise

T = TypeVar("T")
_LISTS = resources.files(__package__) / "lists"

#: Pronouns by their role; they stand only in the frame of that role.
ROLES = ("subject", "object", "owner")
#: What a word is: it decides which frame of a template it stands in, and how.
KINDS = (*ROLES, "name", "noun", "plural", "mass", "adjective", "verb", "adverb")


@dataclass(frozen=True, slots=True)
class Word:
    """A word, what kind of word it is, and what is known of it (e.g. the share of women in an occupation).

    ``phrase`` is how it stands as a noun phrase, where that is not what the English rules would make of it. ``family``
    is one name for all words of a group that are forms of one word or of one meaning (he, him, his).
    """

    text: str
    kind: str | None = None
    phrase: str | None = None
    properties: Mapping[str, float | str] = field(default_factory=dict, hash=False)
    family: str | None = None


@dataclass(frozen=True, slots=True)
class Group:
    """Words that stand for one idea or one group of people; ``dimension`` is what such groups differ in (gender, race).

    ``partners`` is the name of the group whose n-th word is the partner of the n-th word here.

    >>> Group.of("mine.pronouns", ["he", "him"]).texts
    ('he', 'him')
    """

    name: str
    label: str
    words: tuple[Word, ...]
    language: str = "en"
    licence: str = ""
    citation: str = ""
    notes: str = ""
    dimension: str = ""
    partners: str = ""

    @classmethod
    def of(
        cls, name: str, words: Iterable[str], *, kind: str | None = None, label: str = "", language: str = "en",
        dimension: str = "",
    ) -> Self:  # fmt: skip
        """A group made in Python from plain words of one kind."""
        chosen = tuple(Word(normalise(word), kind) for word in words)
        return cls(name, label or name, chosen, language, dimension=dimension)

    def __repr__(self) -> str:
        more = f" and {len(self.words) - 3} more" if len(self.words) > 3 else ""
        return f"<Group {self.name}: {', '.join(self.texts[:3])}{more}>"

    @property
    def texts(self) -> tuple[str, ...]:
        return tuple(word.text for word in self.words)

    @property
    def families(self) -> tuple[str, ...] | None:
        """The family of every word, a word that names none being its own; None where no word names any.

        >>> group({"words": ["he", {"word": "him", "family": "he"}, "king"]}).families
        ('he', 'he', 'king')
        """
        named = any(word.family for word in self.words)
        return tuple(word.family or word.text for word in self.words) if named else None


@dataclass(frozen=True, slots=True)
class Pairs:
    """Words that differ in one idea only, e.g. (woman, man); every pair in the same order."""

    name: str
    label: str
    label_1: str
    label_2: str
    pairs: tuple[tuple[str, str], ...]
    language: str = "en"
    licence: str = ""
    citation: str = ""
    notes: str = ""
    dimension: str = ""


#: A group as a user may give it: its address, the words themselves, or what stands below its name in a lexicon file
#: (where ``partners`` is the label of another group that is given so, or the name of one from a lexicon).
SomeWords: TypeAlias = str | Group | Sequence[str] | Mapping[str, Any]
SomePairs: TypeAlias = str | Pairs | Sequence[Sequence[str]] | Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class TemplateSet:
    """Sentence templates; each maps a role or kind of word to a frame with one ``{}``."""

    name: str
    label: str
    templates: tuple[Mapping[str, str], ...] = field(hash=False)
    language: str = "en"
    licence: str = ""
    citation: str = ""
    notes: str = ""


@dataclass(frozen=True, slots=True)
class Lexicon:
    """One lexicon file, checked. ``warnings`` tells what is odd but may be meant: a word in two groups."""

    name: str
    language: str
    licence: str
    citation: str
    notes: str
    groups: Mapping[str, Group]
    pairs: Mapping[str, Pairs]
    templates: Mapping[str, TemplateSet]
    warnings: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<Lexicon {self.name} ({self.language}): {', '.join((*self.groups, *self.pairs, *self.templates))}>"

    @property
    def sha256(self) -> str:
        """Identifies the content: the same for two files that say the same."""
        return stimuli_digest(dataclasses.replace(self, warnings=()))


def stimuli_digest(*stimuli: Any) -> str:
    """SHA-256 of any stimuli (groups, pairs, templates, sentence sets), for a reading's provenance."""
    content = [dataclasses.asdict(shown) for shown in stimuli]
    return hashlib.sha256(json.dumps(content, ensure_ascii=False, sort_keys=True).encode()).hexdigest()


#: The published Bangla lists, by the name they have in an address.
_PUBLISHED = "bangla_categories"


def lexicon_names() -> tuple[str, ...]:
    """The lexicons that come with tiltmeter.

    >>> "gender" in lexicon_names()
    True
    """
    return yaml_names(_LISTS)


def load_lexicon(name_or_path: str | Path) -> Lexicon:
    """A lexicon by the name it ships under, or from a YAML file; or the published Bangla lists, from the user's copy.

    >>> load_lexicon("gender").groups["male_terms"].texts[:3]
    ('he', 'him', 'his')
    """
    if is_yaml_path(name_or_path):
        from tiltmeter.stimuli.lexicon.yaml_form import read_lexicon

        return read_lexicon(Path(name_or_path))
    if str(name_or_path).partition(".")[0] == _PUBLISHED:
        from tiltmeter.stimuli.datasets.bangla import bangla_lexicon

        return bangla_lexicon(str(name_or_path))
    return _load_shipped(str(name_or_path))


def group(words: SomeWords) -> Group:
    """A group of words by its address, or of the words themselves.

    >>> group("weat.male_names").texts[:2]
    ('John', 'Paul')
    >>> group(["he", "him"]).label, group({"label": "men", "words": ["he", "him"]}).texts
    ('he, him', ('he', 'him'))
    """
    if isinstance(words, Group):
        return words
    if isinstance(words, str):
        return _find("group", words, lambda lexicon: lexicon.groups)
    from tiltmeter.stimuli.lexicon.yaml_form import read_group

    if not isinstance(words, Mapping | list | tuple):
        raise BadInput(f"a group is an address such as gender.male_terms, or a list of words, not {words!r}")
    return read_group(words)


def pairs(words: SomePairs) -> Pairs:
    """A list of word pairs by its address, or of the pairs themselves.

    >>> pairs("gender.definitional").pairs[0]
    ('woman', 'man')
    >>> pairs([("she", "he"), ("woman", "man")]).label_1
    'she, woman'
    """
    if isinstance(words, Pairs):
        return words
    if isinstance(words, str):
        return _find("pairs", words, lambda lexicon: lexicon.pairs)
    from tiltmeter.stimuli.lexicon.yaml_form import read_pairs

    if not isinstance(words, Mapping | list | tuple):
        raise BadInput(f"pairs are an address such as gender.definitional, or a list of two words each, not {words!r}")
    return read_pairs(words)


def templates(address: str) -> TemplateSet:
    """A set of sentence templates by its address.

    >>> len(templates("association.career").templates)
    15
    """
    return _find("templates", address, lambda lexicon: lexicon.templates)


def check_disjoint(group_1: Group, group_2: Group) -> tuple[str, ...]:
    """The words that both groups hold; comparing two groups of the very same words is an error.

    >>> check_disjoint(Group.of("a", ["home", "work"]), Group.of("b", ["Home", "office"]))
    ('home',)
    """
    theirs = {comparable(text) for text in group_2.texts}
    shared = tuple(text for text in group_1.texts if comparable(text) in theirs)
    if len(shared) == len(group_1.words) == len(group_2.words):
        raise BadInput(f"'{group_1.name}' and '{group_2.name}' hold the same words: give two different groups")
    return shared


def matched_words(one: Group, two: Group) -> tuple[tuple[str, str], ...]:
    """The pairs of partners of two groups, in order; empty where neither says that the other holds its partners.

    >>> matched_words(group("gender.female_pronouns"), group("gender.male_pronouns"))
    (('she', 'he'), ('her', 'him'), ('hers', 'his'))
    >>> matched_words(group("gender.female_names"), group("gender.male_names"))
    ()
    """
    if not any(said and said == name for said, name in ((one.partners, two.name), (two.partners, one.name))):
        return ()
    if len(one.words) != len(two.words):
        raise BadInput(
            f"'{one.name}' and '{two.name}' are partners, word by word, but hold {len(one.words)} and "
            f"{len(two.words)} words: give them the same number, or remove 'partners'"
        )
    return tuple(zip(one.texts, two.texts, strict=True))


@functools.cache
def _load_shipped(name: str) -> Lexicon:
    from tiltmeter.stimuli.lexicon.yaml_form import read_lexicon

    if name not in lexicon_names():
        raise unknown("lexicon", name, lexicon_names())
    return read_lexicon(_LISTS / f"{name}.yaml")


def _find(what: str, address: str, members: Callable[[Lexicon], Mapping[str, T]]) -> T:
    lexicon, _, name = address.rpartition(".")
    if not lexicon:
        one = f"a {what}" if what == "group" else what
        raise BadInput(f"'{address}' is not an address of {one}: write lexicon.name, e.g. gender.male_terms")
    known = members(load_lexicon(lexicon))
    if name not in known:
        raise unknown(f"{what} of {lexicon}", name, known)
    return known[name]


#: So many neutral words are shown to a model: enough to choose from, few enough for a paid one.
_NEUTRAL = 400
_NEUTRAL_OF = {"en": "neutral", "bn": "neutral_bn", "ja": "neutral_ja"}


@functools.cache
def neutral_words(language: str) -> Mapping[str, int]:
    """Words of a language that say nothing of people, with their band of frequency, from all bands alike.

    None where none ship.

    >>> len(neutral_words("en")), neutral_words("en")["above"], len(neutral_words("tlh"))
    (400, 1, 0)
    """
    name = _NEUTRAL_OF.get(language.partition("-")[0])
    if name is None:
        return {}
    bands: dict[int, list[str]] = {}
    for word in group(f"{name}.words").words:
        bands.setdefault(int(word.properties["band"]), []).append(word.text)
    each = _NEUTRAL // len(bands)
    return {
        words[place * len(words) // min(each, len(words))]: band
        for band, words in bands.items()
        for place in range(min(each, len(words)))
    }


@functools.cache
def frequency_bands(language: str) -> Mapping[str, int]:
    """The band of frequency, as the neutral words have it, of the words of the shipped lexicons; none where unknown.

    >>> frequency_bands("en")["he"], frequency_bands("en")["tulip"]
    (1, 4)
    """
    path = resources.files(__package__) / f"frequency_{language.partition('-')[0]}.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    rows = (line.split() for line in lines if not line.startswith("#"))
    return {word: int(band) for band, *words in rows for word in words}
