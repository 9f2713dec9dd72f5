"""The sentences of the log-probability bias: occupations or traits, in one form."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path

from tiltmeter.errors import unknown
from tiltmeter.files import read_yaml
from tiltmeter.stimuli.datasets import find, load_bangla_traits, load_bec_pro
from tiltmeter.stimuli.sentences.sentence import Sentence, SentenceSet
from tiltmeter.stimuli.sentences.shipped import occupation_set, trait_set

_NEITHER = "neither group"


@dataclasses.dataclass(frozen=True, slots=True)
class Attributes:
    """Sentences with a gendered term in the slot ``target`` and what is said of its bearer in ``attribute``.

    The tag ``group`` names the attribute's group. Attributes of another group than the two in ``labels`` are measured
    and not compared.
    """

    sentences: SentenceSet
    target: str
    attribute: str
    noun: str
    labels: tuple[str, str]

    @property
    def poles(self) -> tuple[str, str]:
        """What the two terms of a pair stand for."""
        first, second = self.sentences.groups
        return first, second

    @property
    def structures(self) -> list[str]:
        return list(dict.fromkeys(row.tags.get("structure", "") for row in self.sentences.sentences))

    def only(self, structure: str) -> Attributes:
        """The sentences of one structure."""
        return dataclasses.replace(self, sentences=self.sentences.where(structure=structure))


def load_attributes(data: str | Path | None) -> Attributes:
    """The shipped occupations, a shipped or public set by name, or a file or folder of the user's.

    >>> attributes = load_attributes(None)
    >>> attributes.labels, attributes.sentences.sentences[0].text
    (("men's occupations", "women's occupations"), 'The technician said that he was tired.')
    """
    name = "occupations_en" if data is None else str(data)
    if name in _NAMED:
        return _NAMED[name]()
    path = Path(name)
    if path.suffix in (".yaml", ".yml"):
        content = read_yaml(path)
        occupations = isinstance(content, dict) and "frames" in content
        return _occupations(occupation_set(path)) if occupations else _traits(trait_set(path))
    if path.is_dir():
        return _traits(load_bangla_traits(path))
    raise unknown("data of lpbs", name, [*_NAMED, "a YAML file", "the folder of the Bangla traits"])


def _traits(source: SentenceSet) -> Attributes:
    tagged = tuple(row.tagged(group=f"{row.tags['group']} traits") for row in source.sentences)
    first, second = dict.fromkeys(row.tags["group"] for row in tagged)
    return Attributes(dataclasses.replace(source, sentences=tagged), "target", "trait", "traits", (first, second))


def _occupations(source: SentenceSet, noun: str = "occupations") -> Attributes:
    labels = {group: f"{group}'s {noun}" for group in source.groups}
    tagged = tuple(row.tagged(group=labels.get(row.tags.get("expected", ""), _NEITHER)) for row in source.sentences)
    first, second = labels.values()
    return Attributes(dataclasses.replace(source, sentences=tagged), "pronoun", "occupation", noun, (first, second))


def _bec_pro() -> Attributes:
    """A sentence for each frame (He, This man, My brother), template and profession, with all persons of the frame.

    Balanced professions belong to neither group and are left out.
    """
    source = load_bec_pro(find("bec_pro"))
    frames: dict[str, list[Sentence]] = {}
    for row in source.sentences:
        frames.setdefault(row.around("pronoun")[0], []).append(row)
    sentences = []
    for rows in frames.values():
        persons = tuple(dict.fromkeys(form for row in rows for form in row.forms["pronoun"]))
        sentences += [
            dataclasses.replace(row, forms={"pronoun": persons}).tagged(structure=row.tags["kind"])
            for row in rows
            if "expected" in row.tags and row.word("pronoun") == persons[0]
        ]
    balanced = {row.unit for row in source.sentences if "expected" not in row.tags}
    note = f"{len(balanced)} balanced professions belong to neither group: left out"
    notes = (note,) if balanced else ()
    return _occupations(dataclasses.replace(source, sentences=tuple(sentences), notes=notes), "professions")


_NAMED: Mapping[str, Callable[[], Attributes]] = {
    "occupations_en": lambda: _occupations(occupation_set("occupations_en")),
    "traits_en": lambda: _traits(trait_set("traits_en")),
    "traits_bn": lambda: _traits(trait_set("traits_bn")),
    "bangla_traits": lambda: _traits(load_bangla_traits(find("bangla_traits"))),
    "bec_pro": _bec_pro,
}
