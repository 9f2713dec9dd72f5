"""Languages: how a text is brought into one form and cut into words and sentences, and which forms a word takes.

For every script it says where words and sentences are, and which characters words are made of.

English, Bangla and Japanese have packs here; any other language that separates its words follows general rules, or
a pack of the user's: one YAML file of about twenty lines (CONTRIBUTING shows one, ``pack_file.py`` checks it).

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
import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Literal, NamedTuple

from tiltmeter.errors import BadInput, MissingExtra, unknown
from tiltmeter.files import is_yaml_path, yaml_names
from tiltmeter.stimuli.lexicon.lexicon import Word

#: Zero-width joiner and non-joiner: spelling in Bangla, Persian, Sinhala and others.
JOINERS = "\u200c\u200d"
_APOSTROPHES = "'’"
#: Unicode has no letter, digit or mark beyond, but for the variation selectors far above.
_FIRST_PLANE, _LETTERS_END = 0x10000, 0x34000
_SELECTORS = range(0xE0100, 0xE01F0)
_CJK = frozenset({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HALFWIDTH", "IDEOGRAPHIC"})
_ASCII_WORD = re.compile(r"[A-Za-z0-9]+(?:'[A-Za-z0-9]+)*")
#: Ends of sentences of the languages that have no pack.
GENERAL_ENDS = ".!?…。！？؟۔।॥"
#: These also stand inside a sentence (3.5, tiltmeter.org, Yahoo!), so only white space after them ends it.
_NEED_SPACE = ".!?…"
_CLOSING = "\"'”’»)]}」』）】》〉"
_LAST_WORD = re.compile(r"[\w.]*\w\Z")


def is_word_character(character: str) -> bool:
    """Whether a word can hold this character: a letter, a digit, a mark (a Bangla vowel sign is one) or a joiner.

    >>> [is_word_character(character) for character in ("a", "\\u09be", "৫", "\\u200d", "-", "_", "।")]
    [True, True, True, True, False, False, False]
    """
    return unicodedata.category(character)[0] in "LMN" or character in JOINERS


def word_spans(text: str) -> list[tuple[int, int]]:
    """Character spans of the words of a text in which other characters set words apart.

    An apostrophe between two letters is part of the word; a run of marks alone is not a word.

    >>> text = "She's well-read: সুযোগ।"
    >>> [text[start:end] for start, end in word_spans(text)]
    ["She's", 'well', 'read', 'সুযোগ']
    """
    if text.isascii():
        return [word.span() for word in _ASCII_WORD.finditer(text)]
    spans = (word.span() for word in _word().finditer(text))
    whole = ((_after_bare_marks(text, start, end), end) for start, end in spans)
    return [(start, end) for start, end in whole if start < end]


def _after_bare_marks(text: str, start: int, end: int) -> int:
    for at in range(start, end):
        if text[at].isalnum():
            return start
        if text[at] in _APOSTROPHES:
            return at + 1
    return end


def script_of(text: str) -> str:
    """The script most letters of a text are of, as Unicode names it; "" where there are no letters.

    Kana and Chinese characters are all "CJK".

    >>> script_of("সে ভালো মেয়ে (ok)"), script_of("彼女は医者です"), script_of("1, 2")
    ('BENGALI', 'CJK', '')
    """
    letters = Counter(character for character in text if character.isalpha())
    scripts: Counter[str] = Counter()
    for letter, count in letters.items():
        scripts[_script(letter)] += count
    return scripts.most_common(1)[0][0] if scripts else ""


@functools.cache
def _script(letter: str) -> str:
    first = unicodedata.name(letter, "UNNAMED").split(" ")[0]
    return "CJK" if first in _CJK else first


@functools.cache
def _word() -> re.Pattern[str]:
    # Python's \w leaves out marks: a Bangla word would fall apart at each vowel sign. A class that reaches beyond the
    # first plane is searched from end to end at every space, which the look-ahead saves (seven times as fast).
    codes = [code for code in (*range(_LETTERS_END), *_SELECTORS) if is_word_character(chr(code))]
    first = _ranges([code for code in codes if code < _FIRST_PLANE])
    beyond = _ranges([code for code in codes if code >= _FIRST_PLANE])
    run = f"(?:[{first}]+|(?=[\U00010000-\U0010ffff])[{beyond}]+)+"
    marks = _ranges([code for code in codes if not chr(code).isalnum()])
    return re.compile(rf"{run}(?:[{_APOSTROPHES}](?=[{marks}]*[^\W_]){run})*")


def _ranges(codes: list[int]) -> str:
    starts = [code for code, before in zip(codes, [-2, *codes[:-1]], strict=True) if code != before + 1]
    ends = [code for code, after in zip(codes, [*codes[1:], -2], strict=True) if code != after - 1]
    return "".join(f"{chr(start)}-{chr(end)}" for start, end in zip(starts, ends, strict=True))


def mecab_spans(text: str) -> list[tuple[int, int]]:
    """Character spans of the words of a Japanese text, as MeCab cuts it with the UniDic dictionary.

    >>> text = "彼女は医者です。"
    >>> [text[start:end] for start, end in mecab_spans(text)]
    ['彼女', 'は', '医者', 'です']
    """
    # MeCab stops at a NUL and fails at half of a surrogate pair; what stands in for them keeps the offsets.
    text = text.replace("\0", " ").encode("utf-8", "replace").decode()
    spans, position = [], 0
    for token in _tagger()(text):
        start = text.index(token.surface, position)
        position = start + len(token.surface)
        if any(character.isalnum() for character in token.surface):
            spans.append((start, position))
    return spans


@functools.cache
def _tagger() -> Any:
    try:
        import fugashi
        import unidic_lite
    except ImportError:
        raise MissingExtra("cutting Japanese into words", "ja") from None
    # Named, because fugashi would take a full UniDic instead where one is installed, and words would differ.
    return fugashi.GenericTagger(f'-r "{unidic_lite.DICDIR}/mecabrc" -d "{unidic_lite.DICDIR}"')


def sentence_spans(
    text: str, *, ends: str, abbreviations: Collection[str] = (), spaced: bool = True
) -> list[tuple[int, int]]:
    """Character spans of the sentences: every character that is not white space is in one of them.

    A full stop ends none before a small letter, after an abbreviation or after the initial of a name.

    >>> text = 'Dr. Rao left at 3.5 a.m. on foot. "Why?" he asked. Nobody knew'
    >>> [text[start:end] for start, end in sentence_spans(text, ends=".?!", abbreviations=["Dr"])]
    ['Dr. Rao left at 3.5 a.m. on foot.', '"Why?" he asked.', 'Nobody knew']
    """
    marks = (mark for mark in _marks(ends).finditer(text) if _is_end(text, mark, abbreviations, spaced))
    borders = [0, *(mark.end() for mark in marks), len(text)]
    pieces = ((start, text[start:end]) for start, end in itertools.pairwise(borders) if text[start:end].strip())
    return [(start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())) for start, piece in pieces]


@functools.cache
def _marks(ends: str) -> re.Pattern[str]:
    return re.compile(rf"[{re.escape(ends)}]+[{re.escape(_CLOSING)}]*")


def _is_end(text: str, place: re.Match[str], abbreviations: Collection[str], spaced: bool) -> bool:
    mark, after = place[0], text[place.end() : place.end() + 3]
    if after and not after[0].isspace():
        # Unspaced scripts quote a whole sentence inside another: 「行く。」と言った。
        return mark[-1] not in _CLOSING and not (spaced and mark[-1] in _NEED_SPACE)
    following = after.lstrip().lstrip("\"'“‘«([")
    if mark[0] in _NEED_SPACE and following[:1].islower():
        return False
    word = _LAST_WORD.search(text, max(0, place.start() - 30), place.start())
    if mark != "." or word is None:
        return True
    # "I" is a word of its own far more often than the initial of a name.
    initial = len(word[0]) == 1 and word[0].isupper() and word[0] != "I"
    return not (after and (initial or word[0] in abbreviations))


#: Characters that show nothing and separate nothing: soft hyphen, word joiner, marks of direction, byte order mark.
_INVISIBLE = re.compile("[\u00ad\u2060\u200e\u200f\u202a-\u202e\ufeff]+")
#: The only letter whose small form is two characters; offsets would move.
_LOWER = {ord("İ"): "i"}
_MOST_PASSES, _MOST_GROWTH = 100, 10
CODE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*")
#: Languages whose words stand together without a sign between them.
_PACKS = resources.files(__package__)
_UNSPACED = frozenset({"zh", "yue", "wuu", "th", "lo", "km", "my", "bo", "dz"})


@dataclass(frozen=True, slots=True)
class Ending:
    """Suffixes of the words that end as ``after`` says; ``cut`` characters go first, ``then`` names what may follow."""

    add: tuple[str, ...]
    after: re.Pattern[str] | None = None
    cut: int = 0
    then: str | None = None


class Swap(NamedTuple):
    """What takes the place of a word where these patterns fit the text before and after it; None fits any."""

    by: str
    before: re.Pattern[str] | None = None
    after: re.Pattern[str] | None = None


class GrammarRule(NamedTuple):
    """A pattern that no proper sentence has, with ``{pronoun}`` where its pronoun stands, and what is wrong then."""

    wrong: re.Pattern[str]
    says: str


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
    #: Words that another group's word takes the place of by what stands around them (her: his or him).
    swaps: Mapping[str, tuple[Swap, ...]] = field(default_factory=dict, hash=False)
    #: What a drafted sentence must not have, and words for people that say a gender beside those of the lexicons.
    grammar: tuple[GrammarRule, ...] = ()
    gendered: frozenset[str] = frozenset()

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
        raise BadInput(f"language '{self.code}': its rules never settle on '{text[:40]}': fix 'normalise'")

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
            text = unicodedata.normalize(self.unicode, _INVISIBLE.sub("", text))
        return " ".join(text.split())


def _with_endings(root: str, group: str, groups: Mapping[str, tuple[Ending, ...]]) -> Iterator[str]:
    """The forms of a root by the endings of a group, each followed by what may stand after it."""
    for ending in groups[group]:
        fits = ending.after is None or ending.after.search(root)
        for suffix in ending.add if fits else ():
            form = root[: len(root) - ending.cut] + suffix
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
    if is_yaml_path(code):
        from tiltmeter.stimuli.languages.pack_file import read_pack

        return read_pack(Path(code))
    return _by_code(str(code))


def language_codes() -> tuple[str, ...]:
    """The codes of the languages that have a pack.

    >>> language_codes()
    ('bn', 'en', 'ja')
    """
    return yaml_names(_PACKS)


@functools.cache
def _by_code(code: str) -> Language:
    if not CODE.fullmatch(code):
        raise BadInput(
            f"'{code}' is not a language code: write a BCP 47 tag such as bn or pt-BR, or the path of a pack"
        )
    main = code.split("-")[0].lower()
    if main in language_codes():
        from tiltmeter.stimuli.languages.pack_file import read_pack

        return read_pack(_PACKS / f"{main}.yaml")
    if main in _UNSPACED:
        raise BadInput(
            f"language '{code}' sets no words apart and there is no segmenter for it: put spaces between the words "
            "and give a pack of your own"
        )
    return Language(code, code)
