"""The sentence tests of May et al. (2019) and the word tests beside them: one JSON file a test.

The files list sentences without saying which word each stands for. A test on sentences must permute words,
so the word is found again: with the word file of the same test (``weat6.jsonl`` beside ``sent-weat6.jsonl``),
or, without one, from the rectangle of words and templates that the list is made of.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeAlias

from tiltmeter.errors import BadInput
from tiltmeter.files import read_json
from tiltmeter.stimuli.sentences.sentence import Sentence, SentenceSet
from tiltmeter.stimuli.text import normalise

_LISTS = ("targ1", "targ2", "attr1", "attr2")
_TOKEN = re.compile(r"[^\s.,;:!?\"“”()]+")
_IRREGULAR = {"man": "men", "woman": "women", "child": "children", "person": "people", "foot": "feet", "tooth": "teeth"}

#: A sentence's unit and where it stands.
_Placed: TypeAlias = tuple[str, int, int]


@dataclass(frozen=True, slots=True)
class SeatTest:
    """The four lists of one test. Positive effects mean that targets 1 lean towards attributes 1."""

    name: str
    targets_1: SentenceSet
    targets_2: SentenceSet
    attributes_1: SentenceSet
    attributes_2: SentenceSet
    warnings: tuple[str, ...]


def load_seat_file(path: str | Path) -> SeatTest:
    """Read one test and find the word (the unit) of each of its sentences.

    Where that cannot be done, each sentence is its own unit and a warning says so.
    """
    file = Path(path)
    lists = _read(file)
    word_file = file.with_name(file.name.removeprefix("sent-"))
    words = _read(word_file) if word_file != file and word_file.is_file() else None
    warnings: list[str] = []
    frames: dict[str, int] = {}
    sets = {}
    for key, (label, texts) in lists.items():
        place = f"{file.name}: {key} ({label})"
        units = _units(texts, words[key][1] if words else None, place, warnings)
        sentences = []
        for text, (unit, start, end) in zip(texts, units, strict=True):
            template = frames.setdefault(f"{text[:start]}{{}}{text[end:]}".casefold(), len(frames))
            sentences.append(Sentence(text, {"word": (start, end)}, unit, tags={"template": str(template)}))
        sets[key] = SentenceSet(f"{file.stem}.{key}", tuple(sentences), label)
    return SeatTest(file.stem, sets["targ1"], sets["targ2"], sets["attr1"], sets["attr2"], tuple(warnings))


def _units(texts: Sequence[str], words: Sequence[str] | None, place: str, warnings: list[str]) -> list[_Placed]:
    whole = [(text, 0, len(text)) for text in texts]
    if not any(text.endswith((".", "!", "?")) for text in texts):
        return whole  # a word test: each entry is its own word
    units = [match for text in texts if (match := _match(text, words or ()))]
    if words and len(units) == len(texts):
        missing = [word for word in words if word not in {unit for unit, _, _ in units}]
        warnings += [f"{place}: no sentence for '{word}', which the word test has" for word in missing]
        return units
    if rectangle := _rectangle(texts):
        return rectangle
    warnings.append(f"{place}: cannot tell which words the sentences stand for: each is its own unit")
    return whole


def _match(text: str, words: Iterable[str]) -> _Placed | None:
    """The word that the sentence holds: the longest before a part of it, as it is before inflected."""
    tokens = [(match.group().casefold(), match.start(), match.end()) for match in _TOKEN.finditer(text)]
    ranked: list[tuple[tuple[int, int], _Placed]] = []
    for word in words:
        parts = word.casefold().split()
        for first in range(len(tokens) - len(parts) + 1):
            window = tokens[first : first + len(parts)]
            pairs = [(part, token) for part, (token, _, _) in zip(parts, window, strict=True)]
            inflected = sum(token != part for part, token in pairs)
            if inflected <= 1 and all(token in _forms(part) for part, token in pairs):
                ranked.append(((len(parts), -inflected), (word, window[0][1], window[-1][2])))
    return max(ranked, key=itemgetter(0))[1] if ranked else None


@functools.cache
def _forms(word: str) -> frozenset[str]:
    """The word, its plurals, and the singulars it may be the plural of (a word test may hold "children")."""
    plurals = {word + "s", word + "es", re.sub("y$", "ies", word), re.sub("fe?$", "ves", word)}
    singulars = {re.sub("s$", "", word), re.sub("es$", "", word), re.sub("ies$", "y", word)}
    irregular = {_IRREGULAR.get(word, word)} | {one for one, many in _IRREGULAR.items() if many == word}
    return frozenset({word} | plurals | singulars | irregular)


def _rectangle(texts: Sequence[str]) -> list[_Placed] | None:
    """Units of a list that runs through the same templates for each word in turn, words by templates."""
    for n_templates in range(1, len(texts) // 2 + 1):
        if len(texts) % n_templates:
            continue
        columns = [_fillers(texts[column::n_templates]) for column in range(n_templates)]
        rows = [[column[row] for column in columns if column] for row in range(len(texts) // n_templates)]
        units = [{filler.casefold() for filler, _, _ in row} for row in rows]
        if all(columns) and all(len(unit) == 1 for unit in units) and len(set(map(min, units))) == len(units):
            return [(row[0][0], start, end) for row in rows for _, start, end in row]
    return None


def _fillers(texts: Sequence[str]) -> list[_Placed] | None:
    """What differs between sentences of one template: all but the tokens they begin and end with alike."""
    tokens = [list(_TOKEN.finditer(text)) for text in texts]
    shortest = min(map(len, tokens))
    words = [[match.group().casefold() for match in line] for line in tokens]
    before = _alike(words, shortest - 1)
    after = _alike([line[::-1] for line in words], shortest - before - 1)
    if before + after == 0:
        return None
    inside = [line[before : len(line) - after] for line in tokens]
    spans = [(line[0].start(), line[-1].end()) for line in inside]
    return [(text[start:end], start, end) for text, (start, end) in zip(texts, spans, strict=True)]


def _alike(lines: Sequence[Sequence[str]], most: int) -> int:
    columns = itertools.islice(zip(*lines, strict=False), max(0, most))
    return sum(1 for _ in itertools.takewhile(lambda column: len(set(column)) == 1, columns))


def _read(file: Path) -> dict[str, tuple[str, tuple[str, ...]]]:
    content = read_json(file)
    return {key: _list(content, key, file.name) for key in _LISTS}


def _list(content: Any, key: str, name: str) -> tuple[str, tuple[str, ...]]:
    entry = content.get(key) if isinstance(content, dict) else None
    examples = entry.get("examples") if isinstance(entry, dict) else None
    if not isinstance(entry, dict) or not isinstance(examples, list) or not examples:
        raise BadInput(f"{name}: '{key}' should be {{'category': ..., 'examples': [texts]}}")
    texts = tuple(normalise(text) if isinstance(text, str) else "" for text in examples)
    if not all(texts):
        raise BadInput(f"{name}: '{key}' holds an example that is empty or no text")
    return str(entry.get("category", key)), texts
