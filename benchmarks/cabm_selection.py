"""Which scores of CABM does the thesis print: of the features as they are, or of standardised ones?

Run: python benchmarks/cabm_selection.py [MODEL] [--selections N]

The thesis took 927 sentences of WinoBias, 480 with he and 447 with she, and does not say which. Here are selections of
that size drawn at random, read as a table of one's own sentences; the features of the published form are weighed by
the weights that the thesis prints, raw and standardised, beside the SDs that it prints.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
from pathlib import Path

import numpy as np

from tiltmeter import probe
from tiltmeter.lab.replicate.paper import printed_rows
from tiltmeter.measures.cabm.cabm import categories
from tiltmeter.probes.sentences.pronoun_sets import read_pronouns

SIZES = (480, 447)
FEATURES = ("published_pmi", "published_cosine", "context")
THRESHOLD = 0.1


def selection(path: Path, rng: np.random.Generator) -> None:
    """A table of so many sentences with he and with she, drawn from all of WinoBias."""
    found = [row for row in read_pronouns("winobias").sentences if "occupation" in row.slots]
    rows = list({row.masked("pronoun").text: row for row in found}.values())  # with either pronoun it is one sentence
    drawn = rng.permutation(len(rows))[: sum(SIZES)]
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["sentence", "occupation", "pronoun"])
        for place, number in enumerate(drawn.tolist()):
            row = rows[number].version("pronoun", 1 if place < SIZES[0] else 2)
            table.writerow([row.text, row.unit, row.word("pronoun")])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default="bundled:minilm")
    parser.add_argument("--selections", type=int, default=3)
    given = parser.parse_args()
    weights = {row.label: [cell.value for cell in row.cells] for row in printed_rows("cabm", "Section 2.5", 3)}
    printed = {row.label: row.cells[1].value for row in printed_rows("cabm", "Section 2.6.2", 10)}
    show = "{:>9}  {:9}  {:12}  {:>6}  {:>7}  {:>3}  {:>5}  {:>7}".format
    print(show("selection", "weights", "features", "SD", "printed", "men", "women", "neither"))
    for seed in range(1, given.selections + 1):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "selection.csv"
            selection(file, np.random.default_rng(seed))
            (reading,) = probe("cabm", given.model, data=file, method="pca", progress=False)
        raw = np.array([[item.get(name) for name in FEATURES] for item in reading.items], dtype=np.float64)
        for label, weight in weights.items():
            for name, features in (("raw", raw), ("standardised", (raw - raw.mean(axis=0)) / raw.std(axis=0))):
                scores = features @ np.array(weight)
                neither, men, women = np.bincount(categories(scores, THRESHOLD), minlength=3).tolist()
                sd = "-" if printed.get(label) is None else f"{printed[label]:.3f}"
                print(show(seed, label, name, f"{scores.std(ddof=1):.3f}", sd, men, women, neither), flush=True)


if __name__ == "__main__":
    main()
