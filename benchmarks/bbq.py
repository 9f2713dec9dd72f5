"""BBQ as published and repaired, category by category. Run: python benchmarks/bbq.py [MODEL] [--out FOLDER]

Asks the model for the likelihood of all answers (suite ``bbq``; what is stored is not asked again), and prints a table
and the time that it took.
"""

from __future__ import annotations

import argparse
import sys
import time

from tiltmeter import audit
from tiltmeter.readings import Reading
from tiltmeter.readings.details.sentences import BbqDetails

COLUMNS = (
    "category", "examples", "correct, open / given", "open: published", "open: repaired (95% interval)",
    "given: published", "given: repaired (95% interval)",
)  # fmt: skip


def line(reading: Reading) -> str:
    """One category: accuracy and scores where the text leaves the answer open, and where it gives it."""
    assert isinstance(reading.details, BbqDetails)
    result = reading.details.result
    cells = [reading.title.removeprefix("BBQ, "), f"{sum(result.n.values()):,}"]
    cells.append(" / ".join(f"{result.accuracy[condition]:.1%}" for condition in ("ambig", "disambig")))
    for condition in ("ambig", "disambig"):
        lean = result.repaired[condition]
        cells += [
            f"{result.bias_score[condition]:+.3f}",
            f"{lean.value:+.3f} ({lean.ci.low:+.3f} to {lean.ci.high:+.3f})",
        ]
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="?", default="bundled:smollm2")
    parser.add_argument("--out", default="tiltmeter-results/bbq")
    options = parser.parse_args()
    wall, cpu = time.perf_counter(), time.process_time()
    made = audit([options.model], suite="bbq", out=options.out, progress=sys.stderr.isatty())
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    print(f"\n| {' | '.join(COLUMNS)} |\n|{' --- |' * len(COLUMNS)}")
    for reading in made.readings:
        print(line(reading))
    print(f"\n{made.asked:,} examples asked, {made.recalled:,} recalled, {wall:,.0f} s, {cpu:,.0f} s of CPU.")


if __name__ == "__main__":
    main()
