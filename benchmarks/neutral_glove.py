"""Neutral GloVe against plain GloVe on the same text: what is confined, what leaks, and what it costs.

Run: python benchmarks/neutral_glove.py TEXT... [--seeds 3]. Without a text only the planted part. Prints, for the lab's
text with a planted bias and several seeds, WEAT of occupations with he and she; and for a text of yours SimLex-999,
WordSim-353, SemBias, and WEAT of occupations by their share of women, with seed words, with other words that say a
gender, and with names. "neutral" are the vectors without the reserved dimension, "all" those with it.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import spearmanr

from tiltmeter.lab.glove.glove import train_glove
from tiltmeter.lab.reference.planted_text import planted, sentences
from tiltmeter.measures import weat
from tiltmeter.models import load
from tiltmeter.stimuli import group
from tiltmeter.stimuli.datasets import word_tasks

Vectors = dict[str, NDArray[np.float64]]
HE, SHE = ("he", "him", "his", "man"), ("she", "her", "hers", "woman")
#: Words that say a gender and are no seeds of ``--neutral gender``.
OTHERS = (
    ("himself", "actor", "waiter", "hero", "king", "prince", "men", "boys"),
    ("herself", "actress", "waitress", "heroine", "queen", "princess", "women", "girls"),
)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("text", nargs="*")
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    print("planted text: WEAT of men's and women's occupations with he and she, effect size (score)")
    for seed in range(options.seeds):
        print(f"  seed {seed}: " + ", ".join(planted_leans(seed)))
    if options.text:
        real(options.text)


def trained(text: Sequence[str | Path], folder: Path, *, size: int, iterations: int, seed: int) -> dict[str, Vectors]:
    options = {"size": size, "iterations": iterations, "seed": seed}
    plain = train_glove(text, out=folder / "plain", **options)  # type: ignore[arg-type]
    neutral = train_glove(text, out=folder / "neutral", neutral="gender", **options)  # type: ignore[arg-type]
    specs = dict(zip(("plain", "all", "neutral", "reserved"), (*plain.models, *neutral.models), strict=True))
    return {name: vectors(spec) for name, spec in specs.items()}


def vectors(spec: str) -> Vectors:
    model = load(spec)
    words = model.vocabulary(1_000_000)
    return {word: np.asarray(row, float) for word, row in zip(words, model.embed_words(words), strict=True)}


def lean(of: Vectors, *sets: Sequence[str]) -> str:
    rows = [np.stack([of[word.lower()] for word in words if word.lower() in of]) for words in sets]
    result = weat(*rows)
    return f"{result.effect_size:.2f} ({result.score:.2f})"


def planted_leans(seed: int) -> list[str]:
    leans = planted(0.9)
    men, women = ([job for job, share in leans.items() if (share > 0.5) == side] for side in (True, False))
    with tempfile.TemporaryDirectory() as place:
        text = Path(place, "text.txt")
        text.write_text("\n".join(made.text for made in sentences(leans, n=4_000, seed=seed)), encoding="utf-8")
        made = trained([text], Path(place), size=30, iterations=25, seed=seed)
    return [f"{name} {lean(of, men, women, HE, SHE)}" for name, of in made.items()]


def real(text: Sequence[str]) -> None:
    with tempfile.TemporaryDirectory() as place:
        made = trained(text, Path(place), size=100, iterations=15, seed=0)
    jobs = [group(f"occupations.{side}_dominated").texts for side in ("male", "female")]
    names = [group(f"gender.{side}_names").texts for side in ("male", "female")]
    print("vectors    SimLex-999  WordSim-353  SemBias definition, stereotype  WEAT seeds   other words  names")
    for name, of in made.items():
        if name == "reserved":
            continue
        definition, stereotype = sembias(of)
        tasks = [similarity(of, task) for task in word_tasks.SIMILARITY]
        leans = "  ".join(lean(of, *jobs, *attributes) for attributes in ((HE, SHE), OTHERS, names))
        print(f"{name:<11}{tasks[0]:<12.3f}{tasks[1]:<13.3f}{definition:.1%}, {stereotype:.1%}  {leans}")


def similarity(of: Vectors, task: str) -> float:
    rows = [row for row in word_tasks.similar_words(task) if row.one in of and row.two in of]
    return float(spearmanr([_cosine(of[r.one], of[r.two]) for r in rows], [r.rating for r in rows]).statistic)


def sembias(of: Vectors) -> tuple[float, float]:
    """How often he - she is nearest to the pair that differs in gender by definition, and by stereotype."""
    gender, won = of["he"] - of["she"], []
    for row in word_tasks.sembias():
        pairs = [row.definition, row.stereotype, *row.none]
        if all(word in of for pair in pairs for word in pair):
            won.append(int(np.argmax([_cosine(of[one] - of[two], gender) for one, two in pairs])))
    return won.count(0) / len(won), won.count(1) / len(won)


def _cosine(one: NDArray[np.float64], two: NDArray[np.float64]) -> float:
    return float(one @ two / max(float(np.linalg.norm(one) * np.linalg.norm(two)), 1e-12))


if __name__ == "__main__":
    main()
