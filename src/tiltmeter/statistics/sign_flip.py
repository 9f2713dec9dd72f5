"""The sign-flip test: is the mean of paired differences zero?

Under the null hypothesis a unit's difference is as likely to have one sign as the other, so every pattern of signs
is as likely as the observed one. All patterns are counted while there are at most a million of them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.statistics.groups import Floats, numbers
from tiltmeter.statistics.permutation import EXACT_LIMIT, Alternative, PermutationTest, generator, p_from_null

_CHUNK = 4_000_000


def sign_flip_test(
    differences: ArrayLike, *, alternative: Alternative = "two-sided", permutations: int = 10_000, seed: int = 0
) -> PermutationTest:
    """Does the sum of the differences, one a unit, lie further from zero than with signs given at random?

    >>> sign_flip_test([1.0, 2.0, 3.0]).p_value
    0.25
    """
    if permutations < 1:
        raise BadInput(f"permutations must be at least 1, not {permutations}")
    values = numbers("differences", differences)
    exact = 2**values.size <= EXACT_LIMIT
    null = _all_sums(values) if exact else _sampled_sums(values, permutations, generator(seed, "permute"))
    return p_from_null(null, float(values.sum()), alternative=alternative, exact=exact)


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
