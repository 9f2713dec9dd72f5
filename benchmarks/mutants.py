"""Would a test notice? Wrong versions of the code that decide what is significant, each put to the tests beside it.

    python benchmarks/mutants.py [NAME ...]

Every mutant is a copy of the package in which one expression is another, such as a plain difference where one in
standard errors belongs. Printed is the first test that fails on it. A mutant that no test notices, or whose expression
is no longer in the code, ends the run with code 1.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]


class Mutant(NamedTuple):
    """What is replaced by what in a module, and the tests that should mind."""

    module: str
    old: str
    new: str
    tests: str


MUTANTS = {
    "the sign of d is turned": Mutant(
        "statistics/groups.py",
        "float((x.means.mean() - y.means.mean()) / math.sqrt(variance",
        "float((y.means.mean() - x.means.mean()) / math.sqrt(variance",
        "tests/measures/test_weat.py",
    ),
    "differences are not in standard errors": Mutant(
        "statistics/families.py",
        "(means[0] - means[1]) / np.sqrt(variance)",
        "(means[0] - means[1]) + 0 * variance",
        "tests/statistics/test_families.py",
    ),
    "several groups are compared by a plain F": Mutant(
        "statistics/one_way.py",
        "weights.append(1 / np.maximum(variance,",
        "weights.append(n + 0 * np.maximum(variance,",
        "tests/statistics/test_one_way.py",
    ),
    "words are permuted, not families": Mutant(
        "statistics/families.py",
        "of_x, of_y = as_labels(families_x, x.size), as_labels(families_y, y.size)",
        "of_x, of_y = as_labels(None, x.size), as_labels(None, y.size)",
        "tests/statistics/test_families.py",
    ),
    "pairs are flipped, not families of pairs": Mutant(
        "statistics/families.py",
        "labels = as_labels(families, values.size)\n    sums",
        "labels = as_labels(None, values.size)\n    sums",
        "tests/statistics/test_families.py",
    ),
    "LPBS takes the terms of either side for fixed": Mutant(
        "measures/lpbs.py",
        "crossed.headline,",
        "crossed.by_targets,",
        "tests/measures/test_lpbs.py",
    ),
    "one-sided where two-sided is asked for": Mutant(
        "statistics/permutation.py",
        "np.count_nonzero(np.abs(null) >= abs(observed) - tolerance)",
        "np.count_nonzero(null >= observed - tolerance)",
        "tests/statistics/test_permutation.py",
    ),
    "the floor of another probe": Mutant(
        "compare/floor.py",
        "noise.probes.get(reading.id) if noise",
        "next(iter(noise.probes.values()), None) if noise",
        "tests/compare/test_floor.py",
    ),
    "the sample floor of another probe": Mutant(
        "compare/sample_floor.py",
        "return table.get((kind, scale)) or",
        "return next(iter(table.values())) or",
        "tests/compare/test_floor.py",
    ),
    "the interval of d by the normal distribution": Mutant(
        "statistics/intervals.py",
        "float(stdtrit(degrees, (1 + level) / 2))",
        "float(stdtrit(1e9 + 0 * degrees, (1 + level) / 2))",
        "tests/statistics/test_intervals.py",
    ),
    "the interval of d without n / (n - 1)": Mutant(
        "statistics/intervals.py",
        "variance = inflation * smaller / (smaller - 1) * float(",
        "variance = inflation * float(",
        "tests/statistics/test_intervals.py",
    ),
}


def main(names: list[str]) -> int:
    missed = 0
    for name in names or MUTANTS:
        said = put_to_tests(MUTANTS[name])
        missed += said is None
        print(f"{name:<48}{said or 'NOT NOTICED'}", flush=True)
    return min(missed, 1)


def put_to_tests(mutant: Mutant) -> str | None:
    """The first test that fails on a mutant; None where none does or the mutant cannot be made."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        module = source / "tiltmeter" / mutant.module
        text = module.read_text(encoding="utf-8")
        if text.count(mutant.old) != 1:
            print(f"{mutant.module} does not hold {mutant.old!r} once: mend this mutant")
            return None
        module.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", mutant.tests]
        ran = subprocess.run(
            command,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(source)},
            capture_output=True,
            text=True,
            check=False,
        )
    failed = [line.split(" - ")[0].removeprefix("FAILED ") for line in ran.stdout.splitlines() if "FAILED " in line]
    return failed[0] if ran.returncode == 1 and failed else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
