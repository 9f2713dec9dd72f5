"""Occupations and definitional pairs whose lean is planted."""

from __future__ import annotations

import numpy as np

from tests.planted import SIZE, stacked, vector
from tiltmeter.stimuli import group, pairs

JOBS = group("occupations.all").texts
PAIRS = pairs("gender.definitional")


def couples() -> dict[str, np.ndarray]:
    """The two words of a pair differ in the axis alone; the first is at +."""
    found = {}
    for one, two in PAIRS.pairs:
        found[one], found[two] = vector(one, 0.6), vector(one, 0.6)
        found[two] = found[two] * np.where(np.arange(SIZE) == 0, -1, 1).astype(np.float32)
    return found


def model(leans: list[float]) -> dict[str, np.ndarray]:
    return {word: vector(word, lean) for word, lean in zip(JOBS, leans, strict=True)} | couples()


def alternating(lean: float = 0.0, size: float = 0.2) -> list[float]:
    return [lean + size * (-1) ** i for i in range(len(JOBS))]


def sides(vectors: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    return stacked(vectors, [one for one, _ in PAIRS.pairs]), stacked(vectors, [two for _, two in PAIRS.pairs])
