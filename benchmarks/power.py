"""Is what readings say of their own power true, and how often is each verdict said?

    python benchmarks/power.py [--runs 400] [--seed 2033] [--only power|states|level]

First the smallest detectable effect: data with exactly the effect that readings state (on average over such data) are
simulated, measured and tested; the test should find it in 75 to 85% of cases, or the reading says that no result could
be significant. Then the four states of WEAT with words of a known lean. Last the state *level* where the true effect is
the smallest that matters, which should be said in at most 5% of cases, and where it is 0.

Words are random vectors, those of X moved along the axis between the two sets of attributes; attributes are drawn anew
in every run too. All are named as families of their own, but for CEAT, which finds families in the vectors:
it finds some by chance, its variance comes out too large, and so it misses a little more than it could and states a
little more than it needs. The true effect of a move is that of very many words.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiltmeter import measures
from tiltmeter.errors import BadInput
from tiltmeter.measures.geometry import generalise, mean_directions
from tiltmeter.readings import CORRELATION, SHARE, Correction, D, Estimate, Power
from tiltmeter.readings.verdict import judge
from tiltmeter.statistics import correlation, holm, power_of_correlation, power_of_share

Floats = NDArray[np.float64]

_WIDTH, _ATTRIBUTES, _PERMUTATIONS = 50, 8, 299
#: Bias tests of a model in the table of states, all but one of them of nothing.
_FAMILY = 14
_MARGINS = {"d": 0.2, "share": 0.05, "r": 0.1}


@dataclasses.dataclass(frozen=True, slots=True)
class Simulated:
    """One reading of simulated data."""

    effect: Estimate
    power: Power | None


@dataclasses.dataclass(frozen=True, slots=True)
class World:
    """Data that a measure reads: ``read(rng, n, shift)`` of n units (a group), and the true effect of a shift."""

    name: str
    read: Callable[[np.random.Generator, int, float], Simulated]
    truth: Callable[[float], float]
    units: str = "words"
    #: The p-value alone, where it can be had for less than the whole reading.
    test: Callable[[np.random.Generator, int, float], float] | None = None

    def p_value(self, rng: np.random.Generator, n: int, shift: float) -> float:
        if self.test is not None:
            return self.test(rng, n, shift)
        p_value = self.read(rng, n, shift).effect.p_value
        assert p_value is not None  # all are tested
        return p_value

    def shift_of(self, effect: float) -> float:
        """The shift that has this true effect."""
        shifts = np.linspace(0.0, 6.0, 31)
        return float(np.interp(effect, [self.truth(float(shift)) for shift in shifts], shifts))


def _words(rng: np.random.Generator, n: int, shift: float = 0.0) -> Floats:
    words = rng.normal(size=(n, _WIDTH))
    words[:, 0] += shift
    return words


def _poles(rng: np.random.Generator, apart: float = 3.0) -> tuple[Floats, Floats]:
    return _words(rng, _ATTRIBUTES, apart), _words(rng, _ATTRIBUTES, -apart)


def _related(rng: np.random.Generator, n: int, shift: float) -> tuple[Floats, Floats]:
    """A fact about every word, and words that lean by it; long in other directions, so that cosines hardly bend it."""
    fact, words = rng.normal(size=n), _words(rng, n)
    words[:, 1:] *= 3
    words[:, 0] += shift * fact
    return fact, words


def _seen(rng: np.random.Generator, words: Floats, times: int, spread: float) -> Floats:
    """Words in so many sentences each, which move them about."""
    return np.repeat(words, times, axis=0) + spread * rng.normal(size=(len(words) * times, _WIDTH))


def _unit(vectors: Floats) -> Floats:
    scaled: Floats = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return scaled


@functools.cache
def _true_d(spread: float, of_attributes: float, shift: float) -> float:
    """d of very many words in one sentence each, on average over sets of attributes."""
    rng = np.random.default_rng(5)
    found = []
    for _ in range(30):
        # The same words on both sides, so that they differ by the shift alone.
        y = _seen(rng, _words(rng, 500), 1, spread)
        a, b = (_unit(_seen(rng, words, 1, of_attributes)).mean(axis=0) for words in _poles(rng))
        s_x, s_y = _unit(y + shift * np.eye(_WIDTH)[0]) @ (a - b), _unit(y) @ (a - b)
        found.append((s_x.mean() - s_y.mean()) / np.concatenate([s_x, s_y]).std())
    return float(np.mean(found))


@functools.cache
def _true_r(shift: float) -> float:
    rng = np.random.default_rng(6)
    found = []
    for _ in range(20):
        fact, words = _related(rng, 2000, shift)
        near = _unit(words) @ _unit(np.concatenate(_poles(rng, 6.0))).T
        lean = near[:, :_ATTRIBUTES].mean(axis=1) - near[:, _ATTRIBUTES:].mean(axis=1)
        found.append(np.corrcoef(lean / near.std(axis=1), fact)[0, 1])
    return float(np.mean(found))


def _seed(rng: np.random.Generator) -> int:
    return int(rng.integers(1 << 30))


def _targets(
    rng: np.random.Generator, n: int, shift: float, *, alike: float = 0.0, times: int = 1, spread: float = 0.0
) -> tuple[Floats, Floats]:
    """X and Y in so many sentences; with ``alike`` the words are matched, and partners have so much in common."""
    common = rng.normal(size=(n, _WIDTH))
    x, y = (np.sqrt(alike) * common + np.sqrt(1 - alike) * _words(rng, n) for _ in range(2))
    x[:, 0] += shift
    return _seen(rng, x, times, spread), _seen(rng, y, times, spread)


def _options(rng: np.random.Generator, n: int, alike: float = 0.0) -> dict[str, Any]:
    return {
        "partners": [(place, place) for place in range(n)] if alike else [],
        "families": (range(n), range(n), range(_ATTRIBUTES), range(_ATTRIBUTES)),
        "permutations": _PERMUTATIONS,
        "seed": int(rng.integers(1 << 30)),
    }


def _weat(rng: np.random.Generator, n: int, shift: float, *, alike: float = 0.0) -> Simulated:
    sets = *_targets(rng, n, shift, alike=alike), *_poles(rng)
    found = measures.weat(*sets, **_options(rng, n, alike))
    return Simulated(Estimate("d", found.effect_size, D, found.ci, found.p_value), found.power)


def _association(rng: np.random.Generator, n: int, shift: float, *, times: int, spread: float) -> Simulated:
    sets = *_targets(rng, n, shift, times=times, spread=spread), *_poles(rng)
    units = np.repeat(np.arange(n), times)
    found = measures.association(*sets, units_1=units, units_2=units, **_options(rng, n))
    return Simulated(Estimate("d", found.effect_size, D, found.ci, found.p_value), found.power)


def _crossed(
    rng: np.random.Generator, n: int, shift: float, *, alike: float = 0.0, times: int = 1, spread: float = 0.0
) -> float:
    """The p-value of WEAT, SEAT and association, which are one test."""
    x, y = _targets(rng, n, shift, alike=alike, times=times, spread=spread)
    units = np.repeat(np.arange(n), times)
    sets = *(mean_directions(words, units) for words in (x, y)), *(_unit(words) for words in _poles(rng))
    return generalise(*sets, **_options(rng, n, alike)).p_value


def _contexts(rng: np.random.Generator, n: int, shift: float) -> list[Floats]:
    """The words of CEAT in ten contexts each."""
    sets = (_words(rng, n, shift), _words(rng, n), *_poles(rng))
    return [_seen(rng, words, 10, 1.0).reshape(len(words), 10, _WIDTH) for words in sets]


def _ceat(rng: np.random.Generator, n: int, shift: float) -> Simulated:
    contexts = [list(words) for words in _contexts(rng, n, shift)]
    found = measures.ceat(*contexts, draws=200, permutations=_PERMUTATIONS, seed=_seed(rng)).repaired
    return Simulated(Estimate("d", found.effect_size, D, found.ci, found.p_value), found.power)


def _ceat_test(rng: np.random.Generator, n: int, shift: float) -> float:
    means = (_unit(words).mean(axis=1) for words in _contexts(rng, n, shift))
    return generalise(*means, permutations=_PERMUTATIONS, seed=_seed(rng)).p_value


def _lpbs(rng: np.random.Generator, n: int, shift: float) -> Simulated:
    fill = rng.normal(size=(2 * n, 1)) - 50
    fill[:n] += shift
    level = np.full(fill.shape, -50.0)
    groups = np.repeat([0, 1], n)
    found = measures.lpbs(fill, level, level, level, groups=groups, permutations=_PERMUTATIONS, seed=_seed(rng))
    assert found.effect_size is not None  # two groups were named
    return Simulated(Estimate("d", found.effect_size, D, found.ci, found.p_value), found.power)


def _wefat(rng: np.random.Generator, n: int, shift: float) -> Simulated:
    fact, words = _related(rng, n, shift)
    found = measures.wefat(words, *_poles(rng, 6.0), property=fact, permutations=1, seed=_seed(rng)).test
    assert found is not None  # a property was given
    return Simulated(Estimate("r", found.value, CORRELATION, found.ci, found.p_value), found.power)


def _correlation(rng: np.random.Generator, n: int, shift: float) -> Simulated:
    fact = rng.normal(size=n)
    found = correlation(fact, shift * fact + np.sqrt(1 - shift**2) * rng.normal(size=n))
    return Simulated(Estimate("r", found.r, CORRELATION, found.ci, found.p_value), power_of_correlation(n))


def _pairs(rng: np.random.Generator, n: int, shift: float, *, size: int = 1, icc: float = 0.0) -> Simulated:
    """Pairs of sentences; with ``size`` in clusters of so many that are alike, n of them."""
    share = min(0.5 + shift, 1 - 1e-9)
    often = rng.beta(share * (1 / icc - 1), (1 - share) * (1 / icc - 1), size=n) if icc else np.full(n, share)
    clusters = np.repeat(np.arange(n), size)
    won = (rng.random(n * size) < often[clusters]).astype(np.float64)
    options: dict[str, Any] = {"permutations": _PERMUTATIONS, "seed": _seed(rng)}
    found = measures.crows_pairs(won, np.full(won.size, 0.5), clusters=clusters, **options)
    power = power_of_share(won, clusters=clusters, permutations=_PERMUTATIONS)
    return Simulated(Estimate("share", found.score, SHARE, found.ci, found.p_value), power)


def _same(shift: float) -> float:
    return shift


def _of_d(name: str, *, alike: float = 0.0, times: int = 1, spread: float = 0.0) -> World:
    read = (
        functools.partial(_weat, alike=alike)
        if times == 1
        else functools.partial(_association, times=times, spread=spread)
    )
    test = functools.partial(_crossed, alike=alike, times=times, spread=spread)
    return World(name, read, functools.partial(_true_d, spread, 0.0), "pairs" if alike else "words", test)


WEAT = _of_d("weat")
PAIRS = World("pairs", _pairs, _same, "pairs")
WORLDS = (
    WEAT,
    _of_d("weat, matched words", alike=0.7),
    _of_d("seat", times=10, spread=1.0),
    _of_d("association", times=8, spread=2.0),
    World("ceat", _ceat, functools.partial(_true_d, 1.0, 1.0), test=_ceat_test),
    World("lpbs", _lpbs, lambda shift: shift / float(np.sqrt(1 + shift**2 / 4)), "attributes"),
    World("wefat", _wefat, _true_r),
    PAIRS,
    World("pairs, 20 a cluster", functools.partial(_pairs, size=20, icc=0.1), _same, "clusters"),
)
SIZES = (3, 8, 20, 60)


def _generator(seed: int, *what: object) -> np.random.Generator:
    return np.random.default_rng([seed, *"".join(map(str, what)).encode()])


def _stated(world: World, n: int, shift: float, runs: int, rng: np.random.Generator) -> float | None:
    """The effect that readings state on average; None where they say that no result could be significant."""
    stated = [read.power.effect for _ in range(runs) if (read := world.read(rng, n, shift)).power]
    effects = [effect for effect in stated if effect is not None]
    return float(np.mean(effects)) if len(effects) > len(stated) / 2 else None


def found_at_stated(world: World, n: int, runs: int, seed: int) -> tuple[float, float] | None:
    """The effect that is stated, and how often it is found; None where readings say that nothing could be."""
    rng = _generator(seed, world.name, n)
    shift, stated = 0.0, None
    for _ in range(2):  # what is stated without an effect, then what is stated with that one
        stated = _stated(world, n, shift, max(runs // 4, 20), rng)
        if stated is None:
            return None
        shift = world.shift_of(stated)
    assert stated is not None
    return stated, float(np.mean([world.p_value(rng, n, shift) <= 0.05 for _ in range(runs)]))


def states(world: World, n: int, effect: float, runs: int, seed: int) -> Counter[str]:
    """How often each state is said of one test among those of a model."""
    rng, said = _generator(seed, "states", world.name, n, effect), Counter[str]()
    shift = world.shift_of(effect)
    for _ in range(runs):
        read = world.read(rng, n, shift)
        assert read.effect.p_value is not None
        corrected = float(holm([read.effect.p_value, *rng.random(_FAMILY - 1)])[0])
        said[judge(read.effect, control=False, correction=Correction(corrected, _FAMILY), power=read.power).state] += 1
    return said


def _levels() -> list[tuple[str, World, int]]:
    """Tests whose intervals can be short enough."""
    matched = {n: _of_d("", alike=alike) for n, alike in ((4, 0.999), (8, 0.995), (20, 0.99), (60, 0.95))}
    clusters = {n: World("", functools.partial(_pairs, size=400, icc=icc), _same) for n, icc in _CLUSTERS}
    seat = _of_d("", times=10, spread=8.0)
    return [
        *((f"weat, {n} + {n} words, nearly the same, d", world, n) for n, world in matched.items()),
        *((f"seat, {n} + {n} words among much else, d", seat, n) for n in (8, 20)),
        *((f"pairs, {n} clusters of 400, share", world, n) for n, world in clusters.items()),
        ("pairs, 2,000 alone, share", PAIRS, 2000),
        ("correlation, 800 words, r", World("", _correlation, _same), 800),
    ]


_CLUSTERS = ((3, 0.0005), (4, 0.0005), (6, 0.001), (8, 0.001), (20, 0.005), (60, 0.02))


def main() -> None:
    tables = {"power": _show_power, "states": _show_states, "level": _show_level}
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=2033)
    parser.add_argument("--only", choices=tables)
    options = parser.parse_args()
    start = time.perf_counter()
    for name in [options.only] if options.only else tables:
        tables[name](options.runs, options.seed)
    print(f"{options.runs} runs a cell, seed {options.seed}, {time.perf_counter() - start:.0f} s")


def _show_power(runs: int, seed: int) -> None:
    print("found at the effect that is stated to be found in 80% of cases (which effect)")
    print("none: the reading says that no result could be significant; of wefat, that it needs four words")
    print(f"{'units (of each group)':<32}" + "".join(f"{n:>16}" for n in SIZES))
    for world in WORLDS:
        print(f"{f'{world.name} ({world.units})':<32}", end="", flush=True)
        for n in SIZES:
            print(f"{_cell(world, n, runs, seed):>16}", end="", flush=True)
        print()


def _cell(world: World, n: int, runs: int, seed: int) -> str:
    try:
        found = found_at_stated(world, n, runs, seed)
    except BadInput:
        found = None  # too few to be measured at all
    return "none" if found is None else f"{found[1]:.3f} ({found[0]:.2f})"


def _show_states(runs: int, seed: int) -> None:
    names = ("clear", "suggestive", "undecided", "level")
    header = f"WEAT, one of {_FAMILY} bias tests: how often it is said to be"
    print(f"\n{header:<60}" + "".join(f"{name:>12}" for name in names))
    for n in (8, 20, 60):
        for effect in (0.0, 0.2, 0.5, 0.8):
            said = states(WEAT, n, effect, runs, seed)
            print(
                f"{f'{n} + {n} words, true d {effect:g}':<60}"
                + "".join(f"{said[name] / runs:>12.3f}" for name in names)
            )


def _show_level(runs: int, seed: int) -> None:
    print(f"\n{'said to be level':<60}{'at the margin':>16}{'at 0':>8}")
    for label, world, n in _levels():
        margin = _MARGINS[label.rpartition(" ")[2]]
        at_margin, at_none = (states(world, n, effect, runs, seed)["level"] / runs for effect in (margin, 0.0))
        print(f"{f'{label} {margin:g}':<60}{at_margin:>16.3f}{at_none:>8.3f}", flush=True)


if __name__ == "__main__":
    main()
