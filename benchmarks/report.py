"""The report of a large audit: seconds and memory for 50 models x 40 probes, generated. Run: make bench"""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from row import Row, show
from tiltmeter.models import Identity
from tiltmeter.readings import (
    SHARE,
    About,
    D,
    Estimate,
    Item,
    ItemMeaning,
    LeftOut,
    Poles,
    Provenance,
    Reading,
    ReadingStore,
    Statistic,
)
from tiltmeter.readings.details.cloze import ClozeDetails, ClozeShares
from tiltmeter.statistics import Interval

MODELS, PROBES = 50, 40
#: What a report of that size may take.
MOST_SECONDS, MOST_MEGABYTES = 10.0, 500.0
#: Words a probe measures, which its kinds share.
WORDS = tuple(f"word {n}" for n in range(60))

_MEASURED = """
import json, sys, time
started = time.perf_counter()
from pathlib import Path
from tiltmeter.readings import Audit
path = Audit.load(sys.argv[1]).report(sys.argv[2])
seconds = time.perf_counter() - started
status = Path("/proc/self/status").read_text(encoding="utf-8")
megabytes = int(status.partition("VmHWM:")[2].split()[0]) / 1024
print(json.dumps([seconds, time.process_time(), megabytes, path.stat().st_size / 1e6]))
"""


def bench() -> list[Row]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        generate(folder / "audit")
        seconds, busy, megabytes, size = report(folder / "audit", folder / "audit.html")
    what = f"report of {MODELS} models x {PROBES} probes"
    return [
        Row(
            f"{what}, {size:.1f} MB, {busy:.1f} s of work",
            f"{seconds:.1f} s",
            target=f"< {MOST_SECONDS:g} s",
            met=seconds < MOST_SECONDS,
        ),
        Row(
            f"{what}, peak memory",
            f"{megabytes:.0f} MB",
            target=f"< {MOST_MEGABYTES:g} MB",
            met=megabytes < MOST_MEGABYTES,
        ),
    ]


def report(audit: Path, path: Path) -> tuple[float, float, float, float]:
    """Seconds on the clock and of the processor, peak memory and size of the file, in a process of its own."""
    command = [sys.executable, "-c", _MEASURED, str(audit), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, busy, megabytes, size = json.loads(done.stdout)
    return seconds, busy, megabytes, size


def generate(folder: Path, *, models: int = MODELS, probes: int = PROBES) -> None:
    """A finished audit with numbers out of a seeded generator."""
    store = ReadingStore(folder)
    store.prepare()
    names = [f"hf:org/model-{n:02}" for n in range(models)]
    files = [store.save(reading) for n, name in enumerate(names) for reading in _readings(name, n, probes)]
    store.save_manifest(
        {
            "suite": "generated",
            "models": names,
            "readings": files,
            "skipped": [{"model": name, "probe": "seat", "reason": "needs vectors of texts"} for name in names],
            "asked": 0,
            "recalled": 0,
            "notes": [],
            "folder": None,
            "started": "2026-01-01T00:00:00+00:00",
            "finished": "2026-01-01T01:00:00+00:00",
        }
    )


def _readings(model: str, seed: int, probes: int) -> Iterator[Reading]:
    random = np.random.default_rng(seed)
    kinds = (_weat, _weat, _weat, _sentences, _cloze, _weat, _lpbs, _weat)
    for n in range(probes):
        yield kinds[n % len(kinds)](model, n, random)


def _reading(model: str, n: int, probe: str, effect: Estimate, items: list[Item], **more: Any) -> Reading:
    reading = Reading(
        id=f"{probe}-{n}",
        probe=probe,
        title=f"Probe {n} of two groups between two poles",
        model=model,
        dimension="gender",
        control=False,
        family="bias",
        effect=effect,
        published=dataclasses.replace(effect, p_value=(effect.p_value or 0.0) / 2, alternative="greater"),
        repair="The published test is one-sided: it looks only for a tilt in the expected direction.",
        poles=Poles("these → one pole, those → the other", "those → one pole, these → the other"),
        finding=f"These lean towards one pole and those towards the other ({effect.name} = {effect.value:.2f}).",
        n_items=len(items),
        n_units=len(items),
        items=tuple(items),
        item_meaning=ItemMeaning("lean", Poles("one pole", "the other")),
        statistic=Statistic("d of units", between=("these", "those")),
        left_out=(LeftOut("'word'", f"out of vocabulary of {model}"),),
        notes=(),
        about=About(
            "two groups between two poles",
            "these and those should be equally similar to both poles.",
            "Caliskan, Bryson & Narayanan 2017, Science 356:183-186",
            (),
        ),
        provenance=Provenance(
            Identity(model, f"{n:016x}", {"layer": "-1"}),
            f"{n:016x}",
            {"alternative": "two-sided", "permutations": 10_000, "seed": 0},
            {"python": "3.11", "tiltmeter": "0.1.0"},
        ),
    )
    return dataclasses.replace(reading, **more)


def _effect(random: np.random.Generator, *, share: bool = False) -> Estimate:
    value = float(random.uniform(0.2, 0.8) if share else random.normal(0.4, 0.6))
    half = float(random.uniform(0.05, 0.12) if share else random.uniform(0.2, 0.6))
    name, scale = ("share to men", SHARE) if share else ("effect size d", D)
    p = float(10.0 ** -min(6.0, 4 * ((value - scale.level) / half) ** 2))
    return Estimate(name, value, scale, Interval(value - half, value + half, 0.95, "generated"), p, "two-sided", False)


def _weat(model: str, n: int, random: np.random.Generator) -> Reading:
    leans = random.normal(0, 0.05, 40)
    items = [
        Item(word, word, "these" if i < 20 else "those", float(lean))
        for i, (word, lean) in enumerate(zip(WORDS, leans, strict=False))
    ]
    return _reading(model, n, "weat", _effect(random), items)


def _sentences(model: str, n: int, random: np.random.Generator) -> Reading:
    items = [
        Item(f"A sentence {i}.", WORDS[i % 22], "these" if i % 22 < 11 else "those", lean)
        for i, lean in enumerate(random.normal(0, 0.05, 400).tolist())
    ]
    return _reading(model, n, "association", _effect(random), items)


def _cloze(model: str, n: int, random: np.random.Generator) -> Reading:
    items = [
        Item(f"The {word} was there with him", word, "", float(lean), {"known_label": 1, "won": float(lean > 0)})
        for word, lean in zip(WORDS, random.normal(0, 1, len(WORDS)), strict=True)
    ]
    effect = _effect(random, share=True)
    assert effect.ci is not None
    share, low, high = effect.value, effect.ci.low, effect.ci.high
    details = ClozeDetails(
        variant="all",
        context="combined",
        form="last",
        groups=("men", "women"),
        rows=len(items),
        published=ClozeShares(share / 2, 1 - share, 0.02, 0.5, 0, low, high, 0.01),
        repaired=ClozeShares(share, 1 - share, 0.01, 0.6, 0, low, high, effect.p_value),
    )
    published = dataclasses.replace(effect, value=effect.value / 2)
    statistic = Statistic("mean", of=("won",), margins="value")
    return _reading(model, n, "cloze", effect, items, details=details, published=published, statistic=statistic)


def _lpbs(model: str, n: int, random: np.random.Generator) -> Reading:
    priors, added = random.normal(0.2, 0.5, 300), random.normal(0, 0.4, 300)
    items = [
        Item(
            WORDS[i % 60],
            WORDS[i % 60],
            "these" if i % 2 else "those",
            float(add),
            {
                "structure": f"S{1 + i // 60}",
                "fill_bias": float(prior + add),
                "prior_bias": float(prior),
                "sentences": 1,
                "term_pairs": 4,
            },
        )
        for i, (prior, add) in enumerate(zip(priors, added, strict=True))
    ]
    meaning = ItemMeaning("association", Poles("men", "women"))
    return _reading(model, n, "lpbs", _effect(random), items, item_meaning=meaning, published=None)


if __name__ == "__main__":
    show(bench())
