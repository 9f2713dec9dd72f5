"""How often a test finds what is there: planted leans of independent and of matched words, and Caliskan's ten tests.

    python benchmarks/planted.py                    # 400 runs per row; WEAT 1 to 10 where TILTMETER_DATA is set

Beside ours stands the plain permutation of words, attributes held fixed: what does it cost to count families of words
and to ask about other attributes?
"""

from __future__ import annotations

import argparse
import json
import math
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tiltmeter.measures import weat
from tiltmeter.measures.weat import WeatResult
from tiltmeter.models.registry import load
from tiltmeter.statistics import by_unit, permutation_test

Floats = NDArray[np.float64]
WIDTH = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=2026)
    chosen = parser.parse_args()
    print(f"{'a planted lean, shift in SDs of the scores: how often p <= .05':<66}{'plain':>7}{'ours':>7}{'ratio':>7}")
    for n, shift in ((8, 1.5), (20, 0.9), (20, 0.6), (60, 0.5)):
        plain, ours = power(n, shift, 0.0, chosen.runs, chosen.seed)
        print(
            f"{f'{n} + {n} independent words, shift {shift:g}':<66}{plain:7.2f}{ours:7.2f}{ours / plain:7.2f}",
            flush=True,
        )
    for rho, shift in ((0.3, 0.5), (0.8, 0.5), (0.8, 0.0)):
        plain, ours = power(20, shift, rho, chosen.runs, chosen.seed, matched=True)
        print(
            f"{f'20 + 20 matched words, correlation {rho:g}, shift {shift:g}':<66}{plain:7.2f}{ours:7.2f}", flush=True
        )
    if "TILTMETER_DATA" in os.environ:
        caliskan(Path(os.environ["TILTMETER_DATA"]) / "caliskan_glove")


def power(n: int, shift: float, rho: float, runs: int, seed: int, *, matched: bool = False) -> tuple[float, float]:
    """How often plain and ours find a shift between X and Y; partners share so much of their scores and directions."""
    rng = np.random.default_rng([seed, n, int(10 * shift), int(10 * rho)])
    pole, plain, ours = 3 * np.eye(WIDTH)[0], 0, 0
    partners = [(place, place) for place in range(n)] if matched else []
    for run in range(runs):
        shared = rng.normal(size=(n, WIDTH))
        x, y = (math.sqrt(rho) * shared + math.sqrt(1 - rho) * rng.normal(size=(n, WIDTH)) for _ in range(2))
        x[:, 0] += shift
        a, b = rng.normal(size=(8, WIDTH)) + pole, rng.normal(size=(8, WIDTH)) - pole
        found = weat(x, y, a, b, partners=partners, permutations=999, seed=run)
        plain += plain_p(found, run) <= 0.05
        ours += found.p_value <= 0.05
    return plain / runs, ours / runs


def plain_p(found: WeatResult, seed: int) -> float:
    """The p-value of plain splits of words, two-sided."""
    return permutation_test(by_unit(found.scores_x), by_unit(found.scores_y), permutations=999, seed=seed).p_value


def caliskan(folder: Path) -> None:
    """The ten tests of the paper, on its vectors."""
    model = load(f"static:{folder / 'glove.840B.300d.weat-words.vec'}")
    print(f"\n{'Caliskan et al., GloVe 840B':<34}{'d':>6}{'plain p':>10}{'targets':>10}{'attributes':>12}{'ours':>10}")
    tests = json.loads((folder / "tests.json").read_text(encoding="utf-8"))
    for name, test in ((f"WEAT{number}", tests[f"WEAT{number}"]) for number in range(1, 11)):
        sides = list(test["target"].items()), list(test["attribute"].items())
        lists = [np.array(model.embed_words(list(words)), dtype=np.float64) for side in sides for _, words in side]
        found = weat(*lists)
        of_attributes = found.crossed.by_attributes
        title = f"{name}: {' / '.join(label for label, _ in sides[0])}"[:33]
        numbers = (plain_p(found, 0), found.crossed.by_targets.p_value, of_attributes.p_value if of_attributes else 1.0)
        print(
            f"{title:<34}{found.effect_size:6.2f}{numbers[0]:10.4f}{numbers[1]:10.4f}{numbers[2]:12.4f}{found.p_value:10.4f}"
        )


if __name__ == "__main__":
    main()
