"""Where the limits of `tiltmeter selftest` come from. Run: python benchmarks/selftest_seeds.py --seeds A-B [--proof C-D]

For every quantity that the self-test reads on reference models: its distribution over the seeds A to B, and the limits
that follow. They are Student's limits for one more seed, mean -+ t SD sqrt(1 + 1/n), beyond which a normal quantity
falls once in 50,000 (correlations as Fisher's z, widths of intervals as logarithms), rounded outwards to two decimals;
all checks together then fail on correct code about once in 1,500 runs. A p-value must be at most .05. The proof runs the self-test, with the limits that are in the code, on seeds that
had no part in them, and counts how many fail. --kinds vectors leaves out the models that must be trained, which take a
quarter of a minute a seed.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from tiltmeter.lab.calibrate.bench import EVERY_KIND, BenchKind
from tiltmeter.lab.calibrate.selftest import LIMITS, ORDER, P_VALUE, SMALL, WIDTH, Quantity, Range, quantities, selftest
from tiltmeter.models import VectorStore
from tiltmeter.readings import ALPHA

#: On either side.
OUTSIDE = 1e-5
#: Their numbers are correlations.
CORRELATIONS = ("unmasking (shares)", "WEFAT")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=seeds, default=range(100, 150), metavar="A-B", help="whose limits are printed")
    parser.add_argument("--proof", type=seeds, default=range(150, 170), metavar="C-D", help="that are to pass")
    parser.add_argument("--kinds", nargs="+", choices=EVERY_KIND, default=EVERY_KIND)
    asked = parser.parse_args()
    start = time.perf_counter()
    with VectorStore() as store:
        print_limits([quantities(SMALL, seed, store, asked.kinds) for seed in asked.seeds])
        print(f"proof: {proof(asked.proof, asked.kinds, store)}; {time.perf_counter() - start:.0f} s")


def seeds(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def print_limits(found: Sequence[dict[Quantity, float]]) -> None:
    print(f"{'quantity':<82}{'n':>4}{'mean':>9}{'SD':>9}{'least':>9}{'most':>9}  limits by the rule; in the code")
    for quantity in found[0]:
        values = np.array([by_quantity[quantity] for by_quantity in found])
        numbers = "".join(f"{number:9.3g}" for number in (values.mean(), values.std(ddof=1), values.min(), values.max()))
        print(f"{', '.join(quantity):<82}{values.size:>4}{numbers}  {limits_of(quantity, values)}", end="; ")
        print(LIMITS.get(quantity, "not checked"), flush=True)


def limits_of(quantity: Quantity, values: NDArray[np.float64]) -> Range:
    """The limits that follow from the values of a quantity over seeds."""
    measure, what = quantity
    if what == P_VALUE:
        return Range(0.0, ALPHA)
    as_z = what == ORDER or (what != WIDTH and measure in CORRELATIONS)
    there, back = (np.arctanh, np.tanh) if as_z else (np.log, np.exp) if what == WIDTH else (np.positive, np.positive)
    moved, n = there(values), values.size
    reach = float(stdtrit(n - 1, 1 - OUTSIDE)) * moved.std(ddof=1) * math.sqrt(1 + 1 / n)
    low, high = (float(back(end)) for end in (moved.mean() - reach, moved.mean() + reach))
    return Range(math.floor(100 * low) / 100, 1.0 if what == ORDER else math.ceil(100 * high) / 100)


def proof(chosen: range, kinds: Sequence[BenchKind], store: VectorStore) -> str:
    failed = {}
    for seed in chosen:
        wrong = [check.what for check in selftest(seed=seed, store=store, kinds=kinds) if not check.passed]
        if wrong:
            failed[seed] = wrong
            print(f"seed {seed} fails: {', '.join(wrong)}", flush=True)
    # With no failure in n the share is below 3 / n, 95 times of 100.
    return f"{len(failed)} of {len(chosen)} other seeds fail"


if __name__ == "__main__":
    main()
