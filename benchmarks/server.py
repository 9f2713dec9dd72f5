"""Every probe of a causal model through a completions server, against the same weights asked directly.

    python benchmarks/server.py "completions:smollm2?base_url=http://127.0.0.1:8000/v1" bundled:smollm2 [PROBE ...]

vLLM, llama.cpp's server or any other that gives log-probabilities of a prompt; docs/large-models.md says how to start
one on a CPU. Nothing is stored: every answer comes from the server.
"""

from __future__ import annotations

import sys
import time
from typing import Any

import numpy as np

import tiltmeter
from tiltmeter.errors import BadInput
from tiltmeter.probes import make_probes
from tiltmeter.run.probe import run_probes

#: Probes with options that keep the requests to some hundreds; public data is left out where it is not here.
PROBES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("cloze", {}),
    ("cloze", {"method": "all"}),
    ("pairs", {}),
    ("pairs", {"method": "cps"}),
    ("pronouns", {}),
    ("stereoset", {}),
    ("bbq", {"limit": 4}),
)
#: The most that log-probabilities may differ by.
CLOSE = 1e-3


def compare(server: str, direct: str, *names: str) -> bool:
    """Print how far readings and their items differ, of all probes or of these; whether all are close."""
    print("| probe | items | effect, direct | through the server | largest difference of an item | seconds |")
    print("| --- | --- | --- | --- | --- | --- |")
    models = [tiltmeter.load(spec) for spec in (direct, server)]
    close = True
    for name, options in PROBES:
        if names and name not in names:
            continue
        try:
            probe = make_probes(name, **options)[:1]
        except BadInput as error:
            print(f"{name}: {error}")
            continue
        start = time.perf_counter()
        here, there = (run_probes(probe, model, cache=False, progress=False)[0] for model in models)
        values = [np.array([item.value for item in reading.items], np.float64) for reading in (here, there)]
        largest = float(np.abs(values[0] - values[1]).max()) if len(values[0]) == len(values[1]) else np.inf
        close = close and largest <= CLOSE and abs(here.effect.value - there.effect.value) <= CLOSE
        title = " ".join((name, *map(str, options.values())))
        print(
            f"| {title} | {len(values[0])} | {here.effect.value:.4f} | {there.effect.value:.4f} | {largest:.1e} | "
            f"{time.perf_counter() - start:.0f} |",
            flush=True,
        )
    return close


if __name__ == "__main__":
    sys.exit(0 if compare(*sys.argv[1:]) else 1)
