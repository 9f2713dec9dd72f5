"""Seeded randomness: one stream for each purpose, so that changing one leaves the others as they were."""

from __future__ import annotations

from typing import Literal

import numpy as np

from tiltmeter.errors import BadInput

_STREAMS = {"permute": 0, "resample": 1, "draw": 2}


def generator(seed: int, purpose: Literal["permute", "resample", "draw"], *which: int) -> np.random.Generator:
    """The random numbers that belong to a seed; ``which`` of them, where one purpose needs several streams.

    >>> bool(generator(0, "permute").random() == generator(0, "permute").random())
    True
    """
    if not isinstance(seed, int | np.integer) or seed < 0:
        raise BadInput(f"a seed must be a whole number from 0 on, not {seed}")
    return np.random.default_rng([int(seed), _STREAMS[purpose], *which])
