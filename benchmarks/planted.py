"""How often a test finds what is there: planted leans of independent and of matched words, Caliskan's ten tests, pairs.

    python benchmarks/planted.py                    # 400 runs per row; WEAT 1 to 10 where TILTMETER_DATA is set

Beside ours stands the plain permutation of words, attributes held fixed: what does it cost to count families of words
and to ask about other attributes? Ours is the larger of two p-values; "targets" is the one that holds attributes fixed,
as the plain one does.
"""

from __future__ import annotations

import argparse
import json
import math
import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tiltmeter.measures import weat
from tiltmeter.measures.geometry import unit
from tiltmeter.measures.weat import WeatResult
from tiltmeter.models.registry import load
from tiltmeter.statistics import by_unit, permutation_test
from tiltmeter.stimuli import group
from tiltmeter.stimuli.lexicon.lexicon import matched_words

WIDTH = 50


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=400)
    parser.add_argument("--seed", type=int, default=2026)
    chosen = parser.parse_args()
    columns = f"{'plain':>7}{'targets':>9}{'ours':>7}{'ratio':>7}"
    print(f"{'a planted lean, shift in SDs of the scores: how often p <= .05':<66}{columns}")
    for n, shift in ((8, 1.5), (20, 0.9), (20, 0.6), (60, 0.5)):
        show(f"{n} + {n} independent words, shift {shift:g}", power(n, shift, 0.0, chosen.runs, chosen.seed))
    for rho, shift in ((0.3, 0.5), (0.8, 0.5), (0.8, 0.0)):
        found = power(20, shift, rho, chosen.runs, chosen.seed, matched=True)
        show(f"20 + 20 matched words, correlation {rho:g}, shift {shift:g}", found)
    if "TILTMETER_DATA" in os.environ:
        caliskan(Path(os.environ["TILTMETER_DATA"]) / "caliskan_glove")
    matched_lists()


class Power(NamedTuple):
    """How often each test has a p-value of at most .05."""

    plain: float
    targets: float
    ours: float


def show(name: str, found: Power) -> None:
    ratio = f"{found.ours / found.plain:7.2f}" if found.plain else ""
    print(f"{name:<66}{found.plain:7.2f}{found.targets:9.2f}{found.ours:7.2f}{ratio}", flush=True)


def power(n: int, shift: float, rho: float, runs: int, seed: int, *, matched: bool = False) -> Power:
    """How often a shift between X and Y is found; partners share so much of their scores and directions."""
    rng = np.random.default_rng([seed, n, int(10 * shift), int(10 * rho)])
    pole, found = 3 * np.eye(WIDTH)[0], list[tuple[float, float, float]]()
    partners = [(place, place) for place in range(n)] if matched else []
    for run in range(runs):
        shared = rng.normal(size=(n, WIDTH))
        x, y = (math.sqrt(rho) * shared + math.sqrt(1 - rho) * rng.normal(size=(n, WIDTH)) for _ in range(2))
        a, b = rng.normal(size=(8, WIDTH)) + pole, rng.normal(size=(8, WIDTH)) - pole
        # The words vary along the lean of these attributes, which is not quite the axis that X is shifted along.
        lean = unit(a).mean(axis=0) - unit(b).mean(axis=0)
        x[:, 0] += shift * np.linalg.norm(lean) / lean[0]
        result = weat(x, y, a, b, partners=partners, permutations=999, seed=run)
        found.append((plain_p(result, run), result.crossed.by_targets.p_value, result.p_value))
    return Power(*(np.array(found) <= 0.05).mean(axis=0).tolist())


def plain_p(found: WeatResult, seed: int) -> float:
    """The p-value of plain splits of words, two-sided."""
    return permutation_test(by_unit(found.scores_x), by_unit(found.scores_y), permutations=999, seed=seed).p_value


def caliskan(folder: Path) -> None:
    """The ten tests of the paper, on its vectors."""
    model = load(f"static:{folder / 'glove.840B.300d.weat-words.vec'}")
    head("Caliskan et al., GloVe 840B")
    tests = json.loads((folder / "tests.json").read_text(encoding="utf-8"))
    for name, test in ((f"WEAT{number}", tests[f"WEAT{number}"]) for number in range(1, 11)):
        sides = list(test["target"].items()), list(test["attribute"].items())
        lists = [np.array(model.embed_words(list(words)), dtype=np.float64) for side in sides for _, words in side]
        show_test(f"{name}: {' / '.join(label for label, _ in sides[0])}", weat(*lists))


def matched_lists() -> None:
    """Matched words for men and women between career and family, in the sample vectors."""
    head("he/she, father/mother ... between career and family")
    groups = [group(f"gender.{name}") for name in ("male_terms", "female_terms")]
    groups += [group(f"attributes.{name}") for name in ("career", "family")]
    pairs = [(place, place) for place in range(len(matched_words(groups[0], groups[1])))]
    families = [each.families for each in groups]
    for name in ("word2vec", "glove"):
        model = load(f"bundled:{name}")
        lists = [np.array(model.embed_words(list(each.texts)), dtype=np.float64) for each in groups]
        found = weat(*lists, partners=pairs, families=families)
        show_test(f"{name}, {len(pairs)} pairs in {len(set(families[0] or ()))} families", found)
        found = weat(*lists, partners=pairs, families=[range(len(words)) for words in lists])
        show_test(f"{name}, {len(pairs)} pairs, each for itself", found)


def head(title: str) -> None:
    print(f"\n{title:<46}{'d':>6}{'plain p':>10}{'targets':>10}{'attributes':>12}{'ours':>10}")


def show_test(name: str, found: WeatResult) -> None:
    sides = found.crossed.by_targets.p_value, found.crossed.by_attributes
    of_attributes = sides[1].p_value if sides[1] else 1.0
    numbers = f"{plain_p(found, 0):10.4f}{sides[0]:10.4f}{of_attributes:12.4f}{found.p_value:10.4f}"
    print(f"{name[:45]:<46}{found.effect_size:6.2f}{numbers}", flush=True)


if __name__ == "__main__":
    main()
