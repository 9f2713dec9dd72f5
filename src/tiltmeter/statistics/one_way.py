"""Do any of several groups differ? Welch's form of the F test, its p-value by dealing families to groups anew."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tiltmeter.errors import BadInput
from tiltmeter.statistics.families import FEWEST, Labels
from tiltmeter.statistics.groups import Floats
from tiltmeter.statistics.permutation import PermutationTest, generator, p_from_null


def one_way_test(
    groups: Sequence[Floats], families: Sequence[Labels], *, permutations: int = 10_000, seed: int = 0
) -> PermutationTest | None:
    """Do the mean rows of several groups differ, whatever the groups' sizes and spreads?

    ``groups`` hold one row per word and one column per thing it was measured on, ``families`` the family of every row.
    The statistic is Welch's: squared distances of the groups' means from their weighted mean, each in its own squared
    standard error, on the scale of chi² and summed over columns. A plain F test takes the spreads for equal, and finds
    differences that are not there where the smallest group spreads widest. p deals whole families to the groups; None
    where there are too few ways to deal them for any result to be significant.

    >>> rng = np.random.default_rng(0)
    >>> groups = [rng.normal(size=(6, 1)), rng.normal(size=(8, 1)), rng.normal(size=(7, 1)) + 2]
    >>> one_way_test(groups, [np.arange(len(each)) for each in groups], permutations=999).p_value <= 0.01
    True
    """
    if permutations < 1:
        raise BadInput(f"permutations must be at least 1, not {permutations}")
    counts = [int(labels.max()) + 1 for labels in families]
    if math.factorial(sum(counts)) / math.prod(map(math.factorial, counts)) < FEWEST:
        return None
    centre = np.concatenate(groups).mean(axis=0)
    size = np.concatenate([np.bincount(labels) for labels in families]).astype(np.float64)
    total = np.zeros((size.size, centre.size))
    place = np.concatenate([labels + start for labels, start in zip(families, _starts(counts), strict=True)])
    np.add.at(total, place, np.concatenate(groups) - centre)
    dealt = np.repeat(np.arange(len(counts)), counts)
    drawn = generator(seed, "permute").permuted(np.broadcast_to(dealt, (permutations, dealt.size)), axis=1)
    observed = float(_welch(dealt[None], total, size, len(counts))[0])
    return p_from_null(_welch(drawn, total, size, len(counts)), observed, alternative="greater", exact=False)


def _starts(counts: Sequence[int]) -> list[int]:
    return [sum(counts[:place]) for place in range(len(counts))]


def _welch(dealt: NDArray[np.intp], total: Floats, size: Floats, n_groups: int) -> Floats:
    """Welch's statistic, for every row of the groups that families are dealt to.

    Deals differ in how well they know the spreads: four wide words alone have 3 degrees of freedom, mixed with narrow
    ones more. So each F goes by its own onto the scale of chi² (Bartlett 1938: (df + k/2 - 1) ln(1 + k F / df) with k
    degrees of freedom above), as two groups' t does onto the normal one; without it four words of three times the
    spread beside 60 others differ in .09 of cases.
    """
    sizes = np.stack([size, size**2, size**3], axis=1)
    means, weights, degrees = [], [], []
    for group in range(n_groups):
        member = (dealt == group).astype(np.float64)
        n, squared, cubed = (member @ sizes).T[:, :, None]
        first, second, mixed = (member @ each for each in (total, total**2, total * size[:, None]))
        # As ``spread_of_mean``, from sums over families.
        mean = first / n
        squares = np.maximum(second - 2 * mean * mixed + mean**2 * squared, 0.0)
        variance = squares / n**2 / np.maximum(1 - 2 * cubed / (squared * n) + squared / n**2, 1e-9)
        means.append(mean)
        # Where nothing varies within a group its mean is known exactly, as far as rounding lets it.
        weights.append(1 / np.maximum(variance, 1e-18 * np.square(total).max(initial=1e-300)))
        degrees.append(np.maximum(n**2 / squared - 1, 0.5))
    mean, weight = np.stack(means), np.stack(weights)
    part = weight / weight.sum(axis=0)
    between = (weight * (mean - (part * mean).sum(axis=0)) ** 2).sum(axis=0)
    unsure = ((1 - part) ** 2 / np.stack(degrees)).sum(axis=0)
    free, df = n_groups - 1, (n_groups**2 - 1) / (3 * unsure)
    f = between / (free + 2 * (n_groups - 2) / (n_groups + 1) * unsure)
    statistic: Floats = (np.maximum(df + free / 2 - 1, 0.5) * np.log1p(free * f / df)).sum(axis=1)
    return statistic
