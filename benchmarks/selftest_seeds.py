"""Where the limits of `tiltmeter selftest` come from. Run: python benchmarks/selftest_seeds.py [--file FILE]

For every quantity that the self-test reads on reference models: its distribution over the seeds A to B and its limits.
On planted vectors they follow from these seeds. They are Student's limits for one more, mean -+ t SD sqrt(1 + 1/n),
beyond which a normal quantity falls once in 50,000 (correlations as Fisher's z, widths of intervals as logarithms),
rounded outwards to two decimals; 25 of them together then fail on correct code about once in 2,000 runs. A p-value must
be at most .05. On trained models they do not: they are what chance does not reach, and how far the seeds are from them,
and what the same rule would give, is what this prints. The proof counts how many of the seeds C to D, which had no part
in the limits, are outside those in the code. With --file what was read is kept there, and a seed that it has is not
read again; --kinds vectors leaves out the models that must be trained, which take half a minute for each seed.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from tiltmeter.lab.calibrate.bench import EVERY_KIND, BenchKind
from tiltmeter.lab.calibrate.selftest import LIMITS, ORDER, P_VALUE, SMALL, WIDTH, Quantity, Range, quantities
from tiltmeter.readings import ALPHA

#: On either side.
OUTSIDE = 1e-5
#: Their numbers are correlations.
CORRELATIONS = ("WEFAT",)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=seeds, default=range(100, 150), metavar="A-B", help="that limits follow from")
    parser.add_argument("--proof", type=seeds, default=range(150, 170), metavar="C-D", help="that are to pass")
    parser.add_argument("--kinds", nargs="+", choices=EVERY_KIND, default=EVERY_KIND)
    parser.add_argument("--file", type=Path, help="of what was read, one line per seed and kind")
    asked = parser.parse_args()
    for kind in asked.kinds:
        print_limits([read(kind, seed, asked.file) for seed in asked.seeds])
        wrong = [seed for seed in asked.proof if list(outside(read(kind, seed, asked.file)))]
        print(f"{kind}: {len(wrong)} of {len(asked.proof)} other seeds fail {wrong or ''}\n", flush=True)


def seeds(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def read(kind: BenchKind, seed: int, file: Path | None) -> dict[Quantity, float]:
    """From the file where it is there, and into it where it is not."""
    lines = file.read_text(encoding="utf-8").splitlines() if file and file.is_file() else []
    for line in map(json.loads, lines):
        if (line["kind"], line["seed"]) == (kind, seed):
            return {(measure, what): value for measure, what, value in line["read"]}
    found = quantities(SMALL, seed, None, [kind])
    if file:
        rows = [[*quantity, value] for quantity, value in found.items()]
        with file.open("a", encoding="utf-8") as kept:
            kept.write(json.dumps({"kind": kind, "seed": seed, "read": rows}) + "\n")
    return found


def print_limits(found: Sequence[dict[Quantity, float]]) -> None:
    print(f"{'quantity':<74}{'n':>3}{'mean':>9}{'SD':>8}{'least':>9}{'most':>9}  limits by the rule; in the code")
    for quantity in found[0]:
        values = np.array([by_quantity[quantity] for by_quantity in found])
        print(f"{', '.join(quantity):<74}{values.size:>3}{values.mean():9.3f}{values.std(ddof=1):8.3f}", end="")
        print(f"{values.min():9.3g}{values.max():9.3g}", f" {limits_of(quantity, values)};", end=" ")
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


def outside(found: dict[Quantity, float]) -> Iterator[Quantity]:
    """The quantities that the limits in the code do not hold."""
    for quantity, value in found.items():
        if quantity in LIMITS and not LIMITS[quantity].holds(value):
            print(f"  outside: {', '.join(quantity)} is {value:.4g}, not {LIMITS[quantity]}")
            yield quantity


if __name__ == "__main__":
    main()
