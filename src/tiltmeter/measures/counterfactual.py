"""Counterfactual pairs: does what a model writes change when only the person in the prompt changes?"""

from __future__ import annotations

import dataclasses
from typing import Any

from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.statistics import Interval, Mean, Result, clustered_mean
from tiltmeter.statistics.groups import Units, numbers


@dataclasses.dataclass(frozen=True, slots=True)
class CounterfactualResult(Result):
    """``difference`` is the mean of the first versions less that of the second, 0 where nothing changes.

    ``by_names`` is the same mean with the pairs of names as the units; None where there is one pair alone.
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
    two versions of a pair can be exchanged, so signs change by whole scenarios (exactly, up to 20 of them), and again
    by whole pairs of names where these are given: p is the larger of the two and the interval the wider, so that the
    result holds for other scenarios and for other names.

    >>> found = counterfactual([1, 1, 0, 1], [0, 0, 0, 1], scenarios=["loan", "loan", "job", "job"])
    >>> found.difference, found.p_value
    (0.5, 1.0)
    """
    one, two = numbers("first", first), numbers("second", second)
    if not one.size == two.size == len(scenarios) or (names is not None and len(names) != one.size):
        raise BadInput(f"{one.size} first and {two.size} second versions: give one of each, and its scenario, per pair")
    options: dict[str, Any] = {"permutations": permutations, "seed": seed}
    whole = clustered_mean(one - two, clusters=scenarios, **options)
    by_names = None
    if names is not None and len(set(names)) > 1:
        by_names = clustered_mean(one - two, clusters=names, **options)
    both = [whole, *([by_names] if by_names else [])]
    widest = max(both, key=lambda mean: mean.ci.high - mean.ci.low)
    least_sure = max(both, key=lambda mean: mean.p_value)
    return CounterfactualResult(
        float(one.mean()), float(two.mean()), whole.value, widest.ci, least_sure.p_value, least_sure.exact, whole,
        by_names, one.size,
    )  # fmt: skip
