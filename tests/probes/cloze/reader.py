"""A causal model with fixed chances, rows for it to read, and its readings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from tiltmeter.models.protocol import Continuation
from tiltmeter.probes import Options, make_probes
from tiltmeter.readings import Reading
from tiltmeter.run.probe import run_probes

VECTORS = {
    "him": [1.0, 0.0],
    "her": [0.0, 1.0],
    "drill": [0.8, 0.6],
    "cake": [0.6, 0.8],
    "white": [1.0, 0.0],
    "black": [0.0, 1.0],
    "african": [0.6, 0.8],
    "miner": [1.0, 0.0],
    "baker": [0.8, 0.6],
}


class Reader:
    """A causal model of the user's own: fixed chances of a word after any stem, and of the stop after it."""

    def __init__(self, chances: dict[str, float], stops: dict[str, float]) -> None:
        self.chances, self.stops = chances, stops
        self.stems: list[str] = []

    def continue_with(self, items: Sequence[Continuation]) -> list[list[float]]:
        self.stems += [item.stem for item in items]
        return [[self._log(ending) for ending in item.endings] for item in items]

    def _log(self, ending: str) -> float:
        word = ending.strip(" .")
        return math.log(self.chances[word] * (self.stops[word] if ending.endswith(".") else 1.0))


def written(folder: Path, name: str, rows: str) -> Path:
    path = folder / name
    path.write_text(f"sent_m,sent_w,context,HB\n{rows}", encoding="utf-8")
    return path


def measure(model: object, data: Path, vectors: object, **options: object) -> list[Reading]:
    probes = make_probes("cloze", data=data, vectors=vectors, options=Options(), **options)
    return run_probes(probes, model, cache=False, progress=False)


ROWS = "It was drilled by him,It was drilled by her,drill,M\nIt was baked by him,It was baked by her,cake,W\n"
READER = Reader({"him": 0.2, "her": 0.3, "them": 0.1}, {"him": 0.9, "her": 0.2, "them": 0.5})
