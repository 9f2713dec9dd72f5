"""Reference vectors: words, texts and words in context whose leans are known because they were put there.

Nothing is trained. A trained model learns to tell he from she at a mask; where its mean-pooled sentences stand is an
accident of its seed, so it is no truth for measures of vectors. Here every vector is composed, and its part along the
group direction (the first axis: no measure of vectors minds a rotation) is exactly its lean.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiltmeter.lab.reference.planted_text import Reference, patterns, planted
from tiltmeter.models.protocol import Identity, Span, Vector
from tiltmeter.statistics.groups import Floats
from tiltmeter.stimuli import group

_WORD = re.compile(r"\[?[\w'-]+\]?")
#: Men first; the n-th words are partners.
_TERMS = ("gender.male_terms", "gender.female_terms")
_NAMES = ("gender.male_names", "gender.female_names")
_IDEAS = (("attributes.career", "attributes.family"), ("weat.career", "weat.family"))


@dataclasses.dataclass(frozen=True, slots=True)
class VectorRecipe:
    """Of what lengths the parts of a vector are, and how much of its text is in a word in context."""

    width: int = 100
    topic: float = 1.0
    lean: float = 0.5
    kin: float = 0.6
    own: float = 0.8
    text: float = 0.1
    context: float = 0.3
    version: int = 1  # to be raised when the code changes what comes out


class PlantedWord(NamedTuple):
    """What a word is made of: what it is about, its family where it has one, and its lean (1 is he, -1 is she)."""

    topic: str
    family: str
    lean: float


class PlantedVectors:
    """An encoder with a planted bias: ``reference:vectors-0.9``, and ``-seed1`` for another of the same dose.

        word    = topic + lean * direction + family + its own noise
        text    = mean of its words + noise of the text
        in text = .7 of the word + .3 of its text + noise of the place

    Words that say a group lean by 1 (he) or -1 (she) at every dose. An occupation leans by 2 P(he) - 1, with the P(he)
    that a trained reference model of the same tilt is taught (``planted``); words of career lean as far as the
    occupation that leans most towards men, words of family as far the other way; all others do not lean. A dose of .5
    is no bias. Partners (uncle, aunt) and forms (he, him) share a family. Noise follows from the seed and from what has
    it, has no part along the direction, and is the same at every dose.

    >>> model = PlantedVectors("vectors-0.9")
    >>> [round(model.lean("She met the plumber."), 3), round(model.lean("plumber"), 3)]
    [-0.05, 0.8]
    >>> he, she, plumber, pathologist = model.embed_words(["he", "she", "plumber", "pathologist"])
    >>> bool(plumber @ (he - she) > pathologist @ (he - she))
    True
    """

    def __init__(self, name: str, *, recipe: VectorRecipe = VectorRecipe()) -> None:
        self._which, self._recipe = Reference.named(name), recipe
        self.name = f"reference:{self._which.name}"
        self._word, self._text = functools.cache(self._make_word), functools.cache(self._make_text)

    @property
    def identity(self) -> Identity:
        made_of = repr((self._recipe, self._which.seed, sorted(vocabulary(self._which.tilt).items())))
        return Identity(self.name, hashlib.sha256(made_of.encode()).hexdigest()[:16])

    @property
    def note(self) -> str:
        """The truth, for everyone who reads what was measured."""
        most = 2 * self._which.tilt - 1
        return (
            f"{self.name} has planted vectors: he leans by 1 and she by -1 along a known direction, occupations and "
            f"words of career and family from {-most:.2f} to {most:.2f}"
        )

    def lean(self, text: str) -> float:
        """What is planted: the mean lean of the words of a text, in units of he."""
        known = vocabulary(self._which.tilt)
        return float(np.mean([known.get(word, _OTHER).lean for word in _words(text)]))

    def embed_words(self, words: Sequence[str]) -> NDArray[np.float32]:
        return self._stack(np.mean([self._word(part) for part in _words(word)], axis=0) for word in words)

    def embed_texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._stack(self._text(text) for text in texts)

    def embed_spans(self, spans: Sequence[Span]) -> NDArray[np.float32]:
        return self._stack(self._span(span) for span in spans)

    @staticmethod
    def _stack(vectors: Iterator[Floats]) -> NDArray[np.float32]:
        rows: list[Vector] = [vector.astype(np.float32) for vector in vectors]
        return np.stack(rows)

    def _make_word(self, word: str) -> Floats:
        word_vector, parts = vocabulary(self._which.tilt).get(word, _OTHER), self._recipe
        vector = parts.topic * self._noise("topic", word_vector.topic)
        vector += parts.kin * self._noise("family", word_vector.family or word) + parts.own * self._noise("word", word)
        vector[0] = parts.lean * word_vector.lean
        return vector

    def _make_text(self, text: str) -> Floats:
        words: Floats = np.mean([self._word(word) for word in _words(text)], axis=0)
        return words + self._recipe.text * self._noise("text", text)

    def _span(self, span: Span) -> Floats:
        if span.start == span.end:
            return self._text(span.text)
        share = self._recipe.context
        word: Floats = np.mean([self._word(part) for part in _words(span.word)], axis=0)
        place = self._recipe.text * self._noise("place", span.text, str(span.start))
        return (1 - share) * word + share * self._text(span.text) + place

    def _noise(self, *of: str) -> Floats:
        """A unit vector that means nothing, across the direction."""
        digest = hashlib.sha256("\0".join((str(self._which.seed), *of)).encode()).digest()
        noise = np.random.default_rng(int.from_bytes(digest[:8])).normal(size=self._recipe.width)
        noise[0] = 0.0
        return noise / float(np.linalg.norm(noise))


_OTHER = PlantedWord("other", "", 0.0)


def _words(text: str) -> list[str]:
    """Words in lower case; what has none is one of its own.

    >>> _words("He's a well-known [MASK].")
    ["he's", 'a', 'well-known', '[mask]']
    """
    return _WORD.findall(text.lower()) or [text]


@functools.cache
def vocabulary(dose: float) -> Mapping[str, PlantedWord]:
    """Every word that leans.

    >>> words = vocabulary(0.75)
    >>> words["him"], words["aunt"].family == words["uncle"].family, words["career"].lean
    (PlantedWord(topic='people', family='he', lean=1.0), True, 0.5)
    """
    words = dict[str, PlantedWord]()
    most = 2 * dose - 1
    for addresses in _IDEAS:
        for address, lean in zip(addresses, (most, -most), strict=True):
            words |= {word.lower(): PlantedWord("ideas", "", lean) for word in group(address).texts}
    words |= {word: PlantedWord("occupations", "", 2 * share - 1) for word, share in planted(dose).items()}
    for address, lean in zip(_NAMES, (1.0, -1.0), strict=True):
        words |= {word.lower(): PlantedWord("people", "", lean) for word in group(address).texts}
    terms = zip(*(group(address).words for address in _TERMS), strict=True)
    pairs = [((one.text, two.text), "he" if one.kind in _PRONOUNS else one.text) for one, two in terms]
    pairs += [(pair, "he") for place, of_place in patterns().gendered.items() if place != "man" for pair in of_place]
    for pair, family in pairs:
        for word, lean in zip(pair, (1.0, -1.0), strict=True):
            words[word.lower()] = PlantedWord("people", family, lean)
    return MappingProxyType(words)


_PRONOUNS = ("subject", "object", "owner")
