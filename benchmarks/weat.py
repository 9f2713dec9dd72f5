"""Speed of WEAT with p-value and interval against WEFE, of association, of placebos, and of the import.

Run: python benchmarks/weat.py. Nearly all of its minutes are WEFE's, for one query with 10,000 draws; without an
environment that holds WEFE (`make peers` makes one) that comparison is left out.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

import peers
from row import Row, show
from tiltmeter import measures
from tiltmeter.measures import association, weat

WORDS, SENTENCES, ATTRIBUTES = 11, 90, 450
IMPORT = """
import sys, time
start = time.perf_counter()
import tiltmeter
print(time.perf_counter() - start, "torch" in sys.modules)
"""


def bench() -> list[Row]:
    rng = np.random.default_rng(0)
    return [_against_wefe(rng), _larger(rng), _sentences(rng), _placebos(rng), _import()]


def _against_wefe(rng: np.random.Generator) -> Row:
    what = "WEAT, 8+8 / 8+8 words x 300, with p and interval"
    sets = [rng.normal(size=(8, 300)) for _ in range(4)]
    wefe: float | None = None
    if peers.python().exists():
        answers = peers.ask([peers.EXAMPLE])
        query = next(each for each in answers["queries"] if "test" in each)
        sets, wefe = peers.vectors(query, answers), query["test"]["seconds"]
    ours = median(lambda: weat(*sets, permutations=10_000), calls=200)
    target, fast = "<= 5 ms, >= 10,000 x", ours <= 0.005
    if wefe is None:
        return Row(what, f"{ours * 1e3:.1f} ms", "no WEFE: make peers", None, target, None)
    met = fast and wefe / ours >= 10_000
    return Row(what, f"{ours * 1e3:.1f} ms", f"{wefe:.0f} s (WEFE, p only)", wefe / ours, target, met)


def _larger(rng: np.random.Generator) -> Row:
    sets = [rng.normal(size=(25, 300)) for _ in range(4)]
    ours = median(lambda: weat(*sets, permutations=10_000), calls=100)
    what = "WEAT, 25+25 / 25+25 words x 300, with p and interval"
    return Row(what, f"{ours * 1e3:.1f} ms", target="<= 15 ms", met=ours <= 0.015)


def _sentences(rng: np.random.Generator) -> Row:
    targets = [rng.normal(size=(WORDS * SENTENCES, 384)) for _ in range(2)]
    attributes = [rng.normal(size=(ATTRIBUTES, 384)) for _ in range(2)]
    units: NDArray[np.intp] = np.repeat(np.arange(WORDS), SENTENCES)
    ours = median(lambda: association(*targets, *attributes, units_1=units, units_2=units), calls=5)
    what = f"association, {WORDS * SENTENCES}+{WORDS * SENTENCES} x {ATTRIBUTES}+{ATTRIBUTES} sentences x 384"
    return Row(what, f"{ours * 1e3:.0f} ms", target="< 1 s", met=ours < 1)


def _placebos(rng: np.random.Generator) -> Row:
    """The slowest of those that probes have: 60 words, 8 + 8 others or 10 pairs, 1,000 draws of neutral words."""
    words, neutral = rng.normal(size=(60, 300)), rng.normal(size=(400, 300))
    work: dict[str, Callable[[], object]] = {
        "WEAT": lambda: measures.weat_placebo(words[:30], words[30:], neutral, d=0.5, sizes=(8, 8)),
        "multi-group WEAT": lambda: measures.multi_weat_placebo(
            np.split(words, 6), neutral, eta=0.5, sizes=(8, 8, 8, 8)
        ),
        "MAC": lambda: measures.mac_placebo(words, neutral, score=0.5, sizes=(8, 8)),
        "RND": lambda: measures.rnd_placebo(words[:30], words[30:], neutral, score=0.5, n=16),
        "ECT": lambda: measures.ect_placebo(words[:30], words[30:], neutral, score=0.5, n=60),
        "WEFAT": lambda: measures.wefat_placebo(words, neutral, range(60), r=0.5, sizes=(8, 8)),
        "SemAxis": lambda: measures.axis_placebo(words, neutral, value=0.5, sizes=(8, 8)),
        "RIPA": lambda: measures.ripa_placebo(words, neutral, value=0.5, n_pairs=10),
        "direct bias": lambda: measures.direct_bias_placebo(words, neutral, value=0.5, n_pairs=10),
        "neighbour bias": lambda: measures.neighbour_placebo(
            words, measures.leans_between(words, neutral, n_pairs=10), value=0.5, k=12
        ),
        "cluster bias": lambda: measures.cluster_placebo(
            words, measures.leans_between(words, neutral, n_pairs=10), value=0.5
        ),
    }
    seconds = {name: median(run, calls=5) for name, run in work.items()}
    slowest = max(seconds, key=seconds.__getitem__)
    what = f"placebo of a probe of words, the slowest of {len(work)} ({slowest})"
    return Row(what, f"{seconds[slowest] * 1e3:.0f} ms", target="< .2 s", met=seconds[slowest] < 0.2)


def _import() -> Row:
    seconds, torch = [], False
    for _ in range(5):
        answer = subprocess.run(
            [sys.executable, "-c", IMPORT], capture_output=True, text=True, check=True
        ).stdout.split()
        seconds.append(float(answer[0]))
        torch = torch or answer[1] == "True"
    ours = statistics.median(seconds)
    return Row("import tiltmeter", f"{ours:.3f} s", target="< .3 s, without torch", met=ours < 0.3 and not torch)


def median(work: Callable[[], object], *, calls: int) -> float:
    """Median seconds of a call, after one to warm up."""
    work()
    seconds = []
    for _ in range(calls):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def main() -> None:
    show(bench())


if __name__ == "__main__":
    main()
