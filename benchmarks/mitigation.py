"""Speed of mitigation: hard debiasing against WEFE, its memory, and a map beside an encoder.

Run: python benchmarks/mitigation.py. Seconds of hard debiasing are those of one CPU, on both sides. Without an
environment that holds WEFE (`make peers` makes one) that comparison is left out.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import timeit

import numpy as np

import mitigation_peers
import peers
from row import Row, show
from tiltmeter.mitigation import Eraser
from tiltmeter.models import load

WORDS, WIDTH = 400_000, 300
#: Vectors are made and debiased in a process of its own, so that its memory is that of the work alone.
WORK = """
import resource, time
import numpy as np
from tiltmeter.mitigation import hard
rng = np.random.default_rng(0)
vectors = rng.standard_normal(({words}, {width}), dtype=np.float32)
pairs = [dict(zip((str(n), str(n + 1)), vectors[n : n + 2])) for n in range(0, 20, 2)]
start = time.process_time()
eraser = hard(pairs)
eraser.apply(vectors, out=vectors)
for number, vector in eraser.replaced.items():
    vectors[int(number)] = vector
print(time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / vectors.nbytes)
"""


def bench() -> list[Row]:
    return [_against_wefe(), _beside_encoder()]


def _against_wefe() -> Row:
    done = subprocess.run(
        [sys.executable, "-c", WORK.format(words=WORDS, width=WIDTH)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    ours, memory = map(float, done.stdout.split())
    what, target = (
        f"hard debiasing of {WORDS:,} x {WIDTH}, {memory:.2f} x the vectors in memory",
        ">= 20 x, <= 1.5 x memory",
    )
    if not peers.python().exists():
        return Row(what, f"{ours:.2f} s", "no WEFE: make peers", None, target, None)
    wefe = float(mitigation_peers.ask(WORDS, WIDTH)["seconds"][0])
    return Row(what, f"{ours:.2f} s", f"{wefe:.0f} s (WEFE)", wefe / ours, target, wefe / ours >= 20 and memory <= 1.5)


def _beside_encoder() -> Row:
    texts = [f"The nurse of room {number} talked to the engineer about the plans." for number in range(256)]
    model = load("bundled:minilm")
    model.embed_texts(texts[:32])
    start = time.perf_counter()
    vectors = np.asarray(model.embed_texts(texts), dtype=np.float32)
    encoder = time.perf_counter() - start
    eraser = Eraser.projection(np.linalg.qr(np.random.default_rng(0).normal(size=(vectors.shape[1], 8)))[0].T)
    eraser.apply(vectors)
    share = min(timeit.repeat(lambda: eraser.apply(vectors), number=1, repeat=50)) / encoder
    return Row(
        "a map of rank 8 on sentences, beside MiniLM", f"{share:.3%} of its time", target="< 1%", met=share < 0.01
    )


def main() -> None:
    show(bench())


if __name__ == "__main__":
    main()
