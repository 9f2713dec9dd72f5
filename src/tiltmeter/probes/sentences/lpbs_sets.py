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
        return list(dict.fromkeys(each.tags.get("structure", "") for each in self.sentences.sentences))

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
    tagged = tuple(each.tagged(group=f"{each.tags['group']} traits") for each in source.sentences)
    first, second = dict.fromkeys(each.tags["group"] for each in tagged)
    return Attributes(dataclasses.replace(source, sentences=tagged), "target", "trait", "traits", (first, second))


def _occupations(source: SentenceSet, noun: str = "occupations") -> Attributes:
    labels = {group: f"{group}'s {noun}" for group in source.groups}
    tagged = tuple(each.tagged(group=labels.get(each.tags.get("expected", ""), _NEITHER)) for each in source.sentences)
    first, second = labels.values()
    return Attributes(dataclasses.replace(source, sentences=tagged), "pronoun", "occupation", noun, (first, second))


def _bec_pro() -> Attributes:
    """A sentence for each frame (He, This man, My brother), template and profession, with all persons of the frame.

    Balanced professions belong to neither group and are left out.
    """
    source = load_bec_pro(find("bec_pro"))
    frames: dict[str, dict[str, None]] = {}
    for each in source.sentences:
        persons = frames.setdefault(each.around("pronoun")[0], {})
        persons.update(dict.fromkeys(each.forms["pronoun"]))
    chosen: dict[str, list[Sentence]] = {frame: [] for frame in frames}
    balanced = set()
    for each in source.sentences:
        frame = each.around("pronoun")[0]
        forms = tuple(frames[frame])
        if "expected" not in each.tags:
            balanced.add(each.unit)
        elif each.word("pronoun") == forms[0]:
            sentence = dataclasses.replace(each, forms={"pronoun": forms}).tagged(structure=each.tags["kind"])
            chosen[frame].append(sentence)
    note = f"{len(balanced)} balanced professions belong to neither group: left out"
    sentences = tuple(sentence for some in chosen.values() for sentence in some)
    return _occupations(
        dataclasses.replace(source, sentences=sentences, notes=(note,) if balanced else ()), "professions"
    )


_NAMED: Mapping[str, Callable[[], Attributes]] = {
    "occupations_en": lambda: _occupations(occupation_set("occupations_en")),
    "traits_en": lambda: _traits(trait_set("traits_en")),
    "traits_bn": lambda: _traits(trait_set("traits_bn")),
    "bangla_traits": lambda: _traits(load_bangla_traits(find("bangla_traits"))),
    "bec_pro": _bec_pro,
}
