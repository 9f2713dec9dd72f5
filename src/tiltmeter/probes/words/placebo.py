"""What arbitrary words give: the effect of a probe with neutral words in place of its attributes, many times."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tiltmeter.measures.geometry import cosines
from tiltmeter.readings import Placebo
from tiltmeter.statistics.groups import Floats
from tiltmeter.statistics.permutation import generator

DRAWS = 1_000


def deal(n_neutral: int, sizes: tuple[int, int], *, draws: int = DRAWS, seed: int = 0) -> Floats:
    """Weights of two sets of these sizes, drawn from the neutral words: (words x draws), 1/size and -1/size.

    >>> deal(10, (2, 2), draws=3).sum(axis=0).tolist()
    [0.0, 0.0, 0.0]
    """
    rng = generator(seed, "draw")
    chosen = rng.random((draws, n_neutral)).argpartition(sum(sizes) - 1, axis=1)[:, : sum(sizes)]
    weights = np.zeros((draws, n_neutral))
    np.put_along_axis(weights, chosen, np.repeat([1 / sizes[0], -1 / sizes[1]], sizes), axis=1)
    dealt: Floats = weights.T
    return dealt


def weat_placebo(
    x: ArrayLike, y: ArrayLike, d: float, sizes: tuple[int, int], neutral: ArrayLike | None, seed: int
) -> Placebo | None:
    """WEAT's d of the same targets between two sets of arbitrary words of these sizes, beside the observed one.

    None where the model knows too few neutral words.
    """
    if neutral is None:
        return None
    targets, words = np.concatenate([np.asarray(x), np.asarray(y)]), np.asarray(neutral)
    lean = cosines(targets.astype(np.float64), words.astype(np.float64)) @ deal(len(words), sizes, seed=seed)
    n_x = len(np.asarray(x))
    effects = (lean[:n_x].mean(axis=0) - lean[n_x:].mean(axis=0)) / lean.std(axis=0, ddof=1)
    return summarise(effects, d)


def summarise(effects: Floats, observed: float, *, level: float = 0.0) -> Placebo:
    """Where 95% of the effects of arbitrary words lie, and how often they are as far from level as the observed one.

    >>> summarise(np.array([-1.0, 0.0, 1.0]), 2.0).p_value
    0.25
    """
    low, high = np.quantile(effects, [0.025, 0.975])
    extreme = np.count_nonzero(np.abs(effects - level) >= abs(observed - level) - 1e-10)
    return Placebo(float(low), float(high), (int(extreme) + 1) / (effects.size + 1), effects.size)
