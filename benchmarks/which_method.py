"""Which method to trust: vectors whose bias is known, every method, and what is found afterwards.

Run: python benchmarks/which_method.py [--check]. Puts its table into docs/mitigation.md; with --check it only says
whether the page has this very table.

A vocabulary of 2,000 words leans by a planted amount along the direction in which the pairs differ (one direction), as
far along a second direction that no pair shows (two directions), or not at all (null). A method that removes one
direction should leave the other, the tests of what is hidden should find it there, and a null model should stay as it
is. "left" is the mean lean of held-out words along the planted directions, in per cent of that before; "found" is the
best of four tests at finding the groups again (50 is guessing); "moved" is how far the words of the null model moved,
as the median angle in degrees.
"""

from __future__ import annotations

import sys
import tempfile
import zlib
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tiltmeter.lab.mitigate.debias import debias
from tiltmeter.lab.mitigate.fit_words import HeldOut, halves, word_sets, words_with_group
from tiltmeter.lab.mitigate.methods import METHODS
from tiltmeter.lab.mitigate.traces import leaning_words, look_for_groups
from tiltmeter.lab.mitigate.word_forms import WordForms, in_first_half
from tiltmeter.measures.geometry import unit
from tiltmeter.models import CachedModel, load

PAGE = Path(__file__).parents[1] / "docs" / "mitigation.md"
WIDTH, WORDS, STRENGTH, SEED = 40, 2_000, 0.6, 0
Matrix = NDArray[np.float64]


class Finding(NamedTuple):
    """What is left along the planted directions, how well the groups are found, and how far words moved."""

    left: float
    found: float
    moved: float


def main() -> None:
    table = markdown()
    if sys.argv[1:] == ["--check"]:
        sys.exit(0 if table in PAGE.read_text(encoding="utf-8") else f"{PAGE.name} has another table")
    page = PAGE.read_text(encoding="utf-8")
    start = page.index("| method | one direction")
    PAGE.write_text(page[:start] + table + page[page.index("\n\n", start) + 1 :], encoding="utf-8")
    print(table)


def markdown() -> str:
    methods = [method.name for method in METHODS.values() if "words" in method.needs and method.fit]
    methods.remove("multi_class")
    lines = ["| method | one direction: left, found | two directions: left, found | null: found, moved |"]
    lines.append("| --- | --- | --- | --- |")
    for method in methods:
        one, two, null = (measure(method, *of) for of in ((1, STRENGTH), (2, STRENGTH), (1, 0.0)))
        cells = (
            f"{one.left:.0%}, {one.found:.0%}",
            f"{two.left:.0%}, {two.found:.0%}",
            f"{null.found:.0%}, {null.moved:.0f}°",
        )
        lines.append(f"| {method} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def measure(method: str, directions: int, strength: float) -> Finding:
    words = planted(directions, strength)
    sets = word_sets("gender.gender")
    fit, _ = halves(sets, seed=SEED)
    base = CachedModel(load(words))
    keep = words_with_group(sets)
    not_these = WordForms([*fit.words, *keep])
    unseen = [word for word in words if word.startswith("q") and not in_first_half(word, SEED)]
    with tempfile.TemporaryDirectory() as folder:
        made = CachedModel(
            debias(
                method,
                words,
                out=Path(folder, "made"),
                pairs=fit,
                keep=keep,
                # RAN changes the words that it is given, whichever they are.
                words=unseen if method == "ran" else None,
                hold_out=HeldOut(seed=SEED),
                seed=SEED,
                cache=False,
            )
        )
        groups = leaning_words(base, fit, vocabulary=len(words), not_these=not_these, seed=SEED)
        tests = look_for_groups(groups, groups.vectors(base), groups.vectors(made), seed=SEED)
        after = unit(np.stack([np.asarray(row, dtype=float) for row in made.embed_words(unseen) if row is not None]))
    before = unit(np.stack([words[word] for word in unseen]))
    signs = np.sign(before[:, 0])
    left = np.abs((signs[:, None] * after[:, :directions]).mean()) / np.abs(before[:, :directions]).mean()
    angles = np.degrees(np.arccos(np.clip((before * after).sum(axis=1), -1, 1)))
    return Finding(float(left), max(test.after for test in tests), float(np.median(angles)))


def planted(directions: int, strength: float) -> dict[str, Matrix]:
    """Pairs that differ along the first axis alone, and words that lean along it and, of two directions, the second."""
    words: dict[str, Matrix] = {}
    for one, two in word_sets("gender.gender").sets:
        words |= {one: _noise(one), two: _noise(one)}
        words[one][0] -= 1.0
        words[two][0] += 1.0
    leans = strength * np.random.default_rng(SEED).choice([-1.0, 1.0], size=WORDS)
    for number, lean in enumerate(leans):
        # What a name begins with decides in which half it is, so the digit that changes most comes first.
        name = "q" + "".join(chr(97 + int(digit)) for digit in f"{number:04d}"[::-1])
        words[name] = _noise(name)
        words[name][:directions] += lean
    return words


def _noise(name: str) -> Matrix:
    noise: Matrix = np.random.default_rng([SEED, zlib.crc32(name.encode())]).normal(size=WIDTH) / np.sqrt(WIDTH)
    return noise


if __name__ == "__main__":
    main()
