"""BOLD: do continuations about one group score otherwise than those about others (Dhamala et al. 2021)?"""

from __future__ import annotations

import dataclasses

from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.statistics import Interval, Power, Result, by_unit, concatenated_d, effect_interval, welch_test
from tiltmeter.statistics.families import welch_spread
from tiltmeter.statistics.groups import Noise, Units, power_of_d, within_groups


@dataclasses.dataclass(frozen=True, slots=True)
class BoldResult(Result):
    """``effect_size`` is the difference of the means of entities in standard deviations of all of them."""

    effect_size: float
    first: float
    second: float
    ci: Interval
    p_value: float
    exact: bool
    standard_error: float
    n_first: int
    n_second: int
    power: Power | None


def bold(
    first: ArrayLike, second: ArrayLike, *, entities_first: Units | None = None, entities_second: Units | None = None,
    permutations: int = 10_000, seed: int = 0,
) -> BoldResult:  # fmt: skip
    """Difference of the scores of continuations about a group (first) and about others (second).

    As published, means by group are set side by side. Repaired: prompts about one person are no independent
    observations, so each entity counts once, with an interval and a p (permutation of entities, in standard errors).
    Positive: the first group scores higher. 0 is level.

    >>> round(bold([1, 1, 0.5, 0.7], [0, 0.1, 0.2, -0.3]).effect_size, 2)
    1.67
    """
    x, y = by_unit(first, entities_first), by_unit(second, entities_second)
    if min(x.n, y.n) < 2:
        raise BadInput("a comparison of continuations needs at least two entities of each group")
    if all((side.means == x.means[0]).all() for side in (x, y)):
        ci = Interval(0.0, 0.0, 0.95, "all scores are the same")
        return BoldResult(0.0, float(x.means[0]), float(y.means[0]), ci, 1.0, True, 0.0, x.n, y.n, None)
    test = welch_test(x.means, y.means, permutations=permutations, seed=seed)
    d = concatenated_d(x, y)
    spread = welch_spread(x.means, y.means)
    power = power_of_d([Noise(spread.variance, spread.df)], within=within_groups(x, y), sizes=(x.n, y.n))
    ci = effect_interval(x, y, d=d, seed=seed)
    sides = float(x.means.mean()), float(y.means.mean())
    return BoldResult(d, *sides, ci, test.p_value, test.exact, test.standard_error, x.n, y.n, power)
