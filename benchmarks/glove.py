"""Speed of GloVe on one core: words x iterations a second, against the reference in C or gensim's word2vec.

Run: python benchmarks/glove.py. No registry has the source of Stanford's GloVe. Who has built it (make) names its
folder of programs as GLOVE_BUILD, and its training is timed on the same pairs; without it, gensim's word2vec
(skip-gram, 5 negative samples, the same width and window) is timed on the same text. Seconds are those of one CPU.
"""

from __future__ import annotations

import os
import resource
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import mining
from row import Row, show
from tiltmeter.lab.glove.cooccurrence import BLOCKS, PairCount, buckets, count_pairs, put_together, read_block
from tiltmeter.lab.glove.descent import Seeds, State, descend
from tiltmeter.lab.glove.seeds import find_seeds, numbered_seeds, seed_groups
from tiltmeter.lab.glove.vocabulary import TextRules, count_words, lines_of_words, numbered
from tiltmeter.stimuli.languages import language
from tiltmeter.stimuli.mining.blocks import Tidier
from tiltmeter.stimuli.mining.corpus import cut_into_shards, find_files

MEGABYTES, WIDTH, WINDOW, ITERATIONS = 8, 100, 10, 3
RULES = TextRules(language("en"), "strict")


def bench() -> list[Row]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        mining.write(folder / "text.txt", megabytes=MEGABYTES)
        (shard,) = cut_into_shards(find_files([folder / "text.txt"], None), 1 << 30)
        counts = count_words(RULES, shard)
        vocabulary = list(numbered(counts, min_count=5, most=400_000))
        start = time.process_time()
        how = PairCount(RULES, {word: number for number, word in enumerate(vocabulary)}, WINDOW)
        (folder / "part").write_bytes(count_pairs(how, shard))
        for one, two in buckets():
            put_together([folder / "part"], one, two, folder, size=len(vocabulary), x_max=10.0, alpha=0.75, seed=0)
        counting = time.process_time() - start
        words = sum(counts.values())
        seeds = numbered_seeds(
            find_seeds(seed_groups("gender"), vocabulary, RULES.language), vocabulary, strength=1.0
        )  # fmt: skip
        train(folder, len(vocabulary), seeds, 1)  # what is compiled at the first run is no part of the speed
        speeds = {
            name: words * ITERATIONS / train(folder, len(vocabulary), some, ITERATIONS)
            for name, some in (("plain", Seeds()), ("neutral", seeds))
        }
        peer, called = reference(folder, vocabulary, counts), "Stanford's C"
        is_reference = peer is not None
        if peer is None:
            peer, called = word2vec(folder / "text.txt"), "word2vec"
    theirs = words * ITERATIONS / peer
    what = f"GloVe, {words / 1e6:.1f} M words, {WIDTH} dimensions, one core"
    rows = [
        Row(
            f"{what}: {name}",
            f"{speed / 1e6:.1f} M words/s",
            f"{theirs / 1e6:.2f} M ({called})",
            speed / theirs,
            ">= .8 x the reference in C",
            speed / theirs >= 0.8 if is_reference else None,
        )
        for name, speed in speeds.items()
    ]
    return [*rows, Row("GloVe: pairs counted, one core", f"{words / counting / 1e6:.2f} M words/s")]


def train(folder: Path, size: int, seeds: Seeds, iterations: int) -> float:
    """Seconds of CPU."""
    start = time.process_time()
    descend(
        State.drawn(size, WIDTH, seeds, seed=0), folder, seeds, iterations=iterations, rate=0.05, seed=0, threads=1,
        keep=lambda _: None, advance=lambda _: None,
    )  # fmt: skip
    return time.process_time() - start


def reference(folder: Path, vocabulary: list[str], counts: dict[str, int]) -> float | None:
    """Seconds of CPU that Stanford's program takes to train on the same pairs; None where it is not there."""
    program = Path(os.environ.get("GLOVE_BUILD", ""), "glove")
    if not os.environ.get("GLOVE_BUILD") or not program.is_file():
        return None
    entries = np.concatenate([read_block(folder, row, column) for row in range(BLOCKS) for column in range(BLOCKS)])
    entries = entries[np.random.default_rng(0).permutation(len(entries))]
    theirs = np.empty(len(entries), [("word", "<i4"), ("context", "<i4"), ("count", "<f8")])
    theirs["word"], theirs["context"] = entries["word"] + 1, entries["context"] + 1
    theirs["count"] = np.exp(entries["target"])
    theirs.tofile(folder / "pairs.bin")
    (folder / "vocab.txt").write_text("".join(f"{word} {counts[word]}\n" for word in vocabulary), encoding="utf-8")
    options = {"input-file": "pairs.bin", "vocab-file": "vocab.txt", "save-file": "theirs", "vector-size": WIDTH}
    options |= {"iter": ITERATIONS, "threads": 1, "x-max": 10, "binary": 1, "verbose": 0}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [str(program), *(text for name, value in options.items() for text in (f"-{name}", str(value)))]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def word2vec(text: Path) -> float:
    """Seconds of CPU that gensim takes for as many passes over the same words."""
    from gensim.models import Word2Vec

    tidy = Tidier(RULES.language)
    lines = text.read_text(encoding="utf-8").split("\n")
    sentences = [lines_of_words(line, RULES.language, tidy)[0] for line in lines]
    model = Word2Vec(vector_size=WIDTH, window=WINDOW, min_count=5, sg=1, workers=1, seed=0)
    model.build_vocab(sentences)
    start = time.process_time()
    model.train(sentences, total_examples=len(sentences), epochs=ITERATIONS)
    return time.process_time() - start


def main() -> None:
    show(bench())


if __name__ == "__main__":
    main()
