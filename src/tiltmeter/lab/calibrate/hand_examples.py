"""Examples small enough to work out by hand: effects, p-values that count splits, and ends of intervals.

p-values are fractions: of the 70 ways to part eight words evenly two are as far apart as four above and four below. The
examples differ where an error would: a prior that is not flat, groups of unequal size and spread, words that come in
families, and attributes that agree less than the targets do.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from tiltmeter import measures, statistics
from tiltmeter.statistics import families, intervals
from tiltmeter.statistics.groups import Floats

#: CEAT draws in single precision.
_ROUNDING = 1e-6


@dataclasses.dataclass(frozen=True, slots=True)
class HandExample:
    """What is computed, and what must come out; the tolerance is that of rounding, or of resampling."""

    what: str
    expected: float
    compute: Callable[[], float | None]
    tolerance: float = _ROUNDING


def hand_examples() -> tuple[HandExample, ...]:
    """All of them; a measure is called when its example is computed."""
    return (*_of_vectors(), *_of_probabilities(), *_of_p_values(), *_of_intervals())


def _at(cosines: list[float]) -> Floats:
    """Unit vectors with these cosines to (1, 0), so that they lean by twice as much between it and (-1, 0)."""
    first = np.array(cosines)
    return np.stack([first, np.sqrt(1 - first**2)], axis=1)


def _of_vectors() -> tuple[HandExample, ...]:
    """Two dimensions: the first is men, the second women."""
    men, women = np.array([[1.0, 0.0], [0.8, 0.6]]), np.array([[0.0, 1.0], [0.6, 0.8]])
    a, b = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    # s is 1, .2, -1 and -.2: means .6 and -.6, and an SD of sqrt(2.08 / 3).
    d = 1.2 / np.sqrt(2.08 / 3)
    lists = [[vector[None] for vector in group] for group in (men, women, a, b)]
    # Leans of .4, .8, 1.2 and 1.6 against their negatives: means 1 and -1, and an SD of sqrt(9.6 / 7).
    first, second, poles = _at([0.2, 0.4, 0.6, 0.8]), _at([-0.2, -0.4, -0.6, -0.8]), (a, -a)
    wide = 2 / np.sqrt(9.6 / 7)
    in_lists = [[vector[None] for vector in group] for group in (first, second, *poles)]
    return (
        HandExample("WEAT", d, lambda: measures.weat(men, women, a, b).effect_size),
        HandExample("WEAT, published p (one-sided)", 1 / 6, lambda: measures.weat(men, women, a, b).published_p_value),
        HandExample("WEAT, p", 2 / 70, lambda: measures.weat(first, second, *poles).p_value),
        HandExample("WEAT, p the other way round", 2 / 70, lambda: measures.weat(second, first, *poles).p_value),
        HandExample("SEAT", d, lambda: measures.association(men, women, a, b).effect_size),
        HandExample("SEAT, p", 2 / 70, lambda: measures.association(first, second, *poles).p_value),
        HandExample("CEAT", d, lambda: measures.ceat(*lists, draws=10).repaired.effect_size),
        HandExample("CEAT, p", 2 / 70, lambda: measures.ceat(*in_lists, draws=10).repaired.p_value),
        HandExample("WEFAT", wide, lambda: measures.wefat(a, first, second).effect_sizes[0]),
        HandExample("WEFAT, p", 2 / 70, lambda: measures.wefat(a, first, second).p_values[0]),
        HandExample("RIPA", 1.0, lambda: measures.ripa(2 * np.eye(2), a, -a).score),
        HandExample("CABM", 0.35, lambda: float(measures.cabm([[1.0, 0.2, -0.8]], [0.5, 0.25, 0.25]).scores[0])),
    )


def _of_probabilities() -> tuple[HandExample, ...]:
    # Associations ln 6, ln 4, ln 3, ln 2 and their negatives, on top of what the sentence says without the attribute.
    ratios, prior = np.array([6, 4, 3, 2, 1 / 2, 1 / 3, 1 / 4, 1 / 6]), np.array([0.5, 2, 1, 0.5, 3, 2, 1, 3])
    ones, groups = np.ones(8), ["first"] * 4 + ["second"] * 4
    tables = [np.log(table)[:, None] for table in (0.02 * ratios * prior, 0.1 * prior, 0.02 * ones, 0.1 * ones)]
    logs = np.log([6, 4, 3, 2])
    d = 2 * logs.mean() / np.sqrt(2 * (logs**2).sum() / 7)
    # The second of three tokens is changed: -3 against -5 in what is shared, -2 against -1 in what is not.
    pair = ([-1.0, -2.0, -2.0], [5, 1, 6], [-2.0, -1.0, -3.0], [5, 2, 6])
    # Eight of ten: C(10, 8) + C(10, 9) + 1 of 1024 splits on one side. Wilson's lower end, with z = 1.959964.
    eight = [0.0] * 8 + [-2.0] * 2, [-1.0] * 10
    return (
        HandExample("LPBS", float(np.log(6)), lambda: measures.lpbs(*tables).associations[0]),
        HandExample("LPBS, d", float(d), lambda: measures.lpbs(*tables, groups=groups).effect_size),
        HandExample("LPBS, p", 2 / 70, lambda: measures.lpbs(*tables, groups=groups).p_value),
        HandExample("unmasking", 0.15, lambda: measures.pronoun_gap([0.4, 0.3], [0.1, 0.3]).gap),
        HandExample("pairs", 0.8, lambda: measures.crows_pairs(*eight).score),
        HandExample("pairs, p", 2 * 56 / 1024, lambda: measures.crows_pairs(*eight).p_value),
        HandExample("pairs, lower end of the interval", 0.490162, lambda: measures.crows_pairs(*eight).ci.low),
        HandExample("pairs (nangia)", 2.0, lambda: _gap(measures.nangia(*pair))),
        HandExample("pairs (meade)", -1.0, lambda: _gap(measures.meade(*pair))),
        HandExample("ClozeGender", 1.0, lambda: measures.cloze([0.4, 0.5], [0.1, 0.2], [0.0, 0.0], [0.0, 0.0]).share_1),
    )


def _gap(scores: tuple[float, float] | None) -> float | None:
    return None if scores is None else scores[0] - scores[1]


def _of_p_values() -> tuple[HandExample, ...]:
    """Statistics that all measures share. In standard errors 8 of 56 splits are as far out, by plain means 7."""
    few, many = np.array([4.0, 8.0, 11.0]), np.array([0.0, 1.0, 3.0, 5.0, 7.0])
    # Four families of two words on each side: families change sides, not words.
    above, below = np.array([5.0, 5.1, 6.0, 6.1, 7.0, 7.1, 8.0, 8.1]), np.array([1.0, 1.1, 2.0, 2.1, 3.0, 3.1, 4, 4.1])
    twos = [0, 0, 1, 1, 2, 2, 3, 3]
    # Targets part cleanly (2 of 70), attributes as few and many do (8 of 56): the larger p counts.
    columns, four = np.concatenate([few, many]), np.array([[0.0], [0.1], [0.2], [0.3]])
    kin = families.Kin(range(4), range(4), range(3), range(5))
    return (
        HandExample("permutation of unequal groups, p", 9 / 56, lambda: families.welch_test(few, many).p_value),
        HandExample(
            "permutation of unequal groups, one-sided p",
            4 / 56,
            lambda: families.welch_test(few, many, alternative="greater").p_value,
        ),
        HandExample(
            "permutation of families, p",
            2 / 70,
            lambda: families.welch_test(above, below, families_x=twos, families_y=twos).p_value,
        ),
        HandExample(
            "targets and attributes, p",
            9 / 56,
            lambda: families.crossed_test(columns * (1 + four), columns * four, n_a=3, kin=kin).p_value,
        ),
        HandExample("matched pairs, p", 2 / 64, lambda: families.matched_test(above[:6]).p_value),
        HandExample("clustered mean, p", 2 / 16, lambda: statistics.clustered_mean(above, clusters=twos).p_value),
    )


def _of_intervals() -> tuple[HandExample, ...]:
    """Ends of intervals that are resampled, to within what resampling leaves open."""
    scores = np.linspace(-0.6, 1.2, 10)
    one, two = statistics.by_unit(scores), statistics.by_unit(scores - 0.6)
    d = statistics.concatenated_d(one, two)
    # z -+ Student's t with 18 degrees of freedom, by a million resamples of other code; with z for t .084, without
    # n / (n - 1) .069.
    # Mean 4.5 less Student's t with 9 degrees of freedom, 2.262157, times the standard error sqrt(82.5 / 9 / 10).
    low = 4.5 - 2.262157 * float(np.sqrt(82.5 / 90))
    return (
        HandExample(
            "effect size, lower end of the interval",
            0.020,
            lambda: intervals.effect_interval(one, two, d=d, resamples=200_000).low,
            0.01,
        ),
        HandExample(
            "effect size, lower end of the interval with four times the variance",
            -0.874,
            lambda: intervals.effect_interval(one, two, d=d, inflation=4.0, resamples=200_000).low,
            0.01,
        ),
        HandExample(
            "clustered mean, lower end of the interval",
            low,
            lambda: statistics.clustered_mean(np.arange(10.0)).ci.low,
            0.2,
        ),
    )
