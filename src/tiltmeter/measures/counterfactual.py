"""Counterfactual pairs: does what a model writes change when only the person in the prompt changes?"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiltmeter.errors import BadInput
from tiltmeter.statistics import Interval, Mean, Result, clustered_mean
from tiltmeter.statistics.groups import Floats, Units, numbers, unit_index
from tiltmeter.statistics.permutation import generator, least_p_of_flips

#: The number of each pair's scenario, or of its pair of names.
Index = NDArray[np.intp]
#: The least part of the variance over scenarios that is counted where names differ by less than chance.
_LEAST = 0.8


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
    two versions of a pair can be exchanged, so signs change by whole scenarios (exactly, up to 20 of them). Names
    differ among themselves too: the signs of pairs of names change along, with as much of their differences as single
    pairs of prompts do not explain (Cameron, Gelbach & Miller 2011). With names p is sampled and a mid-p: what is
    as far from 0 counts half. It is not below the mid-p of signs of scenarios alone and of names alone, nor below the
    least p that so many signs can give. To pass both exact tests is asked too much: .01 to .04 where .05 is allowed.

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
        units = unit_index(scenarios), unit_index(names)
        parts = _parts(differences, *units)
        p_value, exact = _p_over_both(differences, *units, parts, **options), False
        ci = _over_both(whole, by_names, parts)
    return CounterfactualResult(
        float(one.mean()), float(two.mean()), whole.value, ci, p_value, exact, whole, by_names, one.size
    )


def _parts(differences: Floats, scenarios: Index, names: Index) -> tuple[float, float]:
    """By how much signs of scenarios and of names count, so that together they vary as the mean does over both.

    Its variance is that over scenarios, and that over names less what single pairs of prompts explain. Where names
    differ by less than that, scenarios count less; never much less, because few names hardly tell.
    """
    rest, n = differences - differences.mean(), differences.size

    def variance(units: Index) -> float:
        sums = np.bincount(units, rest)
        return float((sums**2).sum()) * sums.size / (sums.size - 1)

    over_scenarios, over_names, single = variance(scenarios), variance(names), float((rest**2).sum()) * n / (n - 1)
    beyond = over_names - single
    if beyond > 0:
        return 1.0, math.sqrt(beyond / over_names)
    return math.sqrt(max(_LEAST, 1 + beyond / over_scenarios)) if over_scenarios > 0 else 1.0, 0.0


def _p_over_both(
    differences: Floats, scenarios: Index, names: Index, parts: tuple[float, float], *, permutations: int, seed: int
) -> float:
    rng = generator(seed, "permute")
    observed = abs(float(differences.sum()))
    close = 1e-9 * max(1.0, observed)
    if observed <= close:
        return 1.0

    def mid_p(totals: Floats) -> float:
        null = np.abs(totals)
        further, as_far = int((null > observed + close).sum()), int((np.abs(null - observed) <= close).sum())
        return (further + (as_far + 1) / 2) / (permutations + 1)

    sums = [np.bincount(units, differences) for units in (scenarios, names)]
    totals: list[Floats] = [rng.choice((-1.0, 1.0), (permutations, each.size)) @ each for each in sums]
    # Signs of few units reach only so far.
    alone = [max(mid_p(of), least_p_of_flips(each.size)) for of, each in zip(totals, sums, strict=True)]
    return max(min(alone), mid_p(parts[0] * totals[0] + parts[1] * totals[1]))


def _over_both(whole: Mean, by_names: Mean, parts: tuple[float, float]) -> Interval:
    """The interval over scenarios, wider by as much as names differ beyond chance."""
    low = math.hypot(parts[0] * (whole.ci.low - whole.value), parts[1] * (by_names.ci.low - whole.value))
    high = math.hypot(parts[0] * (whole.ci.high - whole.value), parts[1] * (by_names.ci.high - whole.value))
    return Interval(whole.value - low, whole.value + high, whole.ci.level, f"{whole.ci.method}, scenarios and names")
