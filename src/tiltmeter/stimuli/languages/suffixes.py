"""The forms a word takes: endings, which may depend on how the word ends and may be followed by others."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ending:
    """Suffixes of the words that end as ``after`` says; ``cut`` characters go first, ``then`` names what may follow."""

    add: tuple[str, ...]
    after: re.Pattern[str] | None = None
    cut: int = 0
    then: str | None = None


def with_endings(root: str, group: str, groups: Mapping[str, tuple[Ending, ...]]) -> Iterator[str]:
    """The forms of a root by the endings of a group, each followed by what may stand after it."""
    for ending in groups[group]:
        if ending.after is not None and not ending.after.search(root):
            continue
        stem = root[: len(root) - ending.cut]
        for suffix in ending.add:
            form = stem + suffix
            yield form
            if ending.then is not None:
                yield from with_endings(form, ending.then, groups)


def chain_of(group: str, groups: Mapping[str, tuple[Ending, ...]], above: tuple[str, ...] = ()) -> tuple[str, ...]:
    """The groups that lead back to themselves from here, () where every chain comes to an end."""
    if group in above:
        return (*above[above.index(group) :], group)
    following = {ending.then for ending in groups[group] if ending.then is not None}
    chains = (chain_of(each, groups, (*above, group)) for each in sorted(following))
    return next((chain for chain in chains if chain), ())
