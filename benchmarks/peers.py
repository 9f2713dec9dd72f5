"""Differential test against WEFE: the same vectors, every metric both have. Run: python benchmarks/peers.py

WEFE 1.0.1 needs an older numpy, so it gets an environment of its own, ``.venv-wefe``, made on the first run (or
the one that TILTMETER_WEFE_VENV names). Exit code 1 where a number differs. P-values do differ, and are shown
beside the exact ones and the value that WEFE's procedure comes to with more draws: WEFE draws its
"permutations" with replacement, so they are no permutations, and its two-sided test of a negative score
compares |S| with the score itself. It takes some minutes, nearly all of them WEFE's.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiltmeter.measures import WeatResult, ect, mac, ripa, rnd, weat
from tiltmeter.statistics import Alternative

ROOT = Path(__file__).resolve().parent.parent
#: The example of WEFE's documentation, names, and names with a negative score: query, test, iterations.
EXAMPLE = ("female_terms male_terms family career", "right-sided", 10_000)
TESTS = (
    EXAMPLE,
    ("male_names female_names career family", "right-sided", 1_000),
    ("female_names male_names career family", "two-sided", 500),
)
ALTERNATIVES: dict[str, Alternative] = {"right-sided": "greater", "two-sided": "two-sided"}
TOLERANCE = 1e-6
#: For WEFE's RAN and for concept-erasure, which benchmarks/mitigation_peers.py compares with.
TORCH = "torch==2.13.0"
METRICS = ("weat", "effect_size", "rnd_norm", "rnd_cos", "mac", "ect", "ripa")


def main() -> None:
    if not python().exists():
        install()
    answers = ask(TESTS)
    print(f"Largest differences between tiltmeter and WEFE (allowed: {TOLERANCE:g})")
    print(f"{'query':<76}" + "".join(f"{name:>12}" for name in METRICS))
    worst = 0.0
    for name, differences in compare(answers).items():
        cells = "".join(f"{'-':>12}" if each is None else f"{each:12.1e}" for each in differences.values())
        print(f"{name:<76}{cells}")
        worst = max(worst, *(each for each in differences.values() if each is not None))
    print(f"\n{'p-values':<60}{'draws':>8}{'seconds':>9}{'WEFE':>11}{'its limit':>11}{'exact':>11}")
    for row in p_values(answers):
        label = f"{row['name']}, {row['kind']}"
        times = f"{row['iterations']:8,}{row['seconds']:9.0f}"
        print(f"{label:<60}{times}{row['p_value']:11.6f}{row['limit']:11.6f}{row['exact']:11.6f}")
    if worst > TOLERANCE:
        sys.exit(f"tiltmeter and WEFE differ by {worst:.1e}")


def python() -> Path:
    """The interpreter of the environment that holds WEFE, whether or not it exists."""
    return Path(os.environ.get("TILTMETER_WEFE_VENV", ROOT / ".venv-wefe"), "bin", "python")


def install() -> None:
    folder = python().parent.parent
    print(f"Setting up {folder.name} (a minute or two) ...", flush=True)
    venv.create(folder, with_pip=True)
    install = [str(python()), "-m", "pip", "install", "--quiet"]
    subprocess.run([*install, "wefe==1.0.1", TORCH], check=True)
    subprocess.run([*install, "--no-deps", "concept-erasure==0.2.4"], check=True)


def ask(tests: Sequence[tuple[str, str, int]]) -> dict[str, Any]:
    """WEFE's answers to all queries, its p-values for some, and the vectors it used."""
    command = [str(python()), str(ROOT / "benchmarks" / "wefe_side.py"), json.dumps(tests)]
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
    """The p-values that WEFE was asked for, what its procedure comes to, and the exact ones."""
    rows = []
    for query in answers["queries"]:
        if "test" in query:
            kind = query["test"]["kind"]
            found = weat(*vectors(query, answers), alternative=ALTERNATIVES[kind])
            row = {"name": query["name"], "exact": found.p_value, "limit": _with_replacement(found, kind)}
            rows.append({**row, **query["test"]})
    return rows


def _with_replacement(found: WeatResult, kind: str) -> float:
    """WEFE's procedure on the same scores, with a million draws."""
    scores = np.array([*found.scores_x, *found.scores_y])
    drawn = np.random.default_rng(0).choice(scores, size=(1_000_000, scores.size))
    n = len(found.scores_x)
    null = drawn[:, :n].sum(axis=1) - drawn[:, n:].sum(axis=1)
    extreme = {"right-sided": null > found.score, "two-sided": np.abs(null) > found.score}[kind]
    return float(extreme.mean())


if __name__ == "__main__":
    main()
