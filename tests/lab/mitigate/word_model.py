"""A vocabulary whose words lean by a known amount, in one direction or in two of which pairs show only the first."""

from __future__ import annotations

import zlib

import numpy as np

from tiltmeter.lab.mitigate.fit_words import word_sets
from tiltmeter.stimuli import group

WIDTH = 40
ATTRIBUTES = ("attributes.career", "attributes.family", "attributes.math", "attributes.arts")


def letters(number: int) -> str:
    return "q" + "".join(chr(97 + int(digit)) for digit in f"{number:04d}"[::-1])


def planted_words(
    *, directions: int = 1, strength: float = 0.6, n: int = 2_000, seed: int = 0
) -> dict[str, np.ndarray]:
    """Pairs differ along the first axis alone. Others lean along it and, with two directions, as far along the second.

    Career and mathematics lean to men, family and arts to women, and one word in two of the rest to either.
    """

    def vector(word: str, lean: float, *, of: str = "") -> np.ndarray:
        noise = np.random.default_rng([seed, zlib.crc32((of or word).encode())]).normal(size=WIDTH) / np.sqrt(WIDTH)
        noise[:2] += lean, 0.0 if of or directions == 1 else lean
        return noise

    words = {}
    for one, two in word_sets("gender.gender").sets:
        words |= {one: vector(one, -1.0, of=one), two: vector(two, 1.0, of=one)}
    for address, lean in (("gender.male_terms", 1.0), ("gender.female_terms", -1.0)):
        words |= {word: vector(word, lean, of=word) for word in group(address).texts if word not in words}
    for address, lean in zip(ATTRIBUTES, (strength, -strength, strength, -strength), strict=True):
        words |= {word: vector(word, lean) for word in group(address).texts}
    leans = strength * np.random.default_rng(seed).choice([-1.0, 1.0], size=n)
    return words | {letters(number): vector(letters(number), lean) for number, lean in enumerate(leans)}
