"""False positives and coverage where groups differ in size or spread, lists are short or pairs are alike.

    python benchmarks/nulls_groups.py [--runs 500] [--seed 2027]

Every row simulates data in which there is nothing to find, or an interval whose truth is known, and prints how often
the published form and the repaired form say p <= .05 (or cover).
Where a measure was published without a test, the plain form is the permutation test that takes spreads for equal, or
the BCa bootstrap. The attributes of vector measures do differ, as real ones do: the nulls are about the targets.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tiltmeter import measures
from tiltmeter.measures.geometry import leans
from tiltmeter.statistics import bootstrap_interval, by_unit, permutation_test
from tiltmeter.statistics.one_way import one_way_test

Floats = NDArray[np.float64]
#: One run: what the published and the repaired form say.
Run = Callable[[np.random.Generator, int], tuple[bool, bool]]
Draw = Callable[[np.random.Generator, int], Floats]

_ALPHA, _PERMUTATIONS, _WIDTH = 0.05, 499, 50
_A, _B = [[1.0, 0.0]], [[-1.0, 0.0]]


def rows(runs: int = 500, seed: int = 2027, *, only: str = "") -> Iterator[tuple[str, float, float, float]]:
    """Label, nominal rate, rate of the published form, rate of the repaired form, where the label holds ``only``."""
    for place, (label, nominal, run) in enumerate(_rows()):
        if only in label:
            yield label, nominal, *_rates(run, runs, seed + place)


def _rates(run: Run, runs: int, seed: int) -> tuple[float, float]:
    rng = np.random.default_rng(seed)
    published, repaired = np.mean([run(rng, number) for number in range(runs)], axis=0)
    return float(published), float(repaired)


def _rows() -> list[tuple[str, float, Run]]:
    wide = [(10, 40, "10 + 40"), (40, 10, "40 + 10"), (5, 40, "5 + 40"), (40, 5, "40 + 5")]
    return [
        *((f"weat, {name} words, SD 3:1", 0.05, _weat(n, m, 3.0)) for n, m, name in wide),
        ("weat, 5 + 40 words", 0.05, _weat(5, 40, 1.0)),
        ("weat, 20 + 20 words, Student's t with 3 df", 0.05, _weat(20, 20, 1.0, _heavy)),
        ("weat, 20 + 20 words, log-normal scores", 0.05, _weat(20, 20, 1.0, _skewed)),
        *((f"lpbs, {n} + {m} attributes, SD 3:1", 0.05, _lpbs(n, m)) for n, m in ((10, 37), (37, 10))),
        *((f"ceat, {n} + {m} words x 20, SD of words 3:1", 0.05, _ceat(n, m)) for n, m in ((5, 20), (20, 5))),
        ("multi_weat, 5, 10, 20, 30 words, the 5 of SD 3", 0.05, _multi_weat((3, 1, 1, 1))),
        ("multi_weat, 5, 10, 20, 30 words, the 30 of SD 3", 0.05, _multi_weat((1, 1, 1, 3))),
        *((f"cabm, labels of {n} + {m}, SD 3:1", 0.05, _cabm(n, m)) for n, m in ((10, 40), (40, 10))),
        *((f"rnd, {n} + {m} words, SD 3:1", 0.05, _rnd(n, m, 8, 3.0)) for n, m in ((20, 20), (5, 40), (40, 5))),
        *((f"rnd, interval, {n} attributes", 0.95, _rnd(8, 8, n, 1.0, covers=True)) for n in (3, 5, 8)),
        *((f"mac, interval, {n} words", 0.95, _mac(n)) for n in (3, 5, 8, 20)),
        ("pairs, 50 clusters of 30, ICC .1", 0.05, _pairs()),
        ("pairs, interval, 50 clusters of 30, ICC .1", 0.95, _pairs(covers=True)),
        ("several groups, 4, 10, 20, 30 words, the 4 of SD 3", 0.05, _one_way((4, 10, 20, 30), (3, 1, 1, 1))),
        ("several groups, 4, 20, 30 words on 3 scales, the 4 of SD 3", 0.05, _one_way((4, 20, 30), (3, 1, 1), 3)),
        *(
            (f"rnd by cosine, {n} + {n} words, SD {w:g}:1", 0.05, _rnd(n, n, 8, w, by="cos"))
            for n, w in ((8, 1.0), (20, 3.0))
        ),
        ("lpbs, 20 + 20 attributes, 8 + 8 names that favour either group by chance", 0.05, _lpbs_names(20, 8)),
    ]


def _found(p_value: float | None) -> bool:
    return p_value is not None and p_value <= _ALPHA


def _plain(x: Floats, y: Floats, seed: int) -> bool:
    return _found(permutation_test(by_unit(x), by_unit(y), permutations=_PERMUTATIONS, seed=seed).p_value)


def _normal(rng: np.random.Generator, n: int) -> Floats:
    return rng.normal(size=n)


def _heavy(rng: np.random.Generator, n: int) -> Floats:
    return np.clip(rng.standard_t(3, size=n), -70, 70)


def _skewed(rng: np.random.Generator, n: int) -> Floats:
    return np.clip(np.exp(rng.normal(size=n)), 0, 70)


def _leaning(scores: Floats) -> Floats:
    """Unit vectors in a plane that lean so far between A and B, in eightieths."""
    return np.stack([scores / 80, np.sqrt(1 - (scores / 80) ** 2)], axis=1)


def _weat(n_x: int, n_y: int, wide: float, draw: Draw = _normal) -> Run:
    def run(rng: np.random.Generator, seed: int) -> tuple[bool, bool]:
        x, y = wide * draw(rng, n_x), draw(rng, n_y)
        found = measures.weat(_leaning(x), _leaning(y), _A, _B, permutations=_PERMUTATIONS, seed=seed)
        return _plain(x, y, seed), _found(found.p_value)

    return run


def _lpbs(n_1: int, n_2: int) -> Run:
    def run(rng: np.random.Generator, seed: int) -> tuple[bool, bool]:
        one, two = 3 * rng.normal(size=n_1), rng.normal(size=n_2)
        fill = np.concatenate([one, two])[:, None] - 50
        level, groups = np.full_like(fill, -50.0), [1] * n_1 + [2] * n_2
        found = measures.lpbs(fill, level, level, level, groups=groups, permutations=_PERMUTATIONS, seed=seed)
        return _plain(one, two, seed), _found(found.p_value)

    return run


def _lpbs_names(n: int, n_names: int) -> Run:
    """Names for two sides, each with likings of its own: other names would be expected beside other attributes."""

    def run(rng: np.random.Generator, seed: int) -> tuple[bool, bool]:
        likings = np.repeat([[1.0], [-1.0]], n, axis=0) * rng.normal(size=2 * n_names)
        table = likings + rng.normal(size=(2 * n, 1)) + rng.normal(size=(2 * n, 2 * n_names))
        one, two = table[:, :n_names], table[:, n_names:]
        level, groups = np.full((2 * n, 1), -50.0), [1] * n + [2] * n
        fills = [side.mean(axis=1, keepdims=True) - 50 for side in (one, two)]
        found = measures.lpbs(
            fills[0],
            level,
            fills[1],
            level,
            groups=groups,
            by_term=(one, two),
            permutations=_PERMUTATIONS,
            seed=seed,
        )
        leans = np.array(found.associations)
        return _plain(leans[:n], leans[n:], seed), _found(found.p_value)

    return run


def _ceat(n_x: int, n_y: int, icc: float = 0.3) -> Run:
    def words(rng: np.random.Generator, n: int, wide: float) -> list[Floats]:
        of_words = wide * math.sqrt(icc) * rng.normal(size=(n, 1))
        return [_leaning(of_word) for of_word in of_words + math.sqrt(1 - icc) * rng.normal(size=(n, 20))]

    def run(rng: np.random.Generator, seed: int) -> tuple[bool, bool]:
        x, y = words(rng, n_x, 3.0), words(rng, n_y, 1.0)
        found = measures.ceat(x, y, [_A], [_B], draws=100, permutations=_PERMUTATIONS, seed=seed)
        return _found(found.p_value), _found(found.repaired.p_value)

    return run


def _multi_weat(spreads: tuple[float, ...]) -> Run:
    sizes = (5, 10, 20, 30)

    def run(rng: np.random.Generator, seed: int) -> tuple[bool, bool]:
        axis = rng.normal(size=_WIDTH)
        axis /= np.linalg.norm(axis)
        sets = [side * 5 * axis + rng.normal(size=(8, _WIDTH)) for side in (1, -1)]
        groups = []
        for n, wide in zip(sizes, spreads, strict=True):
            words = rng.normal(size=(n, _WIDTH))
            groups.append(words + (wide - 1) * np.outer(words @ axis, axis))
        found = measures.multi_weat(groups, sets, permutations=_PERMUTATIONS, seed=seed)
        return _between_groups(groups, sets, seed), _found(found.p_value)

    return run


def _one_way(sizes: tuple[int, ...], spreads: tuple[float, ...], scales: int = 1) -> Run:
    def run(rng: np.random.Generator, seed: int) -> tuple[bool, bool]:
        groups = [wide * rng.normal(size=(n, scales)) for n, wide in zip(sizes, spreads, strict=True)]
        found = one_way_test(groups, [np.arange(n) for n in sizes], permutations=_PERMUTATIONS, seed=seed)
        return _dealt(np.concatenate(groups), sizes, seed), found is not None and _found(found.p_value)

    return run


def _between_groups(groups: list[Floats], sets: list[Floats], seed: int) -> bool:
    return _dealt(leans(np.concatenate(groups), *sets)[:, None], [len(group) for group in groups], seed)


def _dealt(scores: Floats, sizes: Sequence[int], seed: int) -> bool:
    """The plain form: the sum of squares between groups, words dealt to them at random."""
    scores = scores - scores.mean(axis=0)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    rng = np.random.default_rng(seed)
    dealt = np.stack([labels, *(rng.permutation(labels) for _ in range(_PERMUTATIONS))])
    between = sum((((dealt == g) @ scores) ** 2).sum(axis=1) / n for g, n in enumerate(sizes))
    return bool(np.mean(between >= between[0] - 1e-12) <= _ALPHA)


def _cabm(n_1: int, n_2: int) -> Run:
    def run(rng: np.random.Generator, seed: int) -> tuple[bool, bool]:
        scores = np.concatenate([3 * rng.normal(size=n_1), rng.normal(size=n_2)])
        found = measures.validate(scores, labels=[1] * n_1 + [2] * n_2, seed=seed).by_label
        assert found is not None  # both labels occur
        return _found(found.p_value), _found(found.repaired_p_value)

    return run


def _rnd(n_x: int, n_y: int, n: int, wide: float, *, by: Literal["norm", "cos"] = "norm", covers: bool = False) -> Run:
    def run(rng: np.random.Generator, seed: int) -> tuple[bool, bool]:
        attributes = 1.5 * rng.normal(size=_WIDTH) + rng.normal(size=(n, _WIDTH))
        # A direction is one only if the words of both groups have it in common.
        middle = rng.normal(size=_WIDTH) if by == "cos" else 0.0
        x, y = middle + wide * rng.normal(size=(n_x, _WIDTH)), middle + rng.normal(size=(n_y, _WIDTH))
        found = measures.rnd(x, y, attributes, distance=by, permutations=1 if covers else _PERMUTATIONS, seed=seed)
        if covers:
            return 0 in bootstrap_interval(found.by_attribute, seed=seed), 0 in found.repaired.ci
        return _found(found.p_value), _found(found.repaired.p_value)

    return run


def _mac(n: int) -> Run:
    def draw(rng: np.random.Generator, size: int) -> Floats:
        return rng.normal(size=(size, _WIDTH)) + 0.3

    fixed = np.random.default_rng(n)
    sets = [fixed.normal(size=(6, _WIDTH)) + 0.5 for _ in range(2)]
    truth = _distance(draw(fixed, 20_000), sets)

    def run(rng: np.random.Generator, seed: int) -> tuple[bool, bool]:
        found = measures.mac(draw(rng, n), sets)
        return truth in bootstrap_interval(np.mean(found.by_target, axis=1), seed=seed), truth in found.ci

    return run


def _distance(words: Floats, sets: list[Floats]) -> float:
    """The mean cosine distance, without an interval: families of 20,000 words would take long to find."""
    units = [each / np.linalg.norm(each, axis=1, keepdims=True) for each in (words, *sets)]
    return float(np.mean([1 - units[0] @ each.T for each in units[1:]]))


def _pairs(*, covers: bool = False) -> Run:
    clusters = np.repeat(np.arange(50), 30)

    def run(rng: np.random.Generator, seed: int) -> tuple[bool, bool]:
        won = (rng.random(clusters.size) < rng.beta(4.5, 4.5, size=50)[clusters]).astype(np.float64)
        other = np.full(clusters.size, 0.5)
        found = measures.crows_pairs(won, other, clusters=clusters, permutations=_PERMUTATIONS, seed=seed)
        if covers:
            return 0.5 in measures.crows_pairs(won, other).ci, 0.5 in found.ci
        return _found(found.published.p_value), _found(found.p_value)

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=500)
    parser.add_argument("--seed", type=int, default=2027)
    options = parser.parse_args()
    start = time.perf_counter()
    print(f"{'':<58}{'nominal':>9}{'published':>11}{'repaired':>10}")
    for label, nominal, published, repaired in rows(options.runs, options.seed):
        print(f"{label:<58}{nominal:>9.2f}{published:>11.3f}{repaired:>10.3f}", flush=True)
    print(f"{options.runs} runs a row, {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
