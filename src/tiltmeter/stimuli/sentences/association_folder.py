"""Word lists and templates in the layout of the published association study, made into sentences as it does.

A folder holds ``target_words_*.txt`` and ``attribute_words_*.txt``; ``templates.json`` lies in that folder, in its
``config``, or in the ``config`` beside or above it.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tiltmeter.errors import BadInput, unknown
from tiltmeter.files import read_json, read_text
from tiltmeter.stimuli.lexicon.lexicon import Group, check_disjoint
from tiltmeter.stimuli.sentences.sentence import SentenceSet, fill_frame
from tiltmeter.stimuli.text import comparable, normalise, repeated

_QUOTES = "\"'`“”‘’«»"


@dataclass(frozen=True, slots=True)
class AssociationFolder:
    """The lists of the folder, and the sentences that the published system makes of them, verbatim."""

    targets: Mapping[str, Group]
    attributes: Mapping[str, Group]
    templates: Mapping[str, tuple[str, ...]]
    target_sentences: Mapping[str, SentenceSet]
    attribute_sentences: Mapping[str, SentenceSet]
    warnings: tuple[str, ...]


def load_association_folder(path: str | Path) -> AssociationFolder:
    """Read a word-list folder of the published association study.

    Every target word goes into every template of all groups, every attribute word into the templates of its
    own group; the word replaces ``{}`` and nothing else changes, so the sentences are as ungrammatical as
    published ("A he is known for ..."). A word that a list repeats is reported and kept once, because counting it twice
    weighs it double and makes two units of one word; the tag ``times`` of its sentences says how often the published
    system counts them. Where the lists lie in a folder below, as the study has them, that one is taken.
    """
    folder, warnings = _deeper(Path(path)), list[str]()
    times: dict[str, Counter[str]] = {}
    targets = _word_lists(folder, "target_words_", warnings, times)
    attributes = _word_lists(folder, "attribute_words_", warnings, times)
    for (one, group_1), (other, group_2) in itertools.combinations(attributes.items(), 2):
        if shared := ", ".join(f"'{word}'" for word in check_disjoint(group_1, group_2)):
            warnings.append(f"attribute lists '{one}' and '{other}' share {shared}: kept in both")
    templates = _templates(folder, attributes, warnings)
    numbers = itertools.count()
    by_group = {name: [(next(numbers), frame) for frame in frames] for name, frames in templates.items()}
    every = [numbered for frames in by_group.values() for numbered in frames]
    return AssociationFolder(
        targets, attributes, templates,
        target_sentences={name: _verbatim(group, every, times[name]) for name, group in targets.items()},
        attribute_sentences={name: _verbatim(group, by_group[name], times[name]) for name, group in attributes.items()},
        warnings=tuple(warnings),
    )  # fmt: skip


def _deeper(folder: Path) -> Path:
    """The folder itself, or the one below it that holds the lists."""
    if not folder.is_dir():
        raise BadInput(f"no folder {folder}: give the one that holds target_words_*.txt")
    below = sorted({file.parent for file in folder.glob("**/target_words_*.txt")})
    if any(folder.glob("target_words_*.txt")) or not below:
        return folder
    if len(below) > 1:
        raise BadInput(f"{folder} holds several studies ({', '.join(one.name for one in below)}): name one of them")
    return below[0]


def _verbatim(group: Group, frames: Iterable[tuple[int, str]], times: Mapping[str, int]) -> SentenceSet:
    sentences = []
    for text, (number, frame) in itertools.product(group.texts, frames):
        place, tags = frame.replace("{}", "{word}"), {"template": str(number)}
        if times[comparable(text)] > 1:
            tags["times"] = str(times[comparable(text)])
        sentences.append(fill_frame(place, {"word": text}, unit=text, tags=tags, capital=False))
    return SentenceSet(group.name, tuple(sentences), group.label)


def _word_lists(folder: Path, prefix: str, warnings: list[str], times: dict[str, Counter[str]]) -> dict[str, Group]:
    files = sorted(folder.glob(f"{prefix}*.txt"))
    if not files:
        raise BadInput(f"no {prefix}*.txt in {folder}: give the folder that holds the word lists")
    groups = {}
    for file in files:
        name = file.stem.removeprefix(prefix)
        words = [normalise(word.strip().strip(_QUOTES)) for word in re.split(r"[,،，、\r\n]", read_text(file))]
        kept: dict[str, str] = {}
        for word in filter(None, words):
            kept.setdefault(comparable(word), word)
        if not kept:
            raise BadInput(f"{file.name}: no words in it")
        for word in repeated(filter(None, words)):
            warnings.append(f"{file.name}: '{word}' appears more than once: counted so in the published form alone")
        times[name] = Counter(map(comparable, filter(None, words)))
        groups[name] = Group.of(name, kept.values(), label=name.replace("_", " "))
    return groups


def _templates(folder: Path, attributes: Mapping[str, Group], warnings: list[str]) -> dict[str, tuple[str, ...]]:
    here = folder.resolve()
    places = (here, here / "config", here.parent / "config", here.parent.parent / "config")
    file = next((place / "templates.json" for place in places if (place / "templates.json").is_file()), None)
    if file is None:
        raise BadInput(f"no templates.json in {folder}, its config folder or the config folder beside or above it")
    groups = _domain(read_json(file), folder, file)
    templates = {name.removesuffix("_templates"): _frames(frames, file, name) for name, frames in groups.items()}
    for name in attributes:
        if name not in templates:
            raise BadInput(f"{file.name}: {unknown('template group', name, templates)}")
    for name in templates:
        if name not in attributes:
            warnings.append(f"{file.name}: '{name}' has templates but no attribute_words_{name}.txt: for targets only")
    twice = repeated(frame for frames in templates.values() for frame in frames)
    warnings += [f"{file.name}: '{frame}' appears more than once: kept as published" for frame in twice]
    return templates


def _domain(content: Any, folder: Path, file: Path) -> dict[str, Any]:
    """The templates of one kind of bias; among several, the one that the folder is named after."""
    domains = content if isinstance(content, dict) else {}
    fitting = [name for name in domains if len(domains) == 1 or folder.name.startswith(name)]
    if len(fitting) != 1 or not isinstance(domains[fitting[0]], dict):
        question = f"which templates belong to {folder.name}? found: {', '.join(domains) or 'none'}"
        raise BadInput(f"{file.name}: {question}; name the folder after one")
    chosen: dict[str, Any] = domains[fitting[0]]
    return chosen


def _frames(frames: Any, file: Path, name: str) -> tuple[str, ...]:
    if not isinstance(frames, list) or not frames:
        raise BadInput(f"{file.name}: '{name}' should be a list of templates")
    for frame in frames:
        if not isinstance(frame, str) or frame.count("{}") != 1:
            raise BadInput(f"{file.name}: {name}: {frame!r} needs one {{}} where the word goes")
    return tuple(normalise(frame) for frame in frames)
