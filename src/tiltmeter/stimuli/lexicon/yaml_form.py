"""The YAML form of a lexicon: shape checked by pydantic, content checked here, every complaint one line."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from collections.abc import Mapping, Sequence
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from pydantic import BaseModel, StrictStr, field_validator

from tiltmeter.errors import BadInput, did_you_mean, unknown
from tiltmeter.files import check, read_yaml
from tiltmeter.stimuli.lexicon.lexicon import KINDS, Group, Lexicon, Pairs, TemplateSet, Word
from tiltmeter.stimuli.text import comparable, normalise, repeated

_NAME = re.compile(r"[a-z0-9_]+")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*")


# Other keys are properties; the group says which there may be, so a typing error is still found.
class _WordEntry(BaseModel, extra="allow"):
    word: StrictStr
    kind: StrictStr | None = None
    phrase: StrictStr | None = None
    family: StrictStr | None = None


class _GroupPart(BaseModel, extra="forbid"):
    label: StrictStr = ""
    licence: StrictStr | None = None
    citation: StrictStr | None = None
    notes: StrictStr | None = None


class _SocialEntry(_GroupPart):
    dimension: StrictStr | None = None


class _GroupEntry(_SocialEntry):
    kind: StrictStr | None = None
    partners: StrictStr = ""
    # What a word may carry, with what it carries where it says nothing itself.
    properties: dict[StrictStr, StrictStr | float | None] = {}
    words: list[_WordEntry]

    @field_validator("properties", mode="before")
    @classmethod
    def _bare_properties(cls, properties: Any) -> Any:
        bare = isinstance(properties, list) and all(isinstance(name, str) for name in properties)
        return dict.fromkeys(properties) if bare else properties

    @field_validator("words", mode="before")
    @classmethod
    def _bare_words(cls, words: Any) -> Any:
        if not isinstance(words, list):
            return words
        return [word if isinstance(word, dict) else {"word": word} for word in words]


class _PairsEntry(_SocialEntry):
    label_1: StrictStr
    label_2: StrictStr
    pairs: list[tuple[StrictStr, StrictStr]]


class _TemplatesEntry(_GroupPart):
    templates: list[dict[StrictStr, StrictStr]]


class _LexiconFile(BaseModel, extra="forbid"):
    name: StrictStr
    language: StrictStr
    licence: StrictStr = ""
    citation: StrictStr = ""
    notes: StrictStr = ""
    dimension: StrictStr = ""
    groups: dict[StrictStr, _GroupEntry] = {}
    pairs: dict[StrictStr, _PairsEntry] = {}
    templates: dict[StrictStr, _TemplatesEntry] = {}


def read_lexicon(path: Path | Traversable) -> Lexicon:
    """Read and check one lexicon file."""
    return _Reader(path.name, read_yaml(path)).lexicon()


def read_group(words: Sequence[str] | Mapping[str, Any]) -> Group:
    """A group that is given with its words: a list of them, or what stands below the name of a group in a file."""
    entry: dict[str, Any] = dict(words) if isinstance(words, Mapping) else {"words": list(words)}
    entry.setdefault("label", _shortened(entry.get("words")))
    reader = _inline("groups", entry)
    checked = reader.file.groups["inline"]
    group = reader.group("inline", checked)
    # It has no lexicon in which its partners could be looked up: whatever it is compared with may be them.
    return dataclasses.replace(group, name=group.label, partners=normalise(checked.partners))


def read_pairs(words: Sequence[Sequence[str]] | Mapping[str, Any]) -> Pairs:
    """Pairs that are given with their words: a list of them, or what stands below the name of pairs in a file."""
    entry: dict[str, Any] = dict(words) if isinstance(words, Mapping) else {"pairs": list(words)}
    rows: Any = entry.get("pairs")
    pairs = [row for row in rows if isinstance(row, list | tuple) and len(row) == 2] if isinstance(rows, list) else []
    for i in (0, 1):
        entry.setdefault(f"label_{i + 1}", _shortened([pair[i] for pair in pairs]))
    entry.setdefault("label", f"{entry.get('label_1')} / {entry.get('label_2')}")
    some_pairs = _inline("pairs", entry).lexicon().pairs["inline"]
    return dataclasses.replace(some_pairs, name=some_pairs.label)


def _inline(what: str, entry: Mapping[str, Any]) -> _Reader:
    return _Reader("words given inline", {"name": "inline", "language": "en", what: {"inline": entry}})


def _shortened(words: Any) -> str:
    """A label for words that have none."""
    entries = words if isinstance(words, list) else []
    texts = [str(word.get("word") if isinstance(word, dict) else word) for word in entries]
    return ", ".join(texts) if len(texts) <= 3 else f"{', '.join(texts[:3])} and {len(texts) - 3} more"


class _Reader:
    """Turns the checked shape into typed values, checking what the values say."""

    def __init__(self, source: str, raw: Any) -> None:
        self.source, self.file = source, check(source, raw, _LexiconFile)

    def lexicon(self) -> Lexicon:
        file = self.file
        self._check_name("lexicon", file.name)
        if not _LANGUAGE.fullmatch(file.language):
            raise self._bad(f"language: '{file.language}' is not a BCP 47 tag: write e.g. en, pt-BR, zh-Hant")
        groups = {name: self.group(name, entry) for name, entry in file.groups.items()}
        self._check_partners(groups)
        texts = {key: normalise(getattr(file, key)) for key in ("licence", "citation", "notes")}
        return Lexicon(
            name=file.name,
            language=file.language,
            **texts,
            groups=groups,
            pairs={name: self._pairs(name, entry) for name, entry in file.pairs.items()},
            templates={name: self._templates(name, entry) for name, entry in file.templates.items()},
            warnings=self._overlaps(groups),
        )

    def group(self, name: str, entry: _GroupEntry) -> Group:
        self._check_name("group", name)
        if not entry.words:
            raise self._bad(f"group '{name}': no words in it: add some or remove the group")
        words = tuple(self._word(name, entry, word) for word in entry.words)
        self._check_repeats(f"group '{name}'", [word.text for word in words])
        partners = f"{self.file.name}.{entry.partners}" if entry.partners else ""
        return Group(words=words, partners=partners, **self._header(name, entry))

    def _word(self, group: str, entry: _GroupEntry, word: _WordEntry) -> Word:
        text, place = normalise(word.word), f"group '{group}': '{word.word}'"
        if not text:
            raise self._bad(f"group '{group}': an empty word: remove it")
        kind = word.kind or entry.kind
        if kind is not None and kind not in KINDS:
            raise self._bad(f"{place}: {unknown('kind', kind, KINDS)}")
        said = {"phrase": word.phrase, "family": word.family}
        texts = {key: normalise(value) for key, value in said.items() if value is not None}
        for key, value in texts.items():
            if not value:
                raise self._bad(f"{place}: an empty {key}: remove it or fill it in")
        properties = self._properties(place, entry.properties, word.model_extra or {})
        return Word(text, kind, properties=properties, **texts)

    def _properties(
        self, place: str, declared: Mapping[str, float | str | None], entry: Mapping[str, Any]
    ) -> dict[str, float | str]:
        properties: dict[str, float | str] = {}
        usual = {key: value for key, value in declared.items() if value is not None and key not in entry}
        for key, value in {**usual, **entry}.items():
            if key not in declared:
                hint = did_you_mean(key, ["word", "kind", "phrase", "family", *declared])
                raise self._bad(f"{place}: unknown key '{key}': {hint}, or list it in the group's properties")
            if isinstance(value, str):
                properties[key] = normalise(value)
            elif isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
                properties[key] = float(value)
            else:
                raise self._bad(f"{place}: {key}: {value!r} is neither a number nor text")
        return properties

    def _pairs(self, name: str, entry: _PairsEntry) -> Pairs:
        self._check_name("pairs", name)
        if not entry.pairs:
            raise self._bad(f"pairs '{name}': no pairs: add some or remove it")
        pairs = tuple((normalise(first), normalise(second)) for first, second in entry.pairs)
        for first, second in pairs:
            if not first or not second or comparable(first) == comparable(second):
                raise self._bad(f"pairs '{name}': ['{first}', '{second}'] needs two different words")
        self._check_repeats(f"pairs '{name}'", [f"{first} / {second}" for first, second in pairs])
        labels = {"label_1": normalise(entry.label_1), "label_2": normalise(entry.label_2)}
        return Pairs(pairs=pairs, **labels, **self._header(name, entry))

    def _templates(self, name: str, entry: _TemplatesEntry) -> TemplateSet:
        self._check_name("templates", name)
        if not entry.templates:
            raise self._bad(f"templates '{name}': no template: add some or remove it")
        for number, template in enumerate(entry.templates, 1):
            place = f"templates '{name}': template {number}"
            if not template:
                raise self._bad(f"{place}: no frame in it")
            for role, frame in template.items():
                if role not in KINDS:
                    raise self._bad(f"{place}: {unknown('role', role, KINDS)}")
                if frame.count("{}") != 1:
                    raise self._bad(f"{place}: {role}: '{frame}' needs one {{}} where the word goes")
        frames = tuple({role: normalise(frame) for role, frame in each.items()} for each in entry.templates)
        for role in KINDS:
            self._check_repeats(f"templates '{name}': {role}", [each[role] for each in frames if role in each])
        return TemplateSet(templates=frames, **self._header(name, entry))

    def _header(self, name: str, entry: _GroupPart) -> dict[str, Any]:
        inherited = {"licence": self.file.licence, "citation": self.file.citation, "notes": ""}
        said = entry.model_dump(include=set(inherited), exclude_none=True)
        texts = {key: normalise(text) for key, text in {**inherited, **said}.items()}
        if isinstance(entry, _SocialEntry):
            texts["dimension"] = self.file.dimension if entry.dimension is None else entry.dimension
        label = normalise(entry.label) or name.replace("_", " ")
        return {"name": f"{self.file.name}.{name}", "label": label, "language": self.file.language, **texts}

    def _check_name(self, what: str, name: str) -> None:
        if not _NAME.fullmatch(name):
            raise self._bad(f"{what} '{name}': a name is made of a-z, 0-9 and _ only")

    def _check_partners(self, groups: Mapping[str, Group]) -> None:
        for name, entry in self.file.groups.items():
            place, partners = f"group '{name}': partners", entry.partners
            if not partners:
                continue
            if partners == name:
                raise self._bad(f"{place}: a group cannot be its own: name another group of this file")
            if partners not in groups:
                raise self._bad(f"{place}: {unknown('group', partners, groups)}")
            n, m = len(groups[name].words), len(groups[partners].words)
            if n != m:
                raise self._bad(f"{place}: '{partners}' has {m} words and '{name}' has {n}: they match one to one")

    def _check_repeats(self, place: str, texts: list[str]) -> None:
        for text in repeated(texts):
            raise self._bad(f"{place}: '{text}' appears twice: remove one")

    def _overlaps(self, groups: Mapping[str, Group]) -> tuple[str, ...]:
        keys = {name: {comparable(text): text for text in group.texts} for name, group in groups.items()}
        warnings = []
        for one, other in itertools.combinations(groups, 2):
            if shared := [f"'{text}'" for key, text in keys[one].items() if key in keys[other]]:
                more = f" and {len(shared) - 5} more" if len(shared) > 5 else ""
                warnings.append(f"{self.source}: groups '{one}' and '{other}' share {', '.join(shared[:5])}{more}")
        return tuple(warnings)

    def _bad(self, message: str) -> BadInput:
        return BadInput(f"{self.source}: {message}")
