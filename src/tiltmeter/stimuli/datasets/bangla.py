"""Bangla stimuli (Sadhu et al. 2024): word categories, nine tests over sixteen lists, and traits in sentences.

The categories come with the suffixes of each word, whose forms stand in its property ``forms``, where
``Language.forms`` finds them.

The traits stand in five sentence structures, made into sentences as the study does. The cells of a structure are a
placeholder (the context), the ending of the gendered term, and what follows the trait. S1 and S2 put the term first, S3
the trait, S4 and S5 the context and then the trait.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tiltmeter.errors import BadInput, unknown
from tiltmeter.files import read_json
from tiltmeter.stimuli.datasets.catalogue import catalogue, find
from tiltmeter.stimuli.datasets.csv_tables import TableRow, read_table, rows_named
from tiltmeter.stimuli.languages import Language, language
from tiltmeter.stimuli.lexicon.lexicon import Group, Lexicon, Word
from tiltmeter.stimuli.sentences.seat_file import load_seat_file
from tiltmeter.stimuli.sentences.sentence import Sentence, SentenceSet, fill_trait
from tiltmeter.stimuli.text import normalise

_NAME, _TESTS = "bangla_ceat", 9
_WORDS, _SUFFIXES = "weatWordsWithSuffix.jsonl", "suffixCategories.jsonl"
#: The two ways to write য় ড় ঢ়: in one character, and as letter and dot.
_COMPOSED, _DECOMPOSED = re.compile("[\u09dc\u09dd\u09df]"), re.compile("[যডঢ]\u09bc")
_CANNOT_BE_WRITTEN = re.compile("[অ-ঔা-ৌ][া-ৌ]")
_MOST_NAMED = 5


@dataclass(frozen=True, slots=True)
class WordTest:
    """One test of the study, C1 to C9. Positive effects mean that targets 1 lean towards attributes 1."""

    name: str
    targets: tuple[Group, Group]
    attributes: tuple[Group, Group]


@dataclass(frozen=True, slots=True)
class BanglaCategories:
    """The lists of words by name, the tests over them, the published suffix groups, and what is odd about them."""

    groups: Mapping[str, Group]
    tests: tuple[WordTest, ...]
    suffixes: Mapping[str, tuple[str, ...]]
    warnings: tuple[str, ...]


def load_bangla_categories(folder: str | Path) -> BanglaCategories:
    """Read ``ceat1.jsonl`` to ``ceat9.jsonl`` in ``CEAT_Categories``, and the words and suffixes beside that folder.

    A word that a list holds twice is kept once. Words of no category are the group ``others``. What cannot be written
    (a vowel sign after a vowel) is left out of the forms.
    """
    root, bangla = Path(folder), language("bn")
    warnings: list[str] = []
    suffixes = _suffixes(root / _SUFFIXES, bangla, warnings)
    words = _words(root / _WORDS, bangla, suffixes, warnings)
    lists = _lists(root / "CEAT_Categories", bangla, warnings)
    groups = {name: _group(name, texts, words) for name, texts in _named(lists, warnings).items()}
    named = {group.texts: group for group in groups.values()}
    if others := [text for text in words if not any(text in texts for texts in named)]:
        groups["others"] = _group("others", others, words)
        warnings.append(f"{_WORDS}: {len(others)} words are in no category: group 'others'")
    four = [[named[texts] for _, texts in own] for own in lists]
    tests = (WordTest(f"C{n}", (x, y), (a, b)) for n, (x, y, a, b) in enumerate(four, 1))
    return BanglaCategories(groups, tuple(tests), suffixes, tuple(warnings))


def bangla_lexicon(name: str) -> Lexicon:
    """The published lists as a lexicon: all of them, or of one test, such as ``bangla_categories.c3``, its four.

    The targets of a test are ``x`` and ``y``, its attributes ``a`` and ``b``.
    """
    source = catalogue()[_NAME]
    categories = _categories(find(_NAME))
    groups, number = categories.groups, name.rpartition(".")[2]
    if "." in name:
        tests = {test.name.lower(): test for test in categories.tests}
        if number not in tests:
            raise unknown("test of the Bangla categories", number, tests)
        groups = dict(zip("xyab", (*tests[number].targets, *tests[number].attributes), strict=True))
    named = {key: dataclasses.replace(group, name=f"{name}.{key}") for key, group in groups.items()}
    return Lexicon(name, "bn", source.licence, source.citation, "", named, {}, {}, categories.warnings)


@functools.cache
def _categories(folder: Path) -> BanglaCategories:
    return load_bangla_categories(folder)


def _suffixes(path: Path, bangla: Language, warnings: list[str]) -> dict[str, tuple[str, ...]]:
    groups: dict[str, tuple[str, ...]] = {}
    for name, suffixes in _entries(path):
        groups[name] = tuple(map(bangla.normalise, suffixes))
        if spaced := [suffix.strip() for suffix in suffixes if suffix != suffix.strip()]:
            warnings.append(f"{path.name}: group '{name}': white space beside {_some(spaced)}: taken off")
        if not suffixes:
            warnings.append(f"{path.name}: group '{name}' is empty: its words stand only as they are")
    return groups


def _words(path: Path, bangla: Language, groups: Mapping[str, tuple[str, ...]], warnings: list[str]) -> dict[str, Word]:
    entries = _entries(path)
    composed, decomposed = (sum(bool(way.search(word)) for word, _ in entries) for way in (_COMPOSED, _DECOMPOSED))
    if composed and decomposed:
        odd = f"য়, ড় and ঢ় are one character in {composed} words and two in {decomposed}"
        warnings.append(f"{path.name}: {odd}: made one form")
    known = set(map(frozenset, groups.values()))
    words: dict[str, Word] = {}
    forms: dict[str, list[str]] = defaultdict(list)
    own, impossible = 0, list[str]()
    for written, suffixes_of_word in entries:
        text, suffixes = bangla.normalise(written), [bangla.normalise(suffix) for suffix in suffixes_of_word]
        if text in words:
            warnings.append(f"{path.name}: '{text}' appears twice: the first is kept")
            continue
        own += frozenset(suffixes) not in known
        inflected = [bangla.normalise(text + suffix) for suffix in suffixes]
        impossible += [form for form in inflected if _CANNOT_BE_WRITTEN.search(form)]
        possible = [form for form in dict.fromkeys(inflected) if not _CANNOT_BE_WRITTEN.search(form)]
        words[text] = Word(text, "noun", properties={"forms": ", ".join(possible)} if possible else {})
        for form in (text, *possible):
            forms[form].append(text)
    if own:
        odd = f"{own} of {len(words)} words have suffixes that are no group of {_SUFFIXES}"
        warnings.append(f"{path.name}: {odd}: theirs are taken")
    if impossible:
        warnings.append(f"{path.name}: a vowel sign after a vowel cannot be written, left out: {_some(impossible)}")
    if shared := [f"{form} ({', '.join(roots)})" for form, roots in forms.items() if len(roots) > 1]:
        warnings.append(f"{path.name}: one form of two words, kept for both: {_some(shared)}")
    return words


def _lists(folder: Path, bangla: Language, warnings: list[str]) -> list[list[tuple[str, tuple[str, ...]]]]:
    """The four lists of each test: what it calls them, and their words, each once."""
    lists, labels = [], set[str]()
    for number in range(1, _TESTS + 1):
        path = folder / f"ceat{number}.jsonl"
        test = load_seat_file(path)
        own = []
        for each in (test.targets_1, test.targets_2, test.attributes_1, test.attributes_2):
            texts = [bangla.normalise(sentence.text) for sentence in each.sentences]
            once = tuple(dict.fromkeys(texts))
            twice = [text for text in once if texts.count(text) > 1]
            if twice and each.label not in labels:
                labels.add(each.label)
                warnings.append(f"{path.name}: {each.label} holds {_some(twice)} twice: kept once")
            own.append((each.label, once))
        lists.append(own)
    return lists


def _named(lists: Iterable[Iterable[tuple[str, tuple[str, ...]]]], warnings: list[str]) -> dict[str, tuple[str, ...]]:
    """The lists by name: one that differs between tests is named after the first test that has it, e.g. arts_6."""
    versions: dict[str, dict[tuple[str, ...], list[int]]] = defaultdict(lambda: defaultdict(list))
    for number, own in enumerate(lists, 1):
        for label, texts in own:
            versions[re.sub("(?<=[a-z])(?=[A-Z])", "_", label).lower()][texts].append(number)
    named = {}
    for name, own_versions in versions.items():
        for texts, numbers in own_versions.items():
            named[name if len(own_versions) == 1 else f"{name}_{numbers[0]}"] = texts
        if len(own_versions) > 1:
            lengths = ", ".join(f"{len(texts)} words in C{numbers[0]}" for texts, numbers in own_versions.items())
            warnings.append(f"CEAT_Categories: '{name}' is not the same list everywhere ({lengths}): a group for each")
    return named


def _group(name: str, texts: Iterable[str], words: Mapping[str, Word]) -> Group:
    if missing := [text for text in texts if text not in words]:
        raise BadInput(f"{_WORDS}: no suffixes for {_some(missing)} of '{name}': add them, or an empty list")
    source = catalogue()[_NAME]
    own = tuple(words[text] for text in texts)
    label = re.sub(r"_\d+$", "", name).replace("_", " ")  # arts_6 and arts_8 are lists of arts
    return Group(f"{_NAME}.{name}", label, own, "bn", source.licence, source.citation)


def _entries(path: Path) -> list[tuple[str, list[str]]]:
    entries: Any = read_json(path, pairs=list)
    if not isinstance(entries, list) or not entries or not all(isinstance(entry, tuple) for entry in entries):
        raise BadInput(f"{path.name}: should be {{'word': [suffixes], ...}}")
    for name, suffixes in entries:
        if not isinstance(suffixes, list) or not all(isinstance(suffix, str) for suffix in suffixes):
            raise BadInput(f"{path.name}: '{name}' should have a list of suffixes")
    return entries


def _some(texts: Sequence[str]) -> str:
    """
    >>> _some("abcdefg")
    'a, b, c, d, e and 2 more'
    """
    named = ", ".join(texts[:_MOST_NAMED])
    return f"{named} and {len(texts) - _MOST_NAMED} more" if len(texts) > _MOST_NAMED else named


#: The study's terms: boy and girl, man and woman, young man and young woman, lad and lass.
TERMS = tuple(
    (normalise(male), normalise(female))
    for male, female in (("ছেলে", "মেয়ে"), ("পুরুষ", "নারী"), ("যুবক", "যুবতী"), ("বালক", "বালিকা"))
)
#: The two words are filled in last, when the sentence is tidy, so that no other occurrence is taken for them.
_TERM_FIRST = "{{target}}{ending} {context} {{trait}}{after}"
_TRAIT_FIRST = "{{trait}}{after} {{target}}{ending} {context}"
_CONTEXT_FIRST = "{context} {{trait}}{after} {{target}}{ending}"
_ORDERS = {"S1": _TERM_FIRST, "S2": _TERM_FIRST, "S3": _TRAIT_FIRST, "S4": _CONTEXT_FIRST, "S5": _CONTEXT_FIRST}
#: Endings of the term: plural (nominative, oblique) and objective singular, with an emphatic particle or without.
_ENDING = re.compile(r"(?:রা|দের|কে)[ইও]?(?![\u0980-\u09ff])")
_BEFORE_PUNCTUATION = re.compile(r" +(?=[।,!?])")


def load_bangla_traits(folder: str | Path) -> SentenceSet:
    """Read ``positive_traits_bn.csv`` and ``negative_traits_bn.csv``.

    An ending is joined to its word without a space. A structure that is blank for a trait is left out, and a cell that
    holds a word where an ending should be is set apart from the term; notes name the rows.
    """
    sentences, notes, left_out = list[Sentence](), list[str](), Counter[str]()
    traits: dict[str, set[str]] = {}
    for group in ("positive", "negative"):
        table = read_table(Path(folder) / f"{group}_traits_bn.csv")
        table.need("Trait")
        traits[group] = {normalise(row["Trait"]) for row in table.rows}
        for structure in _ORDERS:
            keys = tuple(f"{structure}_{part}" for part in ("Mask_Suffix", "Placeholder", "Trait_Suffix"))
            rows = table.need(*keys, filled=False)
            used = [row for row in rows if row[keys[0]].strip() or row[keys[1]].strip()]
            if blank := {row.number for row in rows} - {row.number for row in used}:
                left_out[f"{structure} is blank"] += len(blank)
                notes.append(f"{table.name}: {structure} is blank in {rows_named(blank)}: left out")
            # A cell that begins with a word, which the published join would glue to the term.
            spelled = [row for row in used if row[keys[0]][:1].isalpha()]
            if apart := [row.number for row in spelled if not _ENDING.match(normalise(row[keys[0]]))]:
                notes.append(f"{table.name}: {keys[0]} is a word, not an ending, in {rows_named(apart)}: set apart")
            sentences += [_sentence(row, structure, keys, group) for row in used]
    if shared := sorted(traits["positive"] & traits["negative"]):
        notes.append(f"both positive and negative, kept in both: {', '.join(shared)}")
    return SentenceSet(
        "bangla_traits", tuple(sentences), groups=("men", "women"), language="bn", left_out=dict(left_out),
        notes=tuple(notes),
    )  # fmt: skip


def _sentence(row: TableRow, structure: str, keys: tuple[str, ...], group: str) -> Sentence:
    trait = normalise(row["Trait"])
    ending, context, after = (normalise(row[key]) for key in keys)
    # Written "-তা" where it is an ending of the trait, without the hyphen where it is a word.
    after = after[1:] if after.startswith("-") else f" {after}"
    ending = ending if _ENDING.match(ending) else f" {ending}"
    frame = normalise(_ORDERS[structure].format(ending=ending, context=context, after=after))
    return fill_trait(_BEFORE_PUNCTUATION.sub("", frame), trait, TERMS, group=group, structure=structure)
