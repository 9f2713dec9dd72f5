"""Differential test of the methods of mitigation: WEFE and concept-erasure, on the same vectors.

Run: python benchmarks/mitigation_peers.py. Exit code 1 where a method differs by more than the tolerance. The peers
live in the environment of benchmarks/peers.py. Where WEFE does something else than the paper says, it is said here:

* hard: it also equalises the pairs in title and upper case; and it divides equalised words by the lengths that they had
  before, so that she ends 1.13 and he 1.07 long and neutral words are no longer equally far from both: compared are
  directions;
* double-hard: it changes the words that lean most alone, so that these are centred and all others are not; and the
  component is chosen by clusters without a seed, so the one it took is handed over;
* RAN: its loss gets w and w' in the wrong order, so that it returns a vector that is only drawn to the one it minimises
  for; and it neutralises w'·g, not the cosine. With both put right it agrees.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import peers
from tiltmeter.measures import bias_direction
from tiltmeter.measures.geometry import unit
from tiltmeter.mitigation import double_hard, half_sibling, hard, leace, ran

#: WEFE computes in single precision; the components of double-hard come from a randomised decomposition.
TOLERANCE, RANDOMISED = 2e-5, 2e-4
Matrix = NDArray[np.float64]


def main() -> None:
    if not peers.python().exists():
        peers.install()
    answers = ask()
    print(f"{'method':<24}{'largest difference':>20}{'allowed':>12}")
    worst = False
    for name, (difference, allowed) in compare(answers).items():
        print(f"{name:<24}{difference:>20.1e}{allowed:>12.0e}")
        worst = worst or difference > allowed
    print(f"\nRAN as WEFE has it: {ran_as_wefe_has_it(answers):.2f} from ours and from its own with both put right")
    if worst:
        sys.exit("a method differs from its peer")


def ask(words: int = 0, width: int = 300) -> dict[str, Any]:
    """What the peers make of the vectors of WEFE's test model; with ``words`` also how long hard debiasing takes."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "answers.npz")
        side = str(peers.ROOT / "benchmarks" / "wefe_mitigation_side.py")
        done = subprocess.run(
            [str(peers.python()), side, str(path), json.dumps([words, width])],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )
        if done.returncode:
            sys.exit(f"the peers failed:\n{done.stderr[-2000:]}")
        with np.load(path) as loaded:
            answers: dict[str, Any] = {name: loaded[name] for name in loaded.files}
    return {**answers, **json.loads(str(answers["about"]))}


def compare(answers: Mapping[str, Any]) -> dict[str, tuple[float, float]]:
    """By method the largest difference of any number of any vector, and how much is allowed."""
    vectors, names = answers["vectors"].astype(float), answers["names"]
    place = {word: number for number, word in enumerate(names)}

    def of(words: list[str]) -> dict[str, Matrix]:
        return {word: vectors[place[word]] for word in words}

    pairs = [of(pair) for pair in answers["pairs"]]
    # WEFE equalises the pairs in title and upper case as well.
    cased = [case(word) for pair in answers["pairs"] for word in pair for case in (str.title, str.upper)]
    compared = [at for at, word in enumerate(names) if word not in cased]
    theirs = unit(answers["hard"][compared].astype(float))
    made = {"hard": _difference(hard(pairs).apply_to_words(names, vectors)[compared], theirs)}
    if "multi_class" in answers:
        sets = [of(members) for members in answers["sets"]]
        several = hard(sets, rank=2)
        made["multi_class"] = _difference(several.apply_to_words(names, vectors), answers["multi_class"])
    definitional = of([word for pair in answers["pairs"] for word in pair])
    siblings = half_sibling(definitional, alpha=60.0)
    made["hsr"] = _difference(siblings.apply_to_words(names, vectors), answers["hsr"])
    changed = answers["double_hard_words"]
    component = int(answers["double_hard_component"][0])
    double = double_hard(pairs, vectors, leaning=(vectors[:2], vectors[2:4]), component=component)
    made["double_hard"] = _difference(double.apply(vectors[changed]), answers["double_hard"][changed])
    made["leace"] = _difference(_erased(answers, shrink=False), answers["leace"])
    made["leace, shrunk"] = _difference(_erased(answers, shrink=True), answers["leace_shrunk"])
    made["ran, put right"] = _difference(_ran(answers), answers["ran_put_right"])
    return {name: (each, RANDOMISED if name == "double_hard" else TOLERANCE) for name, each in made.items()}


def ran_as_wefe_has_it(answers: Mapping[str, Any]) -> float:
    return _difference(_ran(answers), answers["ran"])


def _erased(answers: Mapping[str, Any], *, shrink: bool) -> Matrix:
    x: Matrix = answers["leace_x"]
    return leace(x, answers["leace_z"].tolist(), shrink=shrink).apply(x)


def _ran(answers: Mapping[str, Any]) -> Matrix:
    vectors, place = answers["vectors"].astype(float), {word: at for at, word in enumerate(answers["names"])}
    one, two = (np.stack([vectors[place[pair[side]]] for pair in answers["pairs"]]) for side in (0, 1))
    words = {word: vectors[place[word]] for word in answers["targets"]}
    made = ran(words, vectors, bias_direction(one, two), neighbours=50).replaced
    return np.stack([made[word] for word in answers["targets"]])


def _difference(ours: Matrix, theirs: Matrix) -> float:
    return float(np.abs(ours - theirs).max())


if __name__ == "__main__":
    main()
