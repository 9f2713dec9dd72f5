"""Many tests at once: p-values adjusted for their number."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tiltmeter.errors import BadInput


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Holm's step-down: controls the chance of any false alarm among all tests.

    >>> holm([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    return _adjust(p_values, "holm")


def benjamini_hochberg(p_values: ArrayLike) -> NDArray[np.float64]:
    """Benjamini-Hochberg: controls the share of false alarms among the alarms.

    >>> benjamini_hochberg([0.01, 0.04, 0.03]).round(2).tolist()
    [0.03, 0.04, 0.04]
    """
    return _adjust(p_values, "fdr_bh")


def _adjust(p_values: ArrayLike, method: str) -> NDArray[np.float64]:
    p = np.atleast_1d(np.asarray(p_values, dtype=np.float64))
    if p.size == 0:
        return p
    if not ((p >= 0) & (p <= 1)).all():
        raise BadInput("p-values must lie between 0 and 1")
    from statsmodels.stats.multitest import multipletests

    adjusted: NDArray[np.float64] = multipletests(p, method=method)[1]
    return adjusted
