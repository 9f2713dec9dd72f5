"""The features of occupations that CABM weighs, from a model's vectors: as published, and repaired.

Repaired features are what an occupation adds: the same sentence with the occupation masked is taken off, because a
masked sentence, and any word, may lean for reasons of its own that no occupation has a part in. They are in natural
units: the way from half-way to what says a group itself (her, a sentence about a woman) is 1. They are divided to come
there, never centred over occupations: 0 is "adds nothing". Dividing each by its spread over the occupations instead
would make any two models lean alike, and blow noise up to the size of a lean.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from typing import TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from tiltmeter import measures
from tiltmeter.errors import BadInput
from tiltmeter.measures.cabm.cabm import PmiBias
from tiltmeter.measures.geometry import unit
from tiltmeter.probes.cabm.occupation_sentences import (
    Used,
    Vectors,
    read_isolated,
    read_unmasking,
    read_vectors,
    seen_with_one,
    usable,
)
from tiltmeter.probes.kind import Replies
from tiltmeter.readings.details.cabm import LeaningSentence, Point
from tiltmeter.statistics.groups import Floats
from tiltmeter.statistics.permutation import generator
from tiltmeter.stimuli.sentences.marked import MarkedSet

DRAWS = 500
#: Divided by this, a small difference of PMI is the difference of the two groups' shares.
_BITS = 2 / math.log(2)
#: Counts that differ between occupations no more than chance would make them were made to be the same.
_BALANCED = 0.05
#: Models answer in single precision; differences below this, in natural units, come from there.
_ROUNDING = 1e-6
_LOUDEST = 3


_Rows = TypeVar("_Rows", Floats, NDArray[np.bool_])


@dataclasses.dataclass(frozen=True, slots=True)
class FeatureTable:
    """Columns pmi, cosine, context; ``draws`` are those of resampled sentences, (draws, occupations, 3)."""

    values: Floats
    draws: Floats


@dataclasses.dataclass(frozen=True, slots=True)
class Features:
    """What is known of each occupation.

    ``raw`` are single numbers before they were divided by ``units``. ``balanced``: the sentences have all occupations
    about as often with both groups, so that PMI is left out of the repaired features. ``loudest`` are the masked
    sentences that lean most, ``projection`` where an occupation's sentences stand with either group.
    """

    words: tuple[str, ...]
    published: FeatureTable
    repaired: FeatureTable
    units: tuple[float, float, float]
    raw: Mapping[str, list[float | None]]
    unmasking: Floats | None
    balanced: bool
    zero_counts: tuple[str, ...]
    loudest: Mapping[str, tuple[LeaningSentence, ...]]
    projection: Mapping[str, tuple[Point, Point]]
    #: The published PMI with either group.
    group_pmi: tuple[Floats, Floats] | None = None
    #: Occupations that the source has with one group alone.
    with_one: tuple[str, ...] = ()


class _GroupedSentences:
    """Sentences of occupations, and their resamples: the same ones for every feature."""

    def __init__(self, vectors: Vectors, rng: np.random.Generator) -> None:
        self.vectors, self.rng = vectors, rng
        self.sizes: NDArray[np.intp] = np.bincount(vectors.index)
        self._ends = np.cumsum(self.sizes)[:-1]
        self._drawn = [rng.multinomial(n, np.full(n, 1 / n), DRAWS) / n for n in self.sizes.tolist()]

    def split(self, rows: _Rows) -> list[_Rows]:
        return cast(list[_Rows], np.split(rows, self._ends))

    def means(self, values: Floats) -> Floats:
        return np.array([rows.mean() for rows in self.split(values)])

    def draws(self, values: Floats) -> Floats:
        """The means of single numbers over resampled sentences, (draws, occupations)."""
        means = (weights @ rows for weights, rows in zip(self._drawn, self.split(values), strict=True))
        return np.stack(list(means), axis=1)

    def lengths(self, rows: Floats) -> Floats:
        """The lengths of the mean vectors of resampled sentences, (draws, occupations)."""
        grams = (some @ some.T for some in self.split(rows))  # ‖wᵀD‖² = wᵀ(DDᵀ)w, which needs no vector for each draw
        squares = (((w @ gram) * w).sum(axis=1) for w, gram in zip(self._drawn, grams, strict=True))
        lengths: Floats = np.sqrt(np.maximum(np.stack(list(squares), axis=1), 0.0))
        return lengths

    def distances(self, one: Sequence[Floats], two: Sequence[Floats]) -> Floats:
        """The distances of the two groups' mean sentences, resampled within each group, (draws, occupations)."""
        drawn = []
        for rows in zip(one, two, strict=True):
            a, b = (
                self.rng.multinomial(len(side), np.full(len(side), 1 / len(side)), DRAWS) / len(side) @ side
                for side in rows
            )
            drawn.append(np.linalg.norm(a - b, axis=1))
        return np.stack(drawn, axis=1)

    def wide_draws(self, values: Floats) -> Floats:
        """The same, as wide as they should be.

        The bootstrap of a few sentences is too short: by (n - 1)/n in its variance, and by a normal for Student's t.
        """
        from scipy.special import ndtri, stdtrit

        n = self.sizes
        wider = np.sqrt(n / (n - 1)) * stdtrit(n - 1, 0.975) / ndtri(0.975)
        centre = self.means(values)
        drawn: Floats = centre + wider * (self.draws(values) - centre)
        return drawn

    @functools.cached_property
    def direction(self) -> Floats:
        """From sentences that say group 2 to those that say group 1."""
        by_occupation = self.split(self.vectors.one - self.vectors.two)
        direction: Floats = np.mean([rows.mean(axis=0) for rows in by_occupation], axis=0)
        return direction


def read_features(sentences: MarkedSet, replies: Replies, *, seed: int) -> Features:
    """The features of every occupation that has sentences with both groups."""
    used = usable(sentences, replies)
    words = tuple(used)
    sample = _GroupedSentences(read_vectors(sentences, used, replies), generator(seed, "resample"))
    v = sample.vectors
    _check_apart(sample, sentences)
    counts = np.array([sentences.counts[word] for word in words], dtype=np.float64).T
    balanced = not _differs(counts)
    pmi = measures.pmi_bias(*counts)
    pmi_draws = np.tile(pmi.values, (DRAWS, 1)) if balanced else _pmi_draws(counts, sample.rng)
    by_pronoun, by_pronoun_draws = _pronoun_pmi(sentences, words, sample.rng)
    published = _published(sample, by_pronoun.values, by_pronoun_draws)
    cosine = measures.cosine_bias(v.word, *v.marks) - measures.cosine_bias(v.bare_word, *v.marks)
    along = unit(sample.direction)
    leans = (v.neutral - (v.one + v.two) / 2) @ along - (v.bare_neutral - (v.bare_one + v.bare_two) / 2) @ along
    whole, bare = (
        map(sample.split, versions)
        for versions in ((v.neutral, v.one, v.two), (v.bare_neutral, v.bare_one, v.bare_two))
    )
    signed = measures.signed_shift(*whole, direction=along) - measures.signed_shift(*bare, direction=along)
    units = (_BITS, _half_way(v), float(np.linalg.norm(sample.direction)) / 2)
    counted = 0.0 if balanced else 1.0
    chance = _chance(v) * sample.rng.normal(size=(DRAWS, len(words)))
    drawn = (counted * pmi_draws, sample.wide_draws(cosine) + chance, sample.wide_draws(leans))
    return Features(
        words,
        published,
        FeatureTable(
            _steady(np.stack([counted * pmi.values, sample.means(cosine), signed], axis=1) / units),
            np.stack(drawn, axis=2) / units,
        ),
        units,
        {
            "pmi": pmi.values.tolist(),
            "published_pmi": published.values[:, 0].tolist(),
            "cosine": sample.means(cosine).tolist(),
            "signed_context": signed.tolist(),
            **read_isolated(sentences, used, replies),
            "published_cosine": published.values[:, 1].tolist(),
            "context": published.values[:, 2].tolist(),
        },
        read_unmasking(sentences, used, replies),
        balanced,
        tuple(word for word, zero in zip(words, pmi.zero, strict=True) if zero),
        _loudest(sentences, used, leans / units[2]),
        _projected(words, sample),
        by_pronoun.by_group,
        seen_with_one(sentences, used),
    )


def _check_apart(sample: _GroupedSentences, sentences: MarkedSet) -> None:
    v = sample.vectors
    size = float(np.linalg.norm(v.one, axis=1).mean())
    if min(float(np.linalg.norm(sample.direction)) / size, _half_way(v)) < _ROUNDING:
        raise BadInput(
            f"the model reads sentences that say {sentences.groups[0]} and {sentences.groups[1]} alike, so nothing "
            "can lean to either: it may not know the words for them"
        )


def _published(sample: _GroupedSentences, pmi: Floats, pmi_draws: Floats) -> FeatureTable:
    """From the sentences as the source has them: a set need not have each with both groups, as the thesis' has not."""
    v = sample.vectors
    cosine = measures.cosine_bias(v.source_word, *v.source_marks)
    one, two = (
        [rows[here] for rows, here in zip(sample.split(side), sample.split(v.in_source[:, place]), strict=True)]
        for place, side in enumerate((v.one, v.two))
    )
    shift = measures.context_shift(one, two)
    shift_draws = sample.lengths(v.one - v.two) if v.in_source.all() else sample.distances(one, two)
    values = np.stack([pmi, sample.means(cosine), shift], axis=1)
    return FeatureTable(values, np.stack([pmi_draws, sample.draws(cosine), shift_draws], axis=2))


def _differs(counts: Floats) -> bool:
    """Does the share of the groups differ between occupations by more than chance?"""
    from scipy.stats import chi2_contingency

    seen = counts[:, counts.sum(axis=0) > 0]
    return bool(seen.sum(axis=1).all()) and float(chi2_contingency(seen).pvalue) < _BALANCED


def _steady(values: Floats) -> Floats:
    """The same with columns made constant that differ by the rounding of a model's numbers only."""
    return np.where(np.ptp(values, axis=0) > _ROUNDING, values, values.mean(axis=0))


def _half_way(v: Vectors) -> float:
    """Half the way between the groups' own words, on the scale of the cosine feature."""
    one, two = (float(measures.cosine_bias(words, *v.marks).mean()) for words in v.marks)
    return (one - two) / 2


def _chance(v: Vectors) -> float:
    """How far a word leans (SD) along a direction that means nothing: a word has some cosine with any direction.

    Other sentences do not change it, so resampling sentences does not show it.
    """
    lean = unit(v.marks[0]).mean(axis=0) - unit(v.marks[1]).mean(axis=0)
    return float(np.linalg.norm(lean)) / math.sqrt(lean.size)


def _pmi_draws(counts: Floats, rng: np.random.Generator) -> Floats:
    total = counts.sum(axis=0).astype(np.int64)
    ones = rng.binomial(total, counts[0] / np.maximum(total, 1), size=(DRAWS, len(total)))
    return np.array([measures.pmi_bias(one, total - one).values for one in ones])


def _pronoun_pmi(sentences: MarkedSet, words: Sequence[str], rng: np.random.Generator) -> tuple[PmiBias, Floats]:
    """The published PMI, and that of sentences drawn anew within each group, (draws, occupations)."""
    sides: list[Floats] = []
    for group in (0, 1):
        of_word = [sentences.mark_counts[word][group] for word in words]
        marks = sorted({mark for counts in of_word for mark, n in counts.items() if n})
        sides.append(np.array([[counts.get(mark, 0) for mark in marks] for counts in of_word], dtype=np.float64))
    bias = measures.pronoun_pmi_bias(*sides)
    if np.ptp(bias.values) < _ROUNDING:  # the sentences were made with every pronoun as often for each occupation
        return bias, np.tile(bias.values, (DRAWS, 1))

    def drawn(side: Floats) -> Floats:
        totals = side.sum(axis=1)
        shares = np.where(totals[:, None] > 0, side / np.maximum(totals, 1)[:, None], 1 / side.shape[1])
        rows = [rng.multinomial(int(n), share, size=DRAWS) for n, share in zip(totals, shares, strict=True)]
        return np.stack(rows, axis=1).astype(np.float64)

    one, two = map(drawn, sides)
    return bias, np.array([measures.pronoun_pmi_bias(*both).values for both in zip(one, two, strict=True)])


def _loudest(sentences: MarkedSet, used: Used, leans: Floats) -> dict[str, tuple[LeaningSentence, ...]]:
    loudest: dict[str, tuple[LeaningSentence, ...]] = {}
    rest = iter(leans.tolist())
    for word, places in used.items():
        leaning = [LeaningSentence(sentences.versions[place].neutral.text, next(rest)) for place in places]
        loudest[word] = tuple(sorted(leaning, key=lambda sentence: -abs(sentence.lean))[:_LOUDEST])
    return loudest


def _projected(words: tuple[str, ...], sample: _GroupedSentences) -> dict[str, tuple[Point, Point]]:
    """The mean sentence of each occupation with group 1 and with group 2, on the two main axes of them all."""
    sides = zip(*map(sample.split, (sample.vectors.one, sample.vectors.two)), strict=True)
    means = np.array([[rows.mean(axis=0) for rows in pair] for pair in sides])
    flat = means.reshape(2 * len(words), -1)
    axes = np.linalg.svd(flat - flat.mean(axis=0), full_matrices=False)[2][:2]
    placed = ((means - flat.mean(axis=0)) @ axes.T).tolist()
    return {word: ((one[0], one[1]), (two[0], two[1])) for word, (one, two) in zip(words, placed, strict=True)}
