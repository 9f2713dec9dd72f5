"""Differential test against WEFE: the same vectors, every metric both have. Run: python benchmarks/peers.py

WEFE 1.0.1 needs an older numpy, so it gets an environment of its own, ``.venv-wefe``, made on the first run (or
the one that TILTMETER_WEFE_VENV names). Exit code 1 where a number differs. P-values do differ, and are shown
beside the exact ones: WEFE draws its "permutations" with replacement.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiltmeter.measures import ect, mac, ripa, rnd, weat

ROOT = Path(__file__).resolve().parent.parent
ITERATIONS = 10_000
TOLERANCE = 1e-6
METRICS = ("weat", "effect_size", "rnd_norm", "rnd_cos", "mac", "ect", "ripa")


def main() -> None:
    if not python().exists():
        install()
    answers = ask(ITERATIONS)
    print(f"Largest differences between tiltmeter and WEFE (allowed: {TOLERANCE:g})")
    print(f"{'query':<76}" + "".join(f"{name:>12}" for name in METRICS))
    worst = 0.0
    for name, differences in compare(answers).items():
        cells = "".join(f"{'-':>12}" if each is None else f"{each:12.1e}" for each in differences.values())
        print(f"{name:<76}{cells}")
        worst = max(worst, *(each for each in differences.values() if each is not None))
    print(f"\np-values, one-sided: WEFE with {ITERATIONS:,} draws (with replacement), tiltmeter with every split")
    for row in p_values(answers):
        print(f"{row['name']:<76} WEFE {row['wefe']:.6f} ({row['seconds']:.0f} s)   exact {row['exact']:.6f}")
    if worst > TOLERANCE:
        sys.exit(f"tiltmeter and WEFE differ by {worst:.1e}")


def python() -> Path:
    """The interpreter of the environment that holds WEFE, whether or not it exists."""
    return Path(os.environ.get("TILTMETER_WEFE_VENV", ROOT / ".venv-wefe"), "bin", "python")


def install() -> None:
    print("Setting up .venv-wefe (a minute or two) ...", flush=True)
    folder = python().parent.parent
    venv.create(folder, with_pip=True)
    subprocess.run([python(), "-m", "pip", "install", "--quiet", "wefe==1.0.1"], check=True)


def ask(iterations: int) -> dict[str, Any]:
    """WEFE's answers to all queries and the vectors it used; 0 iterations leave its p-values out."""
    command = [python(), ROOT / "benchmarks" / "wefe_side.py", str(iterations)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"WEFE failed:\n{done.stderr}")
    answers: dict[str, Any] = json.loads(done.stdout)
    return answers


def compare(answers: dict[str, Any]) -> dict[str, dict[str, float | None]]:
    """For every query, how far each metric of ours is from WEFE's; None where WEFE has none."""
    differences: dict[str, dict[str, float | None]] = {}
    for query in answers["queries"]:
        found = ours(*vectors(query, answers))
        differences[query["name"]] = {
            metric: None if query[metric] is None else abs(found[metric] - query[metric]) for metric in METRICS
        }
    return differences


def vectors(query: dict[str, Any], answers: dict[str, Any]) -> list[NDArray[np.float64]]:
    return [np.array([answers["vectors"][word] for word in words]) for words in query["sets"]]


def ours(
    x: NDArray[np.float64], y: NDArray[np.float64], a: NDArray[np.float64], b: NDArray[np.float64]
) -> dict[str, float]:
    words = weat(x, y, a, b, ddof=0)
    found = {
        "weat": words.score,
        "effect_size": words.effect_size,
        "rnd_norm": rnd(x, y, a, permutations=1).score,
        "rnd_cos": rnd(x, y, a, distance="cos", permutations=1).score,
        "mac": mac(np.concatenate([x, y]), [a, b]).score,
        "ect": ect(x, y, a).score,
    }
    if len(x) == len(y):
        found["ripa"] = ripa(a, x, y).score
    return found


def p_values(answers: dict[str, Any]) -> list[dict[str, Any]]:
    """The p-values that WEFE was asked for, beside the exact ones."""
    return [
        {
            "name": query["name"],
            "wefe": query["p_value"],
            "seconds": query["seconds"],
            "exact": weat(*vectors(query, answers), alternative="greater").p_value,
        }
        for query in answers["queries"]
        if "p_value" in query
    ]


if __name__ == "__main__":
    main()
