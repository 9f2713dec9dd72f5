"""WEAT for any number of target groups and attribute sets."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.measures.geometry import cosines, rows
from tiltmeter.measures.weat import WeatResult, weat
from tiltmeter.statistics import Result, holm
from tiltmeter.statistics.groups import Floats
from tiltmeter.statistics.permutation import generator


@dataclasses.dataclass(frozen=True, slots=True)
class Contrast(Result):
    """One pair of target groups on one pair of attribute sets; positions count from 0."""

    targets: tuple[int, int]
    attributes: tuple[int, int]
    weat: WeatResult
    p_adjusted: float


@dataclasses.dataclass(frozen=True, slots=True)
class MultiWeatResult(Result):
    """``effect_size``: the SD between groups over the SD of all words (0: the groups do not differ; at most
    about 1). ``associations``: mean lean of every group (row) to every attribute set (column), against the
    average word and the average set, in SDs.
    """

    effect_size: float
    p_value: float
    associations: tuple[tuple[float, ...], ...]
    contrasts: tuple[Contrast, ...]
    n: int


def multi_weat(
    targets: Sequence[ArrayLike],
    attributes: Sequence[ArrayLike],
    *,
    permutations: int = 10_000,
    seed: int = 0,
) -> MultiWeatResult:
    """Do any of several groups lean to any of several attribute sets more than the others do?

    Every word gets its lean to every attribute set: mean cosine with the set minus the mean over the sets.
    The statistic is the variance of the group means over the variance of the words, summed over sets
    (eta squared); its p-value permutes words between all groups, so one test covers them all. Only then
    look at ``contrasts``: every pair of groups on every pair of sets as an ordinary WEAT, Holm-adjusted.

    >>> groups = [[[1.0, 0.1], [1.0, 0.2]], [[0.1, 1.0], [0.2, 1.0]], [[1.0, 1.0], [1.0, 0.9]]]
    >>> found = multi_weat(groups, [[[1.0, 0.0]], [[0.0, 1.0]]], permutations=999)
    >>> round(found.effect_size, 2), len(found.contrasts)
    (1.0, 3)
    """
    if len(targets) < 2 or len(attributes) < 2:
        raise BadInput("multi-group WEAT needs at least two groups of targets and two sets of attributes")
    first = rows("target group 1", targets[0], at_least=2)
    groups = [rows(f"target group {i + 1}", group, like=first, at_least=2) for i, group in enumerate(targets)]
    sets = [rows(f"attribute set {i + 1}", each, like=first) for i, each in enumerate(attributes)]
    words = np.concatenate(groups)
    near = np.stack([cosines(words, each).mean(axis=1) for each in sets], axis=1)
    lean = near - near.mean(axis=1, keepdims=True)
    lean = lean - lean.mean(axis=0)
    total = float((lean**2).sum())
    if total <= 1e-24 * len(words):
        raise BadInput("all words have the same associations, so groups cannot be compared")
    label = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    observed = _between(lean, label[None], len(groups))[0]
    if permutations < 1:
        raise BadInput(f"permutations must be at least 1, not {permutations}")
    rng = generator(seed, "permute")
    shuffled = rng.permuted(np.broadcast_to(label, (permutations, len(label))), axis=1)
    null = _between(lean, shuffled, len(groups))
    extreme = int(np.count_nonzero(null >= observed * (1 - 1e-10)))
    spread = lean.std(axis=0, ddof=1)
    means = np.stack([lean[label == g].mean(axis=0) for g in range(len(groups))]) / np.where(spread == 0, 1, spread)
    return MultiWeatResult(
        effect_size=float(np.sqrt(observed / total)),
        p_value=(extreme + 1) / (permutations + 1),
        associations=tuple(map(tuple, means.tolist())),
        contrasts=_contrasts(groups, sets, permutations, seed),
        n=len(words),
    )


def _between(lean: Floats, labels: np.ndarray[tuple[int, ...], np.dtype[np.intp]], n_groups: int) -> Floats:
    """Sum of squares between groups, for every row of labels."""
    total = np.zeros(len(labels))
    for g in range(n_groups):
        member = (labels == g).astype(np.float64)
        total += ((member @ lean) ** 2).sum(axis=1) / member.sum(axis=1)
    return total


def _contrasts(groups: list[Floats], sets: list[Floats], permutations: int, seed: int) -> tuple[Contrast, ...]:
    pairs, poles = (list(itertools.combinations(range(len(some)), 2)) for some in (groups, sets))
    which = list(itertools.product(pairs, poles))
    tests = [
        weat(groups[i], groups[j], sets[k], sets[m], permutations=permutations, seed=seed) for (i, j), (k, m) in which
    ]
    adjusted = holm([test.p_value for test in tests]).tolist()
    return tuple(Contrast(*place, test, p) for place, test, p in zip(which, tests, adjusted, strict=True))
