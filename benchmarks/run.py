"""All speed measurements, one after the other, and one table at the end. Run: make bench

One part alone: python benchmarks/run.py mining ceat

A target that is missed is said, not punished: on a shared machine timings tell little of the code alone.
"""

from __future__ import annotations

import sys

import ceat
import dashboard
import generation
import glove
import language
import mining
import mitigation
import report
import static_vectors
import texts
import weat
from row import Row, show


def main() -> None:
    rows: list[Row] = []
    measures = {
        "weat": weat.bench,
        "static vectors": vectors,
        "texts": encoders,
        "language models": language.bench,
        "written text": generation.bench,
        "mining": mining.bench,
        "ceat": ceat.bench,
        "mitigation": mitigation.bench,
        "glove": glove.bench,
        "report": report.bench,
        "dashboard": dashboard.bench,
    }
    chosen = sys.argv[1:] or list(measures)
    for name, measure in ((name, measures[name]) for name in chosen):
        print(f"measuring {name} ...", flush=True)
        rows += measure()
    print()
    show(rows)


def vectors() -> list[Row]:
    """Words out of a large file of vectors, against gensim."""
    *ours, gensim = static_vectors.bench()
    return [
        Row(
            f"100 of 400,000 words x 300 from a text file, {row['words']}",
            f"{row['seconds']:.2f} s, {row['peak_mb']:.0f} MB",
            f"{gensim['seconds']:.0f} s, {gensim['peak_mb']:.0f} MB (gensim)",
            row["ratio"],
            f">= 100 x, < {static_vectors.MEMORY_LIMIT_MB} MB",
            row["ratio"] >= 100 and row["peak_mb"] < static_vectors.MEMORY_LIMIT_MB,
        )
        for row in ours
    ]


def encoders() -> list[Row]:
    """Sentences a second, against everyone else in the same rounds."""
    found = texts.bench()
    speed = {(row.sentences, row.situation): row.per_second for row in found if row.contender == "tiltmeter"}
    rows = []
    for row in found:
        if row.contender == "tiltmeter":
            continue
        peer, natural = row.contender == "sentence-transformers", row.sentences == texts.NATURAL
        least = 1.6 if natural else 1.0
        equal = row.differs is not None and row.differs <= texts.CLOSE
        rows.append(
            Row(
                f"MiniLM, {row.sentences}, {row.situation}, against {row.contender}",
                f"{speed[row.sentences, row.situation]:.0f} /s",
                f"{row.per_second:.0f} /s",
                row.ours_is_times,
                f">= {least:g} x, equal to {texts.CLOSE:g}" if peer else "-",
                row.ours_is_times >= least and equal if peer else None,
            )
        )
    return rows


if __name__ == "__main__":
    main()
