"""The table of docs/which-measure.md. Run: python benchmarks/which_measure.py FOLDER [--check]

FOLDER is what `tiltmeter lab calibrate --quick --out FOLDER` has written. Puts its table into the page; with --check it
only says whether the page has this very table.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tiltmeter.readings import Audit
from tiltmeter.views.terminal.lab import CALIBRATION_COLUMNS, calibration_markdown

PAGE = Path(__file__).parents[1] / "docs" / "which-measure.md"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="of a calibration")
    parser.add_argument("--check", action="store_true", help="change nothing; exit code 1 where the page differs")
    asked = parser.parse_args()
    page, table = PAGE.read_text(encoding="utf-8"), calibration_markdown(Audit.load(asked.folder).readings)
    if asked.check:
        sys.exit(0 if table in page else f"{PAGE.name} has another table than {asked.folder}")
    PAGE.write_text(page.replace(table_of(page), table), encoding="utf-8")


def table_of(page: str) -> str:
    """The table of the page, with the end of its last line."""
    start = page.index(f"| {CALIBRATION_COLUMNS[0]} | {CALIBRATION_COLUMNS[1]} |")
    return page[start : page.index("\n\n", start) + 1]


if __name__ == "__main__":
    main()
