"""WEAT for any number of target groups and attribute sets."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.measures.geometry import UNNAMED, Bands, Families, cosines, draw_words, list_families, rows
from tiltmeter.measures.weat import WeatResult, weat
from tiltmeter.statistics import Result, holm
from tiltmeter.statistics.families import Placebo, placebo_of
from tiltmeter.statistics.groups import Floats
from tiltmeter.statistics.one_way import one_way_test


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
    average word and the average set, in SDs. ``p_value`` is the larger of ``p_targets`` and ``p_attributes``, which is
    None where a set has one attribute. ``families``: how many independent words each group is worth, and then each
    set of attributes.
    """

    effect_size: float
    p_value: float
    p_targets: float
    p_attributes: float | None
    associations: tuple[tuple[float, ...], ...]
    contrasts: tuple[Contrast, ...]
    n: int
    families: tuple[int, ...]


def multi_weat(
    targets: Sequence[ArrayLike],
    attributes: Sequence[ArrayLike],
    *,
    families: Families = (),
    permutations: int = 10_000,
    seed: int = 0,
) -> MultiWeatResult:
    """Do any of several groups lean to any of several attribute sets more than the others do?

    Every word gets its lean to every attribute set: mean cosine with the set minus the mean over the sets.
    The effect is the variance of the group means over the variance of the words, summed over sets (eta
    squared). One test covers all groups: Welch's form of the F test, families of words dealt to the groups anew, and
    likewise attribute words to the sets; the larger p counts (``statistics.one_way_test``). Only then look at
    ``contrasts``: every pair of groups on every pair of sets as an ordinary WEAT, Holm-adjusted.

    Args:
        targets, attributes: vectors of the words of every group and of every set of attributes.
        families: names of the families of the words of every group, then of every set; None: found from the vectors.

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
    near = [np.stack([cosines(group, each).mean(axis=1) for each in sets], axis=1) for group in groups]
    lean = _leans(np.concatenate(near))
    total = float((lean**2).sum())
    if total <= 1e-24 * len(lean):
        raise BadInput("all words have the same associations, so groups cannot be compared")
    by_group = np.split(lean, np.cumsum([len(group) for group in groups])[:-1])
    between = sum(len(part) * float((part.mean(axis=0) ** 2).sum()) for part in by_group)
    of_groups, of_sets = list_families(groups, sets, families)
    by_targets = one_way_test(by_group, of_groups, permutations=permutations, seed=seed)
    by_attributes = one_way_test(_nearer(groups, sets), of_sets, permutations=permutations, seed=seed)
    contrasts = _contrasts(groups, sets, families, permutations, seed)
    # Where words can be dealt in too few ways, pairs of groups decide, which have Student's t to fall back on.
    pairs = min(contrast.p_adjusted for contrast in contrasts)
    p_values = [pairs if test is None else test.p_value for test in (by_targets, by_attributes)]
    p_targets, p_attributes = p_values[0], p_values[1] if min(map(len, sets)) > 1 else None
    spread = lean.std(axis=0, ddof=1)
    means = np.stack([part.mean(axis=0) for part in by_group]) / np.where(spread == 0, 1, spread)
    return MultiWeatResult(
        effect_size=math.sqrt(between / total),
        p_value=p_targets if p_attributes is None else max(p_targets, p_attributes),
        p_targets=p_targets,
        p_attributes=p_attributes,
        associations=tuple(map(tuple, means.tolist())),
        contrasts=contrasts,
        n=len(lean),
        families=tuple(int(labels.max()) + 1 for labels in (*of_groups, *of_sets)),
    )


def multi_weat_placebo(
    targets: Sequence[ArrayLike],
    neutral: ArrayLike,
    *,
    eta: float,
    sizes: Sequence[int],
    bands: Bands | None = None,
    seed: int = 0,
) -> Placebo:
    """The effect of the same groups between sets of arbitrary words of these sizes, beside the observed eta.

    >>> rng = np.random.default_rng(0)
    >>> groups, neutral = [rng.normal(size=(8, 20)) for _ in range(3)], rng.normal(size=(100, 20))
    >>> multi_weat_placebo(groups, neutral, eta=0.99, sizes=(8, 8)).p_value < 0.01
    True
    """
    groups = [rows(f"target group {i + 1}", group) for i, group in enumerate(targets)]
    words = rows("neutral words", neutral, like=groups[0], at_least=sum(sizes))
    drawn = draw_words(len(words), sum(sizes), bands=bands, seed=seed)
    near = cosines(np.concatenate(groups), words)
    # By word, draw and set; where each set ends follows from the sizes.
    ends = np.cumsum(sizes)[:-1]
    lean = _leans(np.stack([near[:, some].mean(axis=2) for some in np.split(drawn, ends, axis=1)], axis=2))
    by_group = np.split(lean, np.cumsum([len(group) for group in groups])[:-1])
    between = sum(len(part) * (part.mean(axis=0) ** 2).sum(axis=1) for part in by_group)
    return placebo_of(np.sqrt(between / (lean**2).sum(axis=(0, 2))), eta)


def _leans(near: Floats) -> Floats:
    """How near words (first axis) are to sets (last axis), against the average set and the average word."""
    lean = near - near.mean(axis=-1, keepdims=True)
    against: Floats = lean - lean.mean(axis=0)
    return against


def _nearer(groups: list[Floats], sets: list[Floats]) -> list[Floats]:
    """Of the words of every attribute set, how near each group is to them, against the mean over the groups."""
    near = [np.stack([cosines(each, group).mean(axis=1) for group in groups], axis=1) for each in sets]
    return [table - table.mean(axis=1, keepdims=True) for table in near]


def _contrasts(
    groups: list[Floats], sets: list[Floats], named: Families, permutations: int, seed: int
) -> tuple[Contrast, ...]:
    pairs, poles = (list(itertools.combinations(range(len(some)), 2)) for some in (groups, sets))
    which = list(itertools.product(pairs, poles))
    tests = []
    for (i, j), (k, m) in which:
        families = [named[place] for place in (i, j, len(groups) + k, len(groups) + m)] if named else UNNAMED
        lists = groups[i], groups[j], sets[k], sets[m]
        tests.append(weat(*lists, families=families, permutations=permutations, seed=seed))
    adjusted = holm([test.p_value for test in tests]).tolist()
    return tuple(Contrast(*place, test, p) for place, test, p in zip(which, tests, adjusted, strict=True))
