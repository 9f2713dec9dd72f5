"""Permutation tests: of the difference between two groups of units, and of paired differences by their signs.

Splits are drawn without replacement: each is a real reassignment of the units to groups of the same
sizes. All splits are counted while there are at most a million; beyond that a seeded sample of them is.
Where there are many tests at once, their p-values are adjusted for their number.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiltmeter.errors import BadInput, unknown
from tiltmeter.statistics.groups import Floats, Result, UnitScores, as_floats, numbers

Alternative = Literal["two-sided", "greater", "less"]
_ALTERNATIVES = get_args(Alternative)

#: Above this number of splits they are sampled instead of counted.
EXACT_LIMIT = 1_000_000
#: Two sums closer than this share of the sum of |scores| are a tie: they differ only by rounding.
TIE = 1e-10
_CHUNK = 4_000_000
#: One stream of random numbers for each purpose, so that changing one leaves the others as they were.
_STREAMS = {"permute": 0, "resample": 1, "draw": 2}


def generator(seed: int, purpose: Literal["permute", "resample", "draw"], *which: int) -> np.random.Generator:
    """The random numbers that belong to a seed; ``which`` of them, where one purpose needs several streams.

    >>> bool(generator(0, "permute").random() == generator(0, "permute").random())
    True
    """
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise BadInput(f"a seed must be a whole number from 0 on, not {seed}")
    return np.random.default_rng([int(seed), _STREAMS[purpose], *which])


@dataclasses.dataclass(frozen=True, slots=True)
class PermutationTest(Result):
    """A p-value and how it was obtained; ``standard_error`` is 0 for a count of all splits.

    ``least_p`` is the smallest p-value that any scores of so many units could have had.
    """

    p_value: float
    alternative: str
    exact: bool
    splits: int
    standard_error: float
    least_p: float = 0.0


def permutation_test(
    x: UnitScores,
    y: UnitScores,
    *,
    alternative: Alternative = "two-sided",
    permutations: int = 10_000,
    seed: int = 0,
) -> PermutationTest:
    """Does group x differ from group y in its mean, each unit counting once?

    The statistic is the difference of sums of the centred unit means. For groups of one size that is
    WEAT's S; for groups of different sizes centring keeps "two-sided" symmetrical.

    >>> from tiltmeter.statistics import by_unit
    >>> permutation_test(by_unit([3.0, 4.0]), by_unit([1.0, 2.0]), alternative="greater").p_value
    0.16666666666666666
    """
    (test,) = permutation_tests(x, y, alternatives=(alternative,), permutations=permutations, seed=seed)
    return test


def permutation_tests(
    x: UnitScores, y: UnitScores, *, alternatives: Sequence[Alternative], permutations: int = 10_000, seed: int = 0
) -> list[PermutationTest]:
    """``permutation_test`` for several alternatives at once: the splits are the same.

    >>> from tiltmeter.statistics import by_unit
    >>> tests = permutation_tests(by_unit([3.0, 4.0]), by_unit([1.0, 2.0]), alternatives=("two-sided", "less"))
    >>> [round(test.p_value, 3) for test in tests]
    [0.333, 1.0]
    """
    for alternative in alternatives:
        check_alternative(alternative)
    if permutations < 1:
        raise BadInput(f"permutations must be at least 1, not {permutations}")
    scores = np.concatenate([x.means, y.means])
    values = scores - scores.mean()
    observed = float(values[: x.n].sum())
    # Centring rounds too: of equal scores it leaves nothing but the rounding.
    tolerance = TIE * float(np.abs(values).sum()) + 1e-15 * float(np.abs(scores).sum())
    splits = math.comb(x.n + y.n, x.n)
    if splits <= EXACT_LIMIT:
        counts = _count_all(values, x.n, observed, tolerance, alternatives)
        return [
            PermutationTest(extreme / splits, alternative, True, splits, 0.0, _least(alternative, splits, x.n == y.n))
            for extreme, alternative in zip(counts, alternatives, strict=True)
        ]
    sums = _sampled_splits(values, x.n, permutations, seed)
    return [
        _sampled(_extreme(sums, observed, tolerance, alternative), permutations, alternative)
        for alternative in alternatives
    ]


def _count_all(
    values: Floats, n: int, observed: float, tolerance: float, alternatives: Sequence[Alternative]
) -> list[int]:
    """How many of all splits are at least as extreme, without listing them.

    Each half of the units gives its subset sums by size; a split is a pair of subsets whose sizes add up
    to n, so sorting one side and searching it with the other counts all pairs (meet in the middle).
    """
    if n > len(values) - n:  # the other group is smaller; its sum is minus this one, as values are centred
        return _count_all(-values, len(values) - n, observed, tolerance, alternatives)
    half = len(values) // 2
    left, right = _subset_sums(values[:half], n), _subset_sums(values[half:], n)
    size = abs(observed)
    wanted = {"two-sided": ((">=", size), ("<=", -size)), "greater": ((">=", observed),), "less": (("<=", observed),)}
    # A tail that two alternatives share is counted once.
    tails = dict.fromkeys((tail for alternative in alternatives for tail in wanted[alternative]), 0)
    for length in range(max(0, n - len(right) + 1), min(n, len(left) - 1) + 1):
        ordered, other = np.sort(left[length]), right[n - length]
        for side, bound in tails:
            if side == ">=":
                below = int(np.searchsorted(ordered, bound - tolerance - other).sum())
                tails[side, bound] += ordered.size * other.size - below
            else:
                tails[side, bound] += int(np.searchsorted(ordered, bound + tolerance - other, side="right").sum())
    # When the observed difference is (nearly) zero both tails hold the splits in between.
    most = math.comb(len(values), n)
    return [min(sum(tails[tail] for tail in wanted[alternative]), most) for alternative in alternatives]


def _subset_sums(values: Floats, largest: int) -> list[Floats]:
    """The sums of all subsets, by subset size up to ``largest``."""
    sums: list[Floats] = [np.zeros(1)]
    for value in values:
        grown = [sums[0]]
        for size in range(1, min(len(sums), largest) + 1):
            added = sums[size - 1] + value
            grown.append(np.concatenate([sums[size], added]) if size < len(sums) else added)
        sums = grown
    return sums


def _sampled_splits(values: Floats, n: int, draws: int, seed: int) -> Floats:
    """The sum of the first group in each of so many splits."""
    masks, rows = _masks(n, len(values) - n, draws, seed), max(1, _CHUNK // len(values))
    return np.concatenate([masks[start : start + rows] @ values for start in range(0, draws, rows)])


def _extreme(null: Floats, observed: float, tolerance: float, alternative: Alternative) -> int:
    if alternative == "two-sided":
        return int(np.count_nonzero(np.abs(null) >= abs(observed) - tolerance))
    if alternative == "greater":
        return int(np.count_nonzero(null >= observed - tolerance))
    return int(np.count_nonzero(null <= observed + tolerance))


def _sampled(extreme: int, draws: int, alternative: Alternative) -> PermutationTest:
    """The observed split counts as one of the draws, so p is never 0."""
    p_value = (extreme + 1) / (draws + 1)
    error = math.sqrt(p_value * (1 - p_value) / draws)
    return PermutationTest(p_value, alternative, False, draws, error, 1 / (draws + 1))


def _least(alternative: str, splits: int, mirrored: bool) -> float:
    """The smallest p of a count: the observed split alone, or with its mirror image, which is as far from 0."""
    return (2 if mirrored and alternative == "two-sided" else 1) / splits


def check_alternative(alternative: str) -> None:
    """Refuse what is not an alternative of a test."""
    if alternative not in _ALTERNATIVES:
        raise unknown("alternative", alternative, _ALTERNATIVES)


def draw_splits(
    n_x: int, n_y: int, *, permutations: int, seed: int, counted: int = 0
) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.bool_]], bool]:
    """Splits as rows of True (in group x), for statistics that are no plain sum; and whether they are all.

    They are all where there are no more than ``permutations`` or, if that is more, ``counted``.

    >>> masks, exact = draw_splits(2, 2, permutations=10_000, seed=0)
    >>> masks.shape, exact
    ((6, 4), True)
    """
    if permutations < 1:
        raise BadInput(f"permutations must be at least 1, not {permutations}")
    exact = math.comb(n_x + n_y, n_x) <= max(permutations, counted)
    return _masks(n_x, n_y, None if exact else permutations, seed), exact


@functools.lru_cache(maxsize=16)
def _masks(n_x: int, n_y: int, permutations: int | None, seed: int) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
    """Splits do not depend on the scores, and many tests have lists of the same lengths: they are kept."""
    n = n_x + n_y
    if permutations is None:
        chosen = np.array(list(itertools.combinations(range(n), n_x)))
    else:
        rng = generator(seed, "permute")
        chosen = rng.permuted(np.broadcast_to(np.arange(n), (permutations, n)), axis=1)[:, :n_x]
    masks = np.zeros((len(chosen), n), dtype=np.bool_)
    np.put_along_axis(masks, chosen, True, axis=1)
    masks.flags.writeable = False
    return masks


def p_from_null(
    null: Floats, observed: float, *, alternative: Alternative, exact: bool, mirrored: bool = False
) -> PermutationTest:
    """The p-value of an observed statistic among those of the splits (the identity is one of all splits).

    ``mirrored``: every split has another with the same statistic and the opposite sign, as halves and signs have.

    >>> p_from_null(np.array([0.0, 1.0, -1.0, 2.0]), 2.0, alternative="two-sided", exact=True).p_value
    0.25
    """
    check_alternative(alternative)
    tolerance = TIE * max(abs(observed), float(np.abs(null).max(initial=0.0)))
    extreme = _extreme(null, observed, tolerance, alternative)
    if exact:
        # The observed split is one of them, even where rounding put it a hair below itself.
        least = _least(alternative, null.size, mirrored)
        return PermutationTest(max(extreme / null.size, least), alternative, True, null.size, 0.0, least)
    return _sampled(extreme, null.size, alternative)


def sign_flip_test(
    differences: ArrayLike, *, alternative: Alternative = "two-sided", permutations: int = 10_000, seed: int = 0
) -> PermutationTest:
    """Does the sum of the differences, one a unit, lie further from zero than with signs given at random?

    Under the null hypothesis a unit's difference is as likely to have one sign as the other, so every pattern of signs
    is as likely as the observed one. All patterns are counted while there are at most a million of them.

    >>> sign_flip_test([1.0, 2.0, 3.0]).p_value
    0.25
    """
    if permutations < 1:
        raise BadInput(f"permutations must be at least 1, not {permutations}")
    values = numbers("differences", differences)
    exact = 2**values.size <= EXACT_LIMIT
    null = _all_sums(values) if exact else _sampled_sums(values, permutations, generator(seed, "permute"))
    return p_from_null(null, float(values.sum()), alternative=alternative, exact=exact, mirrored=True)


def least_p_of_flips(n: int, *, alternative: Alternative = "two-sided", permutations: int = 10_000) -> float:
    """The smallest p-value that ``sign_flip_test`` can give for so many units.

    >>> least_p_of_flips(3), least_p_of_flips(6)
    (0.25, 0.03125)
    """
    return _least(alternative, 2**n, True) if 2**n <= EXACT_LIMIT else 1 / (permutations + 1)


def _all_sums(values: Floats) -> Floats:
    sums: Floats = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums


def _sampled_sums(values: Floats, draws: int, rng: np.random.Generator) -> Floats:
    rows = max(1, _CHUNK // values.size)
    sums = np.empty(draws)
    for start in range(0, draws, rows):
        shape = (min(rows, draws - start), values.size)
        sums[start : start + rows] = rng.integers(2, size=shape, dtype=np.int8).astype(np.float64) @ values
    drawn: Floats = 2 * sums - values.sum()
    return drawn


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Holm's step-down: controls the chance of any false alarm among all tests.

    >>> holm([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    p = _checked(p_values)
    order = np.argsort(p)
    # The smallest of n counts n times, the next n - 1 times, ..., and none may fall below one before it.
    stepped = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def benjamini_hochberg(p_values: ArrayLike) -> NDArray[np.float64]:
    """Benjamini-Hochberg: controls the share of false alarms among the alarms.

    >>> benjamini_hochberg([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.04, 0.04]
    """
    from scipy.stats import false_discovery_control

    p = _checked(p_values)
    return p if p.size == 0 else np.asarray(false_discovery_control(p), dtype=np.float64)


def _checked(p_values: ArrayLike) -> NDArray[np.float64]:
    p = np.atleast_1d(as_floats(p_values, "p-values must be a plain list of numbers between 0 and 1"))
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise BadInput("p-values must be a list of numbers between 0 and 1")
    return p
