"""One word at a time: NAS and WEFAT (Caliskan, Bryson & Narayanan 2017)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.measures.geometry import (
    THREE_UNNAMED,
    Families,
    Partners,
    all_matched,
    cosines,
    kin_along,
    kin_between,
    pair_families,
    rows,
    unit,
)
from tiltmeter.statistics import (
    Alternative,
    Correlation,
    Result,
    by_unit,
    concatenated_d,
    correlation,
    permutation_test,
)
from tiltmeter.statistics.groups import Floats, numbers
from tiltmeter.statistics.two_way import TwoWay, correlation_over_both, pair_spreads, pole_spreads


@dataclasses.dataclass(frozen=True, slots=True)
class NasResult(Result):
    """One normalised association score a word, in the order given."""

    scores: tuple[float, ...]
    mean: float


@dataclasses.dataclass(frozen=True, slots=True)
class WefatResult(Result):
    """One effect and p-value a word, and how the effects go with a property of the words in the world.

    ``correlation`` is the published one: it takes words for independent and attributes for fixed. ``test`` is the same
    r with a p-value and an interval over other words and other attributes.
    """

    effect_sizes: tuple[float, ...]
    p_values: tuple[float, ...]
    correlation: Correlation | None
    test: TwoWay | None


def nas(words: ArrayLike, a: ArrayLike, b: ArrayLike, *, ddof: int = 1) -> NasResult:
    """Normalised association: (mean cos(w, A) - mean cos(w, B)) / SD of cos(w, .) over A and B.

    Positive: the word is nearer to A; 0 is level; at most 2 in size for A and B of one size.

    >>> nas([[1.0, 0.0]], [[1.0, 0.0], [1.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]).mean.__round__(3)
    1.683
    """
    scores = _normalised(words, a, b, ddof)
    return NasResult(tuple(scores), sum(scores) / len(scores))


def wefat(
    words: ArrayLike,
    a: ArrayLike,
    b: ArrayLike,
    *,
    property: ArrayLike | None = None,
    partners: Partners = (),
    families: Families = THREE_UNNAMED,
    alternative: Alternative = "two-sided",
    ddof: int = 1,
    permutations: int = 10_000,
    seed: int = 0,
) -> WefatResult:
    """Association of single words with A against B; p permutes the attribute words of A and B.

    ``property`` is a number for each word, such as the share of women in an occupation: WEFAT asks
    whether the embedding tells it (Pearson's r). ``partners`` are matched words of A and B by their places, used where
    all are matched; ``families`` names those of the words, of A and of B, which else are found from the vectors.

    >>> found = wefat([[1.0, 0.2], [0.2, 1.0]], [[1.0, 0.0], [1.0, 0.1]], [[0.0, 1.0], [0.1, 1.0]])
    >>> [round(effect, 2) for effect in found.effect_sizes]
    [1.72, -1.72]
    """
    effects = _normalised(words, a, b, ddof)
    matrix = rows("words", words)
    to_a, to_b = cosines(matrix, rows("A", a)), cosines(matrix, rows("B", b))
    tests = [
        permutation_test(
            by_unit(near_a), by_unit(near_b), alternative=alternative, permutations=permutations, seed=seed
        )
        for near_a, near_b in zip(to_a, to_b, strict=True)
    ]
    related, test = None, None
    if property is not None:
        related = correlation(effects, property)
        vectors = [unit(each) for each in (matrix, rows("A", a), rows("B", b))]
        test = _over_both(vectors, np.array(effects), numbers("property", property), ddof, partners, families)
    return WefatResult(tuple(effects), tuple(each.p_value for each in tests), related, test)


def _over_both(
    vectors: Sequence[Floats], effects: Floats, values: Floats, ddof: int, partners: Partners, families: Families
) -> TwoWay:
    """Whether the effects would go with the values for other words and other attributes; ``vectors`` of words, A, B.

    The slope of effects on values is a mean over A less a mean over B of what each attribute adds to it.
    """
    words, a, b = vectors
    weights = (values - values.mean()) / ((values - values.mean()) ** 2).mean()
    near = words @ np.concatenate([a, b]).T
    # The SD of a word's cosines over A and B is the same whichever of them stand in A.
    added = weights[:, None] * near / near.std(axis=1, ddof=ddof, keepdims=True)
    if all_matched(partners, a, b):
        first, second = np.array(partners).T
        of_words, of_pairs = kin_along(words, a[first] - b[second], pair_families(partners, families))
        parts = pair_spreads(added[:, first] - added[:, len(a) + second], of_words, of_pairs)
    else:
        of_words, of_a, of_b = kin_between(words, a, b, families)
        parts = pole_spreads(added, of_words, of_a, of_b)
    return correlation_over_both(values, effects, of_words, *parts)


def _normalised(words: ArrayLike, a: ArrayLike, b: ArrayLike, ddof: int) -> list[float]:
    w = rows("words", words)
    a, b = rows("A", a, like=w), rows("B", b, like=w)
    if len(a) + len(b) < 3:
        raise BadInput("a single word is compared over attributes: give at least three in A and B together")
    return [
        concatenated_d(by_unit(near_a), by_unit(near_b), ddof=ddof)
        for near_a, near_b in zip(cosines(w, a), cosines(w, b), strict=True)
    ]
