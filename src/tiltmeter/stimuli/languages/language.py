"""Languages: how a text is brought into one form and cut into words and sentences, and which forms a word takes.

English, Bangla and Japanese have packs here; any other language that sets its words apart goes by general rules, or
by a pack of the user's: one YAML file of about twenty lines (CONTRIBUTING shows one, ``pack_file.py`` checks it).

A word of a lexicon takes the forms of the suffix groups that its property ``suffixes`` names, and those that its
property ``forms`` lists, but none that ``without`` lists; with no such property it stands only as it is::

    properties: {suffixes: plural, forms: null, without: null}     # plurals, where a word says nothing else
    words:
      - nurse                                                      # nurses
      - {word: woman, suffixes: possessive, forms: "women, women's"}
      - {word: arm, without: arms}                                 # arms are also weapons
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Literal

from tiltmeter.errors import BadInput, unknown
from tiltmeter.stimuli.languages.text_spans import GENERAL_ENDS, mecab_spans, sentence_spans, word_spans
from tiltmeter.stimuli.lexicon.lexicon import Word

#: Characters that show nothing and separate nothing: soft hyphen, word joiner, marks of direction, byte order mark.
_INVISIBLE = re.compile("[\u00ad\u2060\u200e\u200f\u202a-\u202e\ufeff]+")
#: The only letter whose small form is two characters; offsets would move.
_LOWER = {ord("İ"): "i"}
_MOST_PASSES, _MOST_GROWTH = 100, 10
CODE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*")
#: Languages whose words stand together without a sign between them.
_UNSPACED = frozenset({"zh", "yue", "wuu", "th", "lo", "km", "my", "bo", "dz"})


@dataclass(frozen=True, slots=True)
class Ending:
    """Suffixes of the words that end as ``after`` says; ``cut`` characters go first, ``then`` names what may follow."""

    add: tuple[str, ...]
    after: re.Pattern[str] | None = None
    cut: int = 0
    then: str | None = None


@dataclass(frozen=True, slots=True)
class Language:
    """One language; ``spaced`` says whether characters that are not of words set its words apart.

    >>> bangla = language("bn")
    >>> text = bangla.normalise("সে  স\\u09c1যোগ পেল।আমি\\u09df")
    >>> [text[start:end] for start, end in bangla.words(text)][:2]
    ['সে', 'সুযোগ']
    >>> len(bangla.sentences(text))
    2
    """

    code: str
    name: str
    script: str = ""
    spaced: bool = True
    unicode: Literal["NFC", "NFKC"] = "NFC"
    sentence_ends: str = GENERAL_ENDS
    abbreviations: frozenset[str] = frozenset()
    replacements: tuple[tuple[re.Pattern[str], str], ...] = ()
    lower: Mapping[int, str] = field(default_factory=dict, hash=False)
    suffixes: Mapping[str, tuple[Ending, ...]] = field(default_factory=dict, hash=False)

    def normalise(self, text: str) -> str:
        """One form for each text: Unicode, white space (also at line breaks), nothing invisible, and its own rules."""
        text = self._plain(text)
        room = _MOST_GROWTH * (len(text) + 1)
        for _ in range(_MOST_PASSES):
            replaced = text
            for pattern, replacement in self.replacements:
                replaced = pattern.sub(replacement, replaced)
            if replaced == text:
                return text
            text = self._plain(replaced)
            if len(text) > room:
                break
        raise BadInput(f"language '{self.code}': its rules never come to rest on '{text[:40]}': mend 'normalise'")

    def words(self, text: str) -> list[tuple[int, int]]:
        """Character spans of the words of a normalised text."""
        return word_spans(text) if self.spaced else mecab_spans(text)

    def sentences(self, text: str) -> list[tuple[int, int]]:
        """Character spans of the sentences of a normalised text."""
        return sentence_spans(text, ends=self.sentence_ends, abbreviations=self.abbreviations, spaced=self.spaced)

    def forms(self, word: Word) -> tuple[str, ...]:
        """The surface forms of a lexicon word, the word itself first, normalised and each once.

        >>> language("en").forms(Word("city", properties={"suffixes": "plural possessive"}))
        ('city', 'cities', "city's")
        """
        root = self.normalise(word.text)
        derived = [root]
        for name in str(word.properties.get("suffixes", "")).split():
            if name not in self.suffixes:
                raise BadInput(f"'{word.text}': {unknown(f'suffix group of {self.name}', name, self.suffixes)}")
            derived += _with_endings(root, name, self.suffixes)
        forms = dict.fromkeys(map(self.normalise, [*derived, *_listed(word, "forms")]))
        without = {*map(self.normalise, _listed(word, "without"))} - {root}
        return tuple(form for form in forms if form and form not in without)

    def fold(self, text: str) -> str:
        """The text in small letters, character for character, so that offsets stay true.

        >>> language("en").fold("The NURSE of İzmir")
        'the nurse of izmir'
        """
        return (text if text.isascii() and not self.lower else text.translate({**_LOWER, **self.lower})).lower()

    def _plain(self, text: str) -> str:
        if not text.isascii():
            text = _INVISIBLE.sub("", text)
            text = unicodedata.normalize(self.unicode, text)
        return " ".join(text.split())


def _with_endings(root: str, group: str, groups: Mapping[str, tuple[Ending, ...]]) -> Iterator[str]:
    """The forms of a root by the endings of a group, each followed by what may stand after it."""
    for ending in groups[group]:
        if ending.after is not None and not ending.after.search(root):
            continue
        stem = root[: len(root) - ending.cut]
        for suffix in ending.add:
            form = stem + suffix
            yield form
            if ending.then is not None:
                yield from _with_endings(form, ending.then, groups)


def _listed(word: Word, key: str) -> list[str]:
    return str(word.properties.get(key, "")).split(",")


def language(code: str | Path) -> Language:
    """A language by its BCP 47 code, or from a YAML pack.

    >>> language("bn-IN").name, language("sw").name
    ('Bangla', 'sw')
    """
    if isinstance(code, Path) or code.endswith((".yaml", ".yml")):
        from tiltmeter.stimuli.languages.pack_file import read_pack

        return read_pack(Path(code))
    return _by_code(code)


def language_codes() -> tuple[str, ...]:
    """The codes of the languages that have a pack.

    >>> language_codes()
    ('bn', 'en', 'ja')
    """
    return tuple(sorted(file.name.removesuffix(".yaml") for file in _packs().iterdir() if file.name.endswith(".yaml")))


def _packs() -> Traversable:
    return resources.files(__package__)


@functools.cache
def _by_code(code: str) -> Language:
    if not CODE.fullmatch(code):
        raise BadInput(f"'{code}' is no language code: write a BCP 47 tag such as bn or pt-BR, or the path of a pack")
    main = code.split("-")[0].lower()
    if main in language_codes():
        from tiltmeter.stimuli.languages.pack_file import read_pack

        return read_pack(_packs() / f"{main}.yaml")
    if main in _UNSPACED:
        raise BadInput(
            f"language '{code}' sets no words apart and there is no segmenter for it: put spaces between the words "
            "and give a pack of your own"
        )
    return Language(code, code)
