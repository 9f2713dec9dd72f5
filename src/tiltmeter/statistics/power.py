"""What a word list can and cannot detect."""

from __future__ import annotations

import math
from typing import Literal

from tiltmeter.errors import BadInput, unknown


def minimum_detectable_effect(
    n_1: int,
    n_2: int,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
    sd: Literal["concatenated", "pooled"] = "concatenated",
) -> float:
    """The smallest true effect that a two-sided test with so many words finds with the given power.

    An effect below it that was not found is no evidence of absence. From the power of the t test, which
    the permutation test approaches; with ``concatenated`` in the units of WEAT's d.

    >>> round(minimum_detectable_effect(8, 8), 2), round(minimum_detectable_effect(100, 100), 2)
    (1.2, 0.39)
    """
    from statsmodels.stats.power import TTestIndPower

    if min(n_1, n_2) < 2:
        raise BadInput("a detectable effect needs at least two units in each group")
    if sd not in ("concatenated", "pooled"):
        raise unknown("sd", sd, ["concatenated", "pooled"])
    if not 0 < alpha < power < 1:
        raise BadInput(f"alpha and power must satisfy 0 < alpha < power < 1, not {alpha} and {power}")
    cohen = float(TTestIndPower().solve_power(nobs1=n_1, ratio=n_2 / n_1, alpha=alpha, power=power))
    if sd == "pooled":
        return cohen
    return cohen / math.sqrt(1 + cohen**2 * n_1 * n_2 / (n_1 + n_2) ** 2)
