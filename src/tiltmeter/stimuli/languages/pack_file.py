"""The YAML form of a language pack: shape checked by pydantic, content checked here, every complaint one line."""

from __future__ import annotations

import contextlib
import graphlib
import re
import unicodedata
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, StrictInt, StrictStr, field_validator

from tiltmeter.errors import BadInput, unknown
from tiltmeter.files import check, read_yaml
from tiltmeter.stimuli.languages.language import CODE, GENERAL_ENDS, Ending, GrammarRule, Language, Swap


class _Replacement(BaseModel, extra="forbid"):
    replace: StrictStr = Field(min_length=1)
    by: StrictStr = Field(alias="with")


class _EndingEntry(BaseModel, extra="forbid"):
    add: list[StrictStr] = Field(default=[""], min_length=1)
    after: StrictStr | None = None
    cut: StrictInt = Field(default=0, ge=0)
    then: StrictStr | None = None


class _SwapEntry(BaseModel, extra="forbid"):
    by: StrictStr = Field(min_length=1)
    before: StrictStr | None = None
    after: StrictStr | None = None


class _GrammarEntry(BaseModel, extra="forbid"):
    wrong: StrictStr = Field(min_length=1)
    says: StrictStr = Field(min_length=1)


class _PackFile(BaseModel, extra="forbid"):
    code: StrictStr
    name: StrictStr = Field(min_length=1)
    script: StrictStr
    segmenter: Literal["spaces", "mecab"] = "spaces"
    unicode: Literal["NFC", "NFKC"] = "NFC"
    sentence_ends: StrictStr = Field(default=GENERAL_ENDS, min_length=1)
    abbreviations: list[StrictStr] = []
    lower: dict[StrictStr, StrictStr] = {}
    normalise: list[_Replacement] = []
    suffixes: dict[StrictStr, list[_EndingEntry]] = {}
    swaps: dict[StrictStr, list[_SwapEntry]] = {}
    grammar: list[_GrammarEntry] = []
    gendered: list[StrictStr] = []

    @field_validator("suffixes", mode="before")
    @classmethod
    def _bare_suffixes(cls, groups: Any) -> Any:
        """A group may be written as a plain list of suffixes, also with longer entries between them."""
        if not isinstance(groups, dict):
            return groups
        return {name: [{"add": [suffix]} if isinstance(suffix, str) else suffix for suffix in group]
                if isinstance(group, list) else group for name, group in groups.items()}  # fmt: skip


def read_pack(path: Path | Traversable) -> Language:
    """Read and check one language pack."""
    file = check(path.name, read_yaml(path), _PackFile)
    try:
        return _language(file)
    except ValueError as error:
        raise BadInput(f"{path.name}: {error}") from None


def _language(file: _PackFile) -> Language:
    if not CODE.fullmatch(file.code):
        raise ValueError(f"code: '{file.code}' is not a BCP 47 tag: write e.g. tr or pt-BR")
    for capital, small in file.lower.items():
        if len(capital) != 1 or len(small) != 1:
            raise ValueError(f"lower: '{capital}: {small}' should be one character for one")
    suffixes = {name: tuple(_ending(name, entry) for entry in group) for name, group in file.suffixes.items()}
    _check_chains(suffixes)
    return Language(
        code=file.code, name=file.name, script=_script(file.script), spaced=file.segmenter == "spaces",
        unicode=file.unicode, sentence_ends=file.sentence_ends, abbreviations=frozenset(file.abbreviations),
        replacements=tuple(map(_replacement, file.normalise)),
        lower={ord(capital): small for capital, small in file.lower.items()}, suffixes=suffixes,
        swaps={word: tuple(_swap(word, entry) for entry in entries) for word, entries in file.swaps.items()},
        grammar=tuple(GrammarRule(_pattern("grammar", entry.wrong), entry.says) for entry in file.grammar),
        gendered=frozenset(file.gendered),
    )  # fmt: skip


def _script(script: str) -> str:
    name = script.upper()
    if name == "CJK":
        return name
    for kind in ("LETTER", "SMALL LETTER", "SYLLABLE"):
        with contextlib.suppress(KeyError):
            unicodedata.lookup(f"{name} {kind} A")
            return name
    raise ValueError(f"script: '{script}' is not the name of a Unicode script: write e.g. LATIN, BENGALI or CJK")


def _ending(group: str, entry: _EndingEntry) -> Ending:
    # In the Unicode form the words are in, or "য়" in a pack would never meet the end of one.
    add = tuple(unicodedata.normalize("NFC", suffix) for suffix in entry.add)
    after = None if entry.after is None else _pattern(f"suffixes: {group}", entry.after, at="(?:{})\\Z")
    return Ending(add, after, entry.cut, entry.then)


def _pattern(place: str, pattern: str, *, at: str = "{}") -> re.Pattern[str]:
    plain = unicodedata.normalize("NFC", pattern)
    try:
        re.compile(plain)  # on its own, so that the complaint is about what the file says
        return re.compile(at.replace("{}", plain))
    except re.error as error:
        raise ValueError(f"{place}: '{pattern}' is not a regular expression: {error}") from None


def _swap(word: str, entry: _SwapEntry) -> Swap:
    place = f"swaps: {word}"
    before = None if entry.before is None else _pattern(place, entry.before, at="(?i:{})\\Z")
    after = None if entry.after is None else _pattern(place, entry.after, at="(?i:{})")
    return Swap(entry.by, before, after)


def _replacement(entry: _Replacement) -> tuple[re.Pattern[str], str]:
    pattern = _pattern("normalise", entry.replace)
    try:
        pattern.sub(entry.by, "")
    except (re.error, IndexError) as error:
        raise ValueError(f"normalise: '{entry.by}' cannot be put in: {error}") from None
    return pattern, entry.by


def _check_chains(groups: dict[str, tuple[Ending, ...]]) -> None:
    for name, group in groups.items():
        for ending in group:
            if ending.then is not None and ending.then not in groups:
                raise ValueError(f"suffixes: {name}: then: {unknown('suffix group', ending.then, groups)}")
    following = {name: [ending.then for ending in group if ending.then is not None] for name, group in groups.items()}
    try:
        graphlib.TopologicalSorter(following).prepare()
    except graphlib.CycleError as error:
        circle = " -> ".join(reversed(error.args[1]))
        raise ValueError(f"suffixes: {circle} goes round in a circle: take one 'then' out") from None
