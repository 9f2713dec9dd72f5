"""Reading one hundred words out of a large text file of vectors, against gensim loading the file.

Each reader runs in a process of its own, with the file in the page cache, and hands back its vectors,
which must be equal. Run: python benchmarks/static_vectors.py (a few minutes, nearly all of them gensim's;
needs 1.2 GB of disk).
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

ASKED = 100
REPEATS = 5
MEMORY_LIMIT_MB = 100

OURS = """
from tiltmeter.models.static import StaticVectors
read = lambda path, words: StaticVectors(path).embed_words(words)
"""
GENSIM = """
from gensim.models import KeyedVectors
def read(path, words):
    keyed = KeyedVectors.load_word2vec_format(path)
    return [keyed[word] for word in words]
"""
CLOCK = """
import json, pathlib, resource, sys, time
import numpy as np
path, words, out, repeats = json.loads(sys.argv[1])
seconds = []
for _ in range(repeats):
    start = time.perf_counter()
    vectors = read(path, words)
    seconds.append(time.perf_counter() - start)
np.save(out, np.array(vectors))
status = pathlib.Path("/proc/self/status")
if status.exists():  # ru_maxrss would also hold the memory of the process that started this one
    peak = next(int(line.split()[1]) * 2**10 for line in status.open() if line.startswith("VmHWM"))
else:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"seconds": seconds, "peak_mb": peak / 2**20}))
"""


def bench(*, words: int = 400_000, size: int = 300) -> list[dict[str, Any]]:
    """One row per reader and choice of words: median seconds, times gensim's speed, peak memory."""
    spread = [f"word{i}" for i in range(words // ASKED - 1, words, words // ASKED)]
    first_half = [f"word{i}" for i in range(0, words // 2, words // 2 // ASKED)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "vectors.vec")
        write(path, words=words, size=size)
        rows = [
            {"reader": "tiltmeter", "words": "spread over the file", **measure(OURS, path, spread, REPEATS)},
            {"reader": "tiltmeter", "words": "in the first half", **measure(OURS, path, first_half, REPEATS)},
            {"reader": "gensim", "words": "spread over the file", **measure(GENSIM, path, spread, 1)},
        ]
    if not np.array_equal(rows[0].pop("vectors"), rows[2].pop("vectors")):
        raise AssertionError("tiltmeter and gensim read different vectors")
    rows[1].pop("vectors")
    return [{**row, "ratio": rows[2]["seconds"] / row["seconds"]} for row in rows]


def write(path: Path, *, words: int, size: int) -> None:
    """A word2vec text file; rows of numbers repeat, because formatting them takes longest."""
    pool = np.random.default_rng(0).normal(size=(1000, size))
    tails = [(" ".join(f"{value:.6f}" for value in row) + "\n").encode() for row in pool]
    with path.open("wb") as stream:
        stream.write(f"{words} {size}\n".encode())
        for i in range(words):
            stream.write(b"word%d " % i + tails[i % len(tails)])


def measure(reader: str, path: Path, words: list[str], repeats: int) -> dict[str, Any]:
    """Seconds and peak memory of a fresh process that reads these words, and what it read."""
    out = path.with_suffix(".npy")
    arguments = json.dumps([str(path), words, str(out), repeats])
    with path.open("rb", buffering=0) as stream:  # the file must come from memory for every reader alike
        while stream.read(1 << 20):
            pass
    command = [sys.executable, "-c", reader + CLOCK, arguments]
    answer = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    seconds = statistics.median(answer["seconds"])
    return {"seconds": seconds, "peak_mb": answer["peak_mb"], "vectors": np.load(out)}


def main() -> None:
    rows = bench()
    print(f"{'reader':<10} {'words':<22} {'seconds':>9} {'x gensim':>9} {'peak MB':>9}")
    for row in rows:
        figures = f"{row['seconds']:9.3f} {row['ratio']:9.0f} {row['peak_mb']:9.0f}"
        print(f"{row['reader']:<10} {row['words']:<22} {figures}")
    slow = [row for row in rows if row["reader"] == "tiltmeter" and row["ratio"] < 100]
    large = [row for row in rows if row["reader"] == "tiltmeter" and row["peak_mb"] >= MEMORY_LIMIT_MB]
    if slow or large:
        sys.exit("missed: 100 times gensim's speed, in less than 100 MB")


if __name__ == "__main__":
    main()
