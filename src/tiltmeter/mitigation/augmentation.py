"""Counterfactual data augmentation: the same text about the other group (Zhao et al. 2018; Lu et al. 2020)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

#: What takes the place of a word, where patterns fit the text before and after it.
Rules: TypeAlias = Mapping[str, Sequence[tuple[str, re.Pattern[str] | None, re.Pattern[str] | None]]]

NO_RULES: Rules = MappingProxyType({})


class SwappedText(NamedTuple):
    """A text with its group words exchanged; None where a word is left ``open``: its role cannot be told."""

    text: str | None
    swapped: tuple[str, ...]
    open: tuple[str, ...]


def swap_groups(text: str, partners: Mapping[str, str], *, rules: Rules = NO_RULES) -> SwappedText:
    """Every word of a group exchanged for its partner, in the same case.

    ``partners`` leads both ways (he: she, she: he). ``rules`` are for words that have several partners by their role:
    the first that fits counts, and where none does the text is not swapped, because a wrong one would teach a
    model bad grammar for one group alone.

    >>> swap_groups("He met the actress.", {"he": "she", "actress": "actor"}).text
    'She met the actor.'
    >>> swap_groups("We gave her books.", {}, rules={"her": [("him", None, re.compile("\\\\."))]}).open
    ('her',)
    """
    words = sorted({*partners, *rules}, key=len, reverse=True)
    if not words:
        return SwappedText(None, (), ())
    any_of = "|".join(map(re.escape, words))
    pattern = re.compile(rf"\b(?:{any_of})\b", re.IGNORECASE)
    text_after, swapped, left, end = "", list[str](), list[str](), 0
    for match in pattern.finditer(text):
        word = match.group()
        by = _partner(word, text[: match.start()], text[match.end() :], partners, rules)
        if by is None:
            left.append(word)
            continue
        text_after += text[end : match.start()] + _cased(by, word)
        end = match.end()
        swapped.append(word)
    return SwappedText(text_after + text[end:] if swapped and not left else None, tuple(swapped), tuple(left))


def _partner(word: str, before: str, after: str, partners: Mapping[str, str], rules: Rules) -> str | None:
    lower = word.lower()
    for by, fits_before, fits_after in rules.get(lower, ()):
        if (fits_before is None or fits_before.search(before)) and (fits_after is None or fits_after.match(after)):
            return by
    return None if lower in rules else partners.get(word, partners.get(lower))


def _cased(by: str, like: str) -> str:
    """A word in the case of another; a name has its own."""
    if like.isupper() and len(like) > 1:
        return by.upper()
    return by[:1].upper() + by[1:] if like[:1].isupper() else by
