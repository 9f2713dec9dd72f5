"""Random-effects pooling of effect sizes (DerSimonian & Laird 1986)."""

from __future__ import annotations

import dataclasses
import math
import sys

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.errors import BadInput
from tiltmeter.statistics.groups import Result
from tiltmeter.statistics.intervals import Interval


@dataclasses.dataclass(frozen=True, slots=True)
class RandomEffects(Result):
    """The pooled effect; ``tau2`` is the variance between effects beyond what chance explains."""

    mean: float
    tau2: float
    standard_error: float
    p_value: float
    ci: Interval
    q: float
    n: int


def random_effects(effects: ArrayLike, variances: ArrayLike) -> RandomEffects:
    """Pool effects with weights 1/(variance + tau2); p is two-sided and normal.

    >>> pooled = random_effects([0.2, 0.5, 0.9], [0.04, 0.04, 0.04])
    >>> round(pooled.mean, 4), round(pooled.tau2, 4), round(pooled.standard_error, 4)
    (0.5333, 0.0833, 0.2028)
    """
    from scipy.stats import norm

    effect = np.atleast_1d(np.asarray(effects, dtype=np.float64))
    variance = np.atleast_1d(np.asarray(variances, dtype=np.float64))
    if effect.ndim != 1 or effect.shape != variance.shape or effect.size == 0:
        raise BadInput("effects and variances must be two lists of the same length, at least 1")
    if not (np.isfinite(effect).all() and np.isfinite(variance).all() and (variance > 1e-300).all()):
        raise BadInput("effects must be finite and variances finite and above 0 (1e-300)")
    weight = 1 / variance
    centre = float((weight * effect).sum() / weight.sum())
    q = float((weight * (effect - centre) ** 2).sum())
    # c = sum w - (sum w^2) / (sum w), which loses all its digits to one huge weight; the same is twice the sum
    # of w_i w_j over all pairs, divided by sum w.
    before = np.concatenate([[0.0], np.cumsum(weight)[:-1]])
    c = float(2 * (weight / weight.sum() * before).sum())
    tau2 = max(0.0, (q - (effect.size - 1)) / c) if effect.size > 1 else 0.0
    v = 1 / (variance + tau2)
    mean, error = float((v * effect).sum() / v.sum()), math.sqrt(1 / float(v.sum()))
    # Far in the tail the normal underflows; a p-value is small there, never zero.
    p_value = max(2 * float(norm.sf(abs(mean) / error)), sys.float_info.min)
    reach = float(norm.ppf(0.975)) * error
    return RandomEffects(
        mean, tau2, error, p_value, Interval(mean - reach, mean + reach, 0.95, "normal"), q, effect.size
    )
