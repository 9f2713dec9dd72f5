"""Models whose tilt is planted: every vector leans by a known amount along one axis, the rest is noise of its own."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence

import numpy as np

from tiltmeter.models import Identity
from tiltmeter.probes.words.word_sets import WordList
from tiltmeter.stimuli import group, matched_words

SIZE = 32
TERMS = ["gender.male_terms", "gender.female_terms"]
CAREER_FAMILY = ["attributes.career", "attributes.family"]
Vectors = dict[str, np.ndarray]


def vector(item: str, lean: float) -> np.ndarray:
    """A unit vector with the given cosine to the axis, in a direction that is the item's own."""
    noise = np.random.default_rng(zlib.crc32(item.encode())).normal(size=SIZE)
    noise[0] = 0.0
    noise *= np.sqrt(1 - lean**2) / np.linalg.norm(noise)
    noise[0] = lean
    return noise.astype(np.float32)


def words(leans: Mapping[str, float]) -> Vectors:
    """A dict of word vectors: groups at the given addresses lean by the given amounts."""
    return {word: vector(word, lean) for address, lean in leans.items() for word in group(address).texts}


def twins(addresses: Sequence[str]) -> Vectors:
    """Word vectors under which the groups cannot be told apart: the first words of all share one vector, and so on."""
    return {
        word: vector(f"twin {number}", 0.3 * (-1) ** number)
        for address in addresses
        for number, word in enumerate(group(address).texts)
    }


def gendered(male: float, female: float) -> Vectors:
    """Words under which the two genders lean between career and family."""
    return words(dict(zip([*TERMS, *CAREER_FAMILY], [male, female, 0.8, -0.8], strict=True)))


def kin(one: str, two: str) -> dict[str, object]:
    """What the lexicon says of two groups of targets, as measures take it."""
    first, second = group(one), group(two)
    pairs = [(first.texts.index(x), second.texts.index(y)) for x, y in matched_words(first, second)]
    return {"partners": pairs, "families": (first.families, second.families, None, None)}


def sets(model: Mapping[str, np.ndarray], *addresses: str) -> list[np.ndarray]:
    return [stacked(model, group(address).texts) for address in addresses]


def stacked(vectors: Mapping[str, np.ndarray], items: Sequence[str]) -> np.ndarray:
    return np.stack([vectors[item] for item in items])


def texts(leans: Sequence[tuple[WordList, float, float]]) -> Vectors:
    """Vectors of sentences: a set leans by an amount, and every word in it by an amount of its own besides."""
    found = {}
    for some, lean, spread in leans:
        by_unit = {unit: np.random.default_rng(zlib.crc32(unit.encode())).uniform(-1, 1) for unit in some.units}
        for text, unit in zip(some.inputs, some.units, strict=True):
            found[text] = vector(text, lean + spread * by_unit[unit])
    return found


class Sentences:
    """A user's own sentence encoder."""

    def __init__(self, vectors: Mapping[str, np.ndarray]) -> None:
        self.vectors = vectors

    def embed_texts(self, texts: Sequence[str]) -> list[np.ndarray]:
        return [self.vectors[text] if text in self.vectors else vector(text, 0.0) for text in texts]


class Named:
    """A user's own model that says what its answers depend on, and counts what it is asked."""

    def __init__(self, vectors: Mapping[str, np.ndarray], *, name: str = "own:named", settings: str = "") -> None:
        self.vectors = vectors
        self.identity = Identity(name, "1", {"layer": settings} if settings else {})
        self.asked: list[str] = []

    def embed_words(self, words: Sequence[str]) -> list[np.ndarray | None]:
        self.asked += words
        return [self.vectors.get(word) for word in words]
