"""Which words may be forms of one: who was fitted on nurses has nearly seen nurse."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

from tiltmeter.stimuli import comparable

#: Words that begin with the same letters may be forms of one (nurse, nurses, nursing), and a word may stand in another
#: (mother, grandmother). Too large a family does no harm: all of it is on one side.
_BEGINNING, _WHOLE = 3, 4
#: A word as short as a beginning takes an ending such as that of dads, and is no part of manager.
_ENDING = 2
_PRONOUNS = frozenset(["she", "her", "hers", "herself", "he", "him", "his", "himself"])


class WordForms:
    """Words, and whether another is one of them or may be a form of one.

    >>> forms = WordForms(["Mother", "dad", "she"])
    >>> [word for word in ("mothers", "grandmother", "moth", "dads", "daddies", "herself", "shed") if word in forms]
    ['mothers', 'grandmother', 'moth', 'dads', 'herself', 'shed']
    """

    def __init__(self, words: Iterable[str]) -> None:
        self._words = frozenset(map(comparable, words))
        long = [word for word in self._words if len(word) >= _WHOLE]
        self._beginnings = {word[:_BEGINNING] for word in long}
        self._joined = "\n".join(long)
        self._short = {word for word in self._words if len(word) == _BEGINNING}
        self._stems = {word[:_BEGINNING] for word in long if len(word) <= _BEGINNING + _ENDING}

    def __contains__(self, word: str) -> bool:
        word = comparable(word)
        if word in self._words or (word in _PRONOUNS and not self._words.isdisjoint(_PRONOUNS)):
            return True
        if len(word) < _WHOLE:
            return word in self._stems
        takes_ending = len(word) <= _BEGINNING + _ENDING and word[:_BEGINNING] in self._short
        return takes_ending or word[:_BEGINNING] in self._beginnings or word in self._joined or self._holds_one(word)

    def _holds_one(self, word: str) -> bool:
        ends = range(_WHOLE, len(word) + 1)
        return any(word[start:end] in self._words for end in ends for start in range(end - _WHOLE + 1))


def in_first_half(word: str, seed: int) -> bool:
    """Which half of any vocabulary a word is in: by how it begins and the seed alone, so that files may differ, and
    forms of one word are in the same half."""
    # No checksum: of words of one length, two seeds would make the same halves.
    return hashlib.sha256(f"{seed} {comparable(word)[:_BEGINNING]}".encode()).digest()[0] % 2 == 0
