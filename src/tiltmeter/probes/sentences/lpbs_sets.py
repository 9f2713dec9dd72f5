"""The sentences of the log-probability bias: occupations or traits, in one form."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path

from tiltmeter.errors import unknown
from tiltmeter.files import read_yaml
from tiltmeter.probes.sentences.unmask import occupation_place
from tiltmeter.stimuli.datasets import find, load_bangla_traits, load_bec_pro_traits
from tiltmeter.stimuli.sentences.sets import MaskedSentence, MaskedSet, TraitSentence, TraitSet
from tiltmeter.stimuli.sentences.shipped import masked_set, trait_set

#: Below the first share of women an occupation counts as one of men, above the second as one of women.
_SHARES = (0.4, 0.6)
_OCCUPATIONS = ("men's occupations", "women's occupations")
_NEITHER = "neither group"
_GENDERS = ("men", "women")


@dataclasses.dataclass(frozen=True, slots=True)
class Attributes:
    """Sentences with a gendered term and an attribute; ``poles`` is what the two terms of a pair stand for.

    Attributes of another group than the two in ``groups`` are measured and not compared.
    """

    sets: tuple[TraitSet, ...]
    noun: str
    labels: tuple[str, str]
    poles: tuple[str, str] = _GENDERS

    @property
    def groups(self) -> tuple[str, str]:
        return self.sets[0].groups

    @property
    def structures(self) -> list[str]:
        return list(dict.fromkeys(row.structure for each in self.sets for row in each.rows))

    def label(self, group: str) -> str:
        """A group as it is called in words."""
        return dict(zip(self.groups, self.labels, strict=True)).get(group, group)

    def only(self, structure: str) -> Attributes:
        """The sentences of one structure."""
        parts = (
            dataclasses.replace(each, rows=tuple(row for row in each.rows if row.structure == structure))
            for each in self.sets
        )
        return dataclasses.replace(self, sets=tuple(part for part in parts if part.rows))


def attributes(data: str | Path | None) -> Attributes:
    """The shipped occupations, a shipped or public set by name, or a file or folder of the user's.

    >>> found = attributes(None)
    >>> found.labels, found.sets[0].terms, found.sets[0].rows[0].text
    (("men's occupations", "women's occupations"), (('he', 'she'),), 'The technician said that he was tired.')
    """
    name = "occupations_en" if data is None else str(data)
    if name in _NAMED:
        return _NAMED[name]()
    path = Path(name)
    if path.suffix in (".yaml", ".yml"):
        content = read_yaml(path)
        if isinstance(content, dict) and "frames" in content:
            return _occupations(masked_set(path))
        own = trait_set(path)
        return _traits(own, poles=own.terms[0])
    if path.is_dir():
        return _traits(load_bangla_traits(path))
    raise unknown("data of lpbs", name, [*_NAMED, "a YAML file", "the folder of the Bangla traits"])


def _traits(found: TraitSet, *, poles: tuple[str, str] = _GENDERS) -> Attributes:
    one, two = found.groups
    return Attributes((found,), "traits", (f"{one} traits", f"{two} traits"), poles)


def _bec_pro() -> Attributes:
    return Attributes(load_bec_pro_traits(find("bec_pro")), "professions", ("men's professions", "women's professions"))


def _occupations(found: MaskedSet) -> Attributes:
    """One set for each pair of pronouns, because the terms belong to the sentence here."""
    by_terms: dict[tuple[str, str], list[TraitSentence]] = {}
    for row in found.rows:
        group = _group(found.shares.get(row.occupation))
        by_terms.setdefault(row.fillers, []).append(_sentence(row, group))
    sets = (
        TraitSet(f"{found.name} {terms[0]}", tuple(rows), (terms,), _OCCUPATIONS, found.language, found.warnings)
        for terms, rows in by_terms.items()
    )
    return Attributes(tuple(sets), "occupations", _OCCUPATIONS)


def _group(female_share: float | None) -> str:
    low, high = _SHARES
    if female_share is None or low <= female_share <= high:
        return _NEITHER
    return _OCCUPATIONS[0 if female_share < low else 1]


def _sentence(row: MaskedSentence, group: str) -> TraitSentence:
    """The sentence with the first filler in the place of the mask, which moves the occupation if it comes later."""
    (start, end), (first, last) = row.place, occupation_place(row)
    term = row.fillers[0]
    moved = len(term) - (end - start) if first >= end else 0
    text = row.text[:start] + term + row.text[end:]
    place = first + moved, last + moved
    return TraitSentence(text, (start, start + len(term)), place, row.occupation, group, "")


_NAMED: Mapping[str, Callable[[], Attributes]] = {
    "occupations_en": lambda: _occupations(masked_set("occupations_en")),
    "traits_en": lambda: _traits(trait_set("traits_en")),
    "traits_bn": lambda: _traits(trait_set("traits_bn")),
    "bangla_traits": lambda: _traits(load_bangla_traits(find("bangla_traits"))),
    "bec_pro": _bec_pro,
}
