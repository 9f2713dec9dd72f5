"""Words that say a group: by the name of a usual set, by addresses, or a lexicon of one's own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from tiltmeter.errors import BadInput
from tiltmeter.lab.glove.descent import Seeds
from tiltmeter.stimuli import Group
from tiltmeter.stimuli.languages import Language
from tiltmeter.stimuli.mining.mining_settings import find_groups

#: What ``--neutral`` takes by name.
USUAL: Mapping[str, tuple[str, ...]] = {
    "gender": ("gender.male_terms", "gender.female_terms"),
    "race": tuple(
        f"identity.{name}_terms" for name in ("white", "black", "asian", "hispanic", "middle_eastern", "indigenous")
    ),
}
SomeSeeds: TypeAlias = str | Sequence[str | Group]


@dataclass(frozen=True, slots=True)
class SeedGroup:
    """A group: its words that are in the vocabulary, and those that are not or are several words."""

    name: str
    words: tuple[str, ...]
    missing: tuple[str, ...]


def seed_groups(seeds: SomeSeeds) -> dict[str, Group]:
    """The groups that are to be confined, in their order.

    >>> list(seed_groups("gender"))
    ['gender.male_terms', 'gender.female_terms']
    """
    named = USUAL.get(seeds) or [part.strip() for part in seeds.split(",")] if isinstance(seeds, str) else seeds
    groups = find_groups(named)
    if len(groups) < 2:
        raise BadInput(f"--neutral {', '.join(groups)}: two groups or more can be told apart, not one: name another")
    return groups


def find_seeds(groups: Mapping[str, Group], vocabulary: Sequence[str], rules: Language) -> list[SeedGroup]:
    """The words of each group that the corpus has; a group without any is an error, and so is a word of two groups."""
    known, seen, groups_found = frozenset(vocabulary), dict[str, str](), []
    for name, group in groups.items():
        forms = [rules.fold(form) for word in group.words for form in rules.forms(word)]
        words = tuple(dict.fromkeys(form for form in forms if form in known))
        if not words:
            some = ", ".join(dict.fromkeys(forms[:5]))
            raise BadInput(
                f"no word of {name} ({some}, ...) occurs often enough in the corpus: give more text, other words with "
                "--neutral, or a lower --min-count"
            )
        for word in words:
            if word in seen:
                raise BadInput(f"'{word}' is in both {seen[word]} and {name}: it says neither: take it out of one")
            seen[word] = name
        groups_found.append(SeedGroup(name, words, tuple(dict.fromkeys(form for form in forms if form not in known))))
    return groups_found


def numbered_seeds(groups: Sequence[SeedGroup], vocabulary: Sequence[str], *, strength: float) -> Seeds:
    """The groups by the numbers of their words."""
    numbers = {word: number for number, word in enumerate(vocabulary)}
    return Seeds(tuple(np.array([numbers[word] for word in group.words]) for group in groups), strength)
