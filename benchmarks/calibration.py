"""Calibration of the statistics on scores whose truth is known. Run: python benchmarks/calibration.py [--quick]

False positives: how often p <= .05 where no bias was planted. Coverage: how often a 95% interval holds the
planted effect. Scores are simulated and given to the functions that the measures call; a smaller number of
whole measurements, on vectors that lean exactly so far, shows that it is the same thing.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tiltmeter.measures import association, weat
from tiltmeter.statistics import UnitScores, by_unit, concatenated_d, effect_interval, permutation_test, welch_test

Floats = NDArray[np.float64]
#: Two groups of scores, one row a word, one column a sentence.
Draw = Callable[[np.random.Generator], tuple[Floats, Floats]]

WORDS, SENTENCES = 11, 90
EFFECTS = (0.0, 0.5, 0.9, 1.4, 1.66)
RESAMPLES = 1_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the simulations")
    share = 10 if parser.parse_args().quick else 1
    start = time.perf_counter()
    print("False positives: share of p <= .05 where no bias was planted (nominal .05)")
    for label, rate in false_positives(2_000 // share):
        print(f"  {label:<76} {rate:6.3f}", flush=True)
    print(f"  whole measurements with the p-value of their scores: {whole_measurements(200 // share)}")
    print("\nCoverage of 95% intervals, by planted effect (in SDs of all scores)")
    print(f"  {'':<50}" + "".join(f"{effect:>7}" for effect in EFFECTS))
    for label, rates in coverages(500 // share):
        print(f"  {label:<50}" + "".join(f"{rate:7.3f}" for rate in rates), flush=True)
    print(f"\n{time.perf_counter() - start:.0f} s")


def false_positives(simulations: int) -> Iterator[tuple[str, float]]:
    """Ours for words and for words in sentences, and the published per-sentence test beside it."""
    for n in (8, 25):
        yield f"WEAT, {n} + {n} words", _rate(normal(n), _by_word, simulations)
    for word_sd in (0.0, 0.3, 1.0):
        draw = normal(WORDS, sentences=SENTENCES, word_sd=word_sd, sentence_sd=1.0)
        label = f"association, {WORDS} + {WORDS} words x {SENTENCES} sentences, word SD {word_sd:g} x sentence SD"
        yield label, _rate(draw, _by_word, simulations)
        yield "   the same, every sentence its own unit, as published", _rate(draw, _by_sentence, simulations)


def _rate(draw: Draw, p_value: Callable[[Floats, Floats, int], float], simulations: int) -> float:
    rng = np.random.default_rng(1)
    return float(np.mean([p_value(*draw(rng), seed) <= 0.05 for seed in range(simulations)]))


def _by_word(x: Floats, y: Floats, seed: int, *, permutations: int = 999) -> float:
    # 999 draws, where splits are sampled at all: the level of the test does not depend on their number.
    return welch_test(_words(x).means, _words(y).means, permutations=permutations, seed=seed).p_value


def _by_sentence(x: Floats, y: Floats, seed: int) -> float:
    return permutation_test(by_unit(x.ravel()), by_unit(y.ravel()), permutations=99, seed=seed).p_value


def _words(scores: Floats) -> UnitScores:
    return by_unit(scores.ravel(), np.repeat(np.arange(len(scores)), scores.shape[1]))


def whole_measurements(simulations: int) -> str:
    """Measures vectors that lean as far as the scores say, and compares the p-values."""
    rng = np.random.default_rng(2)
    a, b = np.eye(3)[:1], -np.eye(3)[:1]
    same = 0
    for seed in range(simulations):
        x, y = (0.1 * scores for scores in normal(8)(rng))
        found = weat(leaning(x), leaning(y), a, b, permutations=999, seed=seed)
        same += bool(np.isclose(found.p_value, _by_word(x, y, seed), rtol=1e-9))
        x, y = (0.1 * scores for scores in normal(WORDS, sentences=5, sentence_sd=1.0)(rng))
        units = np.repeat(np.arange(WORDS), 5)
        sets = association(leaning(x), leaning(y), a, b, units_1=units, units_2=units, permutations=99, seed=seed)
        same += bool(np.isclose(sets.p_value, _by_word(x, y, seed, permutations=99), rtol=1e-9))
        same += bool(np.isclose(sets.published.p_value, _by_sentence(x, y, seed), rtol=1e-9))
    return f"{same} of {3 * simulations}"


def leaning(scores: Floats) -> Floats:
    """Unit vectors whose lean between the attributes (1, 0, 0) and (-1, 0, 0), 2 cos, is the score."""
    cosine = scores.ravel() / 2
    return np.stack([cosine, np.sqrt(1 - cosine**2), np.zeros(cosine.size)], axis=1)


def coverages(simulations: int) -> Iterator[tuple[str, list[float]]]:
    """Ours for four kinds of scores, and the intervals that were not chosen for normal ones."""
    for n in (8, 25, 100):
        kinds = {
            "normal": normal,
            "skewed (exponential)": skewed,
            "heavy tails (Student's t, 3 df)": heavy,
            "clustered (20 sentences)": clustered,
        }
        for kind, make in kinds.items():
            label = f"{n} + {n} words, {kind}"
            yield label, [coverage(make(n, effect), effect, simulations) for effect in EFFECTS]
    others: tuple[Literal["percentile", "BCa"], ...] = ("percentile", "BCa")
    for method in others:
        for n in (8, 25):
            rates = [coverage(normal(n, effect), effect, simulations // 2, method=method) for effect in EFFECTS]
            yield f"   not chosen: {method}, {n} + {n} words, normal", rates


def coverage(
    draw: Draw, effect: float, simulations: int, *, method: Literal["ours", "percentile", "BCa"] = "ours"
) -> float:
    """The share of intervals that hold the planted effect."""
    rng = np.random.default_rng([3, round(100 * effect)])
    hits = 0
    for seed in range(simulations):
        x, y = draw(rng)
        if method == "ours":
            group_x, group_y = _words(x), _words(y)
            d = concatenated_d(group_x, group_y)
            hits += effect in effect_interval(group_x, group_y, d=d, resamples=RESAMPLES, seed=seed)
        else:
            low, high = _scipys(x[:, 0], y[:, 0], method, seed)
            hits += low <= effect <= high
    return hits / simulations


def _scipys(x: Floats, y: Floats, method: Literal["percentile", "BCa"], seed: int) -> tuple[float, float]:
    from scipy.stats import bootstrap

    def d(a: Floats, b: Floats, axis: int = -1) -> Floats:
        difference = a.mean(axis) - b.mean(axis)
        result: Floats = difference / np.concatenate([a, b], axis=axis).std(axis=axis, ddof=1)
        return result

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # where BCa fails it warns and answers NaN, which holds nothing
        ends = bootstrap((x, y), d, n_resamples=RESAMPLES, method=method, rng=seed).confidence_interval
    return float(ends.low), float(ends.high)


def normal(n: int, effect: float = 0.0, *, sentences: int = 1, word_sd: float = 1.0, sentence_sd: float = 0.0) -> Draw:
    """Normal scores of n words a group with a true effect in concatenated SDs."""
    sd = float(np.hypot(word_sd, sentence_sd))

    def draw(rng: np.random.Generator) -> tuple[Floats, Floats]:
        shape = (2, n, sentences)
        scores = word_sd * rng.normal(size=(2, n, 1)) + sentence_sd * rng.normal(size=shape)
        return scores[0] + sd * _gap(effect), scores[1]

    return draw


def skewed(n: int, effect: float) -> Draw:
    """Exponential scores: most words lean little, a few very much."""

    def draw(rng: np.random.Generator) -> tuple[Floats, Floats]:
        scores = rng.exponential(size=(2, n, 1))
        return scores[0] + _gap(effect), scores[1]

    return draw


def heavy(n: int, effect: float) -> Draw:
    """Scores of which a few lie far out: their SD is hardly known from any list of words."""

    def draw(rng: np.random.Generator) -> tuple[Floats, Floats]:
        scores = rng.standard_t(3, size=(2, n, 1)) / np.sqrt(3)
        return scores[0] + _gap(effect), scores[1]

    return draw


def clustered(n: int, effect: float) -> Draw:
    """Twenty sentences a word, words half as different as sentences."""
    return normal(n, effect, sentences=20, word_sd=0.5, sentence_sd=1.0)


def _gap(effect: float) -> float:
    """The difference of means D, in SDs within groups, with D / sqrt(1 + D^2 / 4) = effect."""
    return effect / float(np.sqrt(1 - effect**2 / 4))


if __name__ == "__main__":
    main()
