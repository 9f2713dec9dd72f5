"""Many tests at once: p-values adjusted for their number."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiltmeter.errors import BadInput
from tiltmeter.statistics.groups import as_floats


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Holm's step-down: controls the chance of any false alarm among all tests.

    >>> holm([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    p = _checked(p_values)
    order = np.argsort(p)
    # The smallest of n counts n times, the next n - 1 times, ..., and none may fall below one before it.
    stepped = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def benjamini_hochberg(p_values: ArrayLike) -> NDArray[np.float64]:
    """Benjamini-Hochberg: controls the share of false alarms among the alarms.

    >>> benjamini_hochberg([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.04, 0.04]
    """
    from scipy.stats import false_discovery_control

    p = _checked(p_values)
    return p if p.size == 0 else np.asarray(false_discovery_control(p), dtype=np.float64)


def _checked(p_values: ArrayLike) -> NDArray[np.float64]:
    p = np.atleast_1d(as_floats(p_values, "p-values must be a plain list of numbers between 0 and 1"))
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise BadInput("p-values must be a list of numbers between 0 and 1")
    return p
