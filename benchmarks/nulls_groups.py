"""False positives and coverage where groups differ in size or spread, lists are short, or pairs come in clusters.

    python benchmarks/nulls_groups.py [--runs 500] [--seed 2027]

Every row simulates data in which there is nothing to find (or an interval of known truth), and prints how often the
published form of a measure and its repaired form say .05 or less, or cover the truth.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from tiltmeter import measures
from tiltmeter.statistics import by_unit, permutation_test

Floats = NDArray[np.float64]
#: Whether the published and the repaired form found something (or covered the truth) in one run.
Outcome = tuple[bool, bool]
Row = tuple[str, float, float, float]

_ALPHA = 0.05
_PERMUTATIONS = 999
_A, _B = [[1.0, 0.0]], [[-1.0, 0.0]]


def _vectors(leans: Floats) -> Floats:
    """Unit vectors in a plane whose lean between A and B is what is asked for, at a scale that fits."""
    leans = leans / 80
    return np.stack([leans, np.sqrt(1 - leans**2)], axis=1)


def _found(p_value: float) -> bool:
    return p_value <= _ALPHA


def _plain(x: Floats, y: Floats, seed: int) -> bool:
    test = permutation_test(by_unit(x), by_unit(y), permutations=_PERMUTATIONS, seed=seed)
    return _found(test.p_value)


def _normal(rng: np.random.Generator, n: int) -> Floats:
    return rng.normal(size=n)


def _student(rng: np.random.Generator, n: int) -> Floats:
    return np.clip(rng.standard_t(3, size=n), -70, 70)


def _skewed(rng: np.random.Generator, n: int) -> Floats:
    return np.clip(np.exp(rng.normal(size=n)) - np.exp(0.5), -70, 70)


def _weat(n_x: int, n_y: int, wide: float, draw: Callable[[np.random.Generator, int], Floats] = _normal) -> Run:
    def run(rng: np.random.Generator, seed: int) -> Outcome:
        x, y = wide * draw(rng, n_x), draw(rng, n_y)
        found = measures.weat(_vectors(x), _vectors(y), _A, _B, permutations=_PERMUTATIONS, seed=seed)
        return _plain(x, y, seed), _found(found.p_value)

    return run


def _lpbs(n_1: int, n_2: int, wide: float, draw: Callable[[np.random.Generator, int], Floats] = _normal) -> Run:
    def run(rng: np.random.Generator, seed: int) -> Outcome:
        one, two = wide * draw(rng, n_1), draw(rng, n_2)
        fill = np.concatenate([one, two])[:, None] - 200
        level, groups = np.full_like(fill, -200.0), [1] * n_1 + [2] * n_2
        found = measures.lpbs(fill, level, level, level, groups=groups, permutations=_PERMUTATIONS, seed=seed)
        assert found.p_value is not None
        return _plain(one, two, seed), _found(found.p_value)

    return run


def _ceat(n_x: int, n_y: int, wide: float, contexts: int = 20, icc: float = 0.3) -> Run:
    def group(rng: np.random.Generator, n: int, sd: float) -> list[Floats]:
        leans = sd * np.sqrt(icc) * rng.normal(size=(n, 1)) + np.sqrt(1 - icc) * rng.normal(size=(n, contexts))
        return [_vectors(row) for row in leans]

    def run(rng: np.random.Generator, seed: int) -> Outcome:
        x, y = group(rng, n_x, wide), group(rng, n_y, 1.0)
        found = measures.ceat(x, y, [_A], [_B], draws=100, permutations=_PERMUTATIONS, seed=seed)
        return _found(found.p_value), _found(found.repaired.p_value)

    return run


def _ceat_covers(n_x: int, n_y: int, wide: float) -> Run:
    return _ceat(n_x, n_y, wide)


def _multi_weat(sizes: tuple[int, ...], spreads: tuple[float, ...]) -> Run:
    def run(rng: np.random.Generator, seed: int) -> Outcome:
        sets = [rng.normal(size=(8, 30)) for _ in range(2)]
        poles = [(each / np.linalg.norm(each, axis=1, keepdims=True)).mean(axis=0) for each in sets]
        axis = (poles[0] - poles[1]) / np.linalg.norm(poles[0] - poles[1])
        groups = []
        for n, wide in zip(sizes, spreads, strict=True):
            words = rng.normal(size=(n, 30))
            groups.append(words + (wide - 1) * np.outer(words @ axis, axis))
        found = measures.multi_weat(groups, sets, permutations=_PERMUTATIONS, seed=seed)
        return False, _found(found.p_value)

    return run
