"""Counterfactual pairs: does what a model writes change when only the person in the prompt changes?"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.statistics import Interval, Mean, Result, clustered_mean
from tiltmeter.statistics.groups import Floats, Units, numbers, unit_index
from tiltmeter.statistics.permutation import generator


@dataclasses.dataclass(frozen=True, slots=True)
class CounterfactualResult(Result):
    """``difference`` is the mean of the first versions less that of the second, 0 where nothing changes.

    ``by_scenario`` holds the exact test over other scenarios, ``by_names`` that over other pairs of names (None where
    there is one pair alone). ``p_value`` counts both; ``exact`` says whether it is one of theirs.
    """

    first: float
    second: float
    difference: float
    ci: Interval
    p_value: float
    exact: bool
    by_scenario: Mean
    by_names: Mean | None
    n: int


def counterfactual(
    first: ArrayLike, second: ArrayLike, *, scenarios: Units, names: Units | None = None,
    permutations: int = 10_000, seed: int = 0,
) -> CounterfactualResult:  # fmt: skip
    """Mean paired difference of an outcome between two versions of the same prompts.

    ``first`` and ``second`` hold one number per pair of prompts: a score, a length, 1 for a refusal or a choice.
    Positive: more of it in the first version. 0 is level. Under the hypothesis that the person makes no difference the
    two versions of a pair can be exchanged, so signs change by whole scenarios (exactly, up to 20 of them). Names differ
    among themselves too: the signs of pairs of names change along, with as much of their differences as is more than
    single pairs of prompts explain (Cameron, Gelbach & Miller 2011). With names p is sampled and a mid-p: what is as far
    from 0 counts half. To pass both exact tests would be asked too much: that finds .01 to .03 where .05 is allowed.

    >>> found = counterfactual([1, 1, 0, 1], [0, 0, 0, 1], scenarios=["loan", "loan", "job", "job"])
    >>> found.difference, found.p_value
    (0.5, 1.0)
    """
    one, two = numbers("first", first), numbers("second", second)
    if not one.size == two.size == len(scenarios) or (names is not None and len(names) != one.size):
        raise BadInput(f"{one.size} first and {two.size} second versions: give one of each, and its scenario, per pair")
    options: dict[str, Any] = {"permutations": permutations, "seed": seed}
    differences = one - two
    whole = clustered_mean(differences, clusters=scenarios, **options)
    by_names, p_value, ci, exact = None, whole.p_value, whole.ci, whole.exact
    if names is not None and len(set(names)) > 1:
        by_names = clustered_mean(differences, clusters=names, **options)
        part = _beyond_chance(differences, unit_index(names))
        p_value, exact = _p_over_both(differences, unit_index(scenarios), unit_index(names), part, **options), False
        ci = _wider(whole, by_names, part)
    return CounterfactualResult(
        float(one.mean()), float(two.mean()), whole.value, ci, p_value, exact, whole, by_names, one.size
    )


def _beyond_chance(differences: Floats, names: Units) -> float:
    """The part of the variance between pairs of names that single pairs of prompts do not explain."""
    rest, k, n = differences - differences.mean(), len(set(names)), differences.size
    between = float((np.bincount(names, rest) ** 2).sum()) * k / (k - 1)
    single = float((rest**2).sum()) * n / (n - 1)
    return max(0.0, 1 - single / between) if between > 0 else 0.0


def _p_over_both(
    differences: Floats, scenarios: Units, names: Units, part: float, *, permutations: int, seed: int
) -> float:
    rng = generator(seed, "permute")
    sums = [np.bincount(units, differences) for units in (scenarios, names)]
    by_scenario, by_name = (rng.choice((-1.0, 1.0), (permutations, each.size)) @ each for each in sums)
    null, observed = np.abs(by_scenario + math.sqrt(part) * by_name), abs(float(differences.sum()))
    close = 1e-9 * max(1.0, observed)
    if observed <= close:
        return 1.0
    further, as_far = int((null > observed + close).sum()), int((np.abs(null - observed) <= close).sum())
    return (further + (as_far + 1) / 2) / (permutations + 1)


def _wider(whole: Mean, by_names: Mean, part: float) -> Interval:
    """The interval over scenarios, as much wider as names differ beyond chance."""
    low, high = (
        math.hypot(end(whole) - whole.value, math.sqrt(part) * (end(by_names) - whole.value))
        for end in (lambda mean: mean.ci.low, lambda mean: mean.ci.high)
    )
    method = f"{whole.ci.method}, widened for other names"
    return Interval(whole.value - low, whole.value + high, whole.ci.level, method)
