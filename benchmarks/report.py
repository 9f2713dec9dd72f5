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
from tiltmeter.readings import Estimate, LeftOut, Reading, ReadingStore
from tiltmeter.statistics import Interval, band

MODELS, PROBES = 50, 40
#: What a report of that size may take.
MOST_SECONDS, MOST_MEGABYTES = 10.0, 500.0
#: Words a probe measures, which its kinds share.
WORDS = tuple(f"word {n}" for n in range(60))

_MEASURED = """
import json, sys, time
started = time.perf_counter()
from pathlib import Path
from tiltmeter.audits import Audit
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


def _reading(model: str, n: int, probe: str, effect: Estimate, items: list[dict[str, Any]], **more: Any) -> Reading:
    clear = (effect.p_value or 0.0) <= 0.001
    reading = Reading(
        id=f"{probe}-{n}",
        probe=probe,
        title=f"Probe {n} of two groups between two poles",
        model=model,
        effect=effect,
        published=dataclasses.replace(effect, p_value=(effect.p_value or 0.0) / 2, alternative="greater"),
        correction="The published test is one-sided: it looks only for a tilt in the expected direction.",
        leans="these → one pole, those → the other" if clear else "no clear lean",
        strength=band(effect.value) if effect.level == 0 else "",
        plain_words=f"These lean towards one pole and those towards the other ({effect.name} = {effect.value:.2f}).",
        n_items=len(items),
        n_units=len(items),
        items=tuple(items),
        left_out=(LeftOut("'word'", f"out of vocabulary of {model}"),),
        caveats=("What counts as bias here: these and those should be equally similar to both poles.",),
        provenance={
            "citation": "Caliskan, Bryson & Narayanan 2017, Science 356:183-186",
            "model": {"name": model, "revision": f"{n:016x}", "settings": {"layer": "-1"}},
            "settings": {"alternative": "two-sided", "permutations": 10_000, "seed": 0},
            "stimuli": f"{n:016x}",
            "versions": {"python": "3.11", "tiltmeter": "0.1.0"},
        },
    )
    return dataclasses.replace(reading, **more)


def _effect(random: np.random.Generator, *, share: bool = False) -> Estimate:
    value = float(random.uniform(0.2, 0.8) if share else random.normal(0.4, 0.6))
    half = float(random.uniform(0.05, 0.12) if share else random.uniform(0.2, 0.6))
    level = 0.5 if share else 0.0
    p = float(10.0 ** -min(6.0, 4 * ((value - level) / half) ** 2))
    name, better = ("share to men", "nearer to 0.5 is better") if share else ("effect size d", "nearer to 0 is better")
    ci = Interval(value - half, value + half, 0.95, "generated")
    return Estimate(name, value, level, better, ci, p, "two-sided", False)


def _weat(model: str, n: int, random: np.random.Generator) -> Reading:
    leans = random.normal(0, 0.05, 40)
    items = [
        {"word": word, "group": "these" if i < 20 else "those", "lean": float(lean)}
        for i, (word, lean) in enumerate(zip(WORDS, leans, strict=False))
    ]
    return _reading(model, n, "weat", _effect(random), items)


def _sentences(model: str, n: int, random: np.random.Generator) -> Reading:
    items = [
        {"text": f"A sentence {i}.", "word": WORDS[i % 22], "group": "these" if i % 22 < 11 else "those", "lean": lean}
        for i, lean in enumerate(random.normal(0, 0.05, 400).tolist())
    ]
    return _reading(model, n, "association", _effect(random), items)


def _cloze(model: str, n: int, random: np.random.Generator) -> Reading:
    items = [
        {"word": word, "sentence": f"The {word} was there with him", "label": 1, "lean": float(lean)}
        for word, lean in zip(WORDS, random.normal(0, 1, len(WORDS)), strict=True)
    ]
    effect = _effect(random, share=True)
    assert effect.ci is not None
    numbers = {"to_1": effect.value, "to_2": 1 - effect.value, "low": effect.ci.low, "high": effect.ci.high}
    details = {
        "context": "combined",
        "variant": "all",
        "form": "last",
        "groups": ["men", "women"],
        "rows": len(items),
        "corrected": {**numbers, "kl": 0.01, "human_match": 0.6, "ties": 0, "p_value": effect.p_value},
        "published": {**numbers, "to_1": effect.value / 2, "kl": 0.02, "human_match": 0.5, "ties": 0, "p_value": 0.01},
        "steps": [],
    }
    published = dataclasses.replace(effect, value=effect.value / 2)
    return _reading(model, n, "cloze", effect, items, details=details, published=published)


def _lpbs(model: str, n: int, random: np.random.Generator) -> Reading:
    priors, added = random.normal(0.2, 0.5, 300), random.normal(0, 0.4, 300)
    items = [
        {
            "word": WORDS[i % 60],
            "group": "these" if i % 2 else "those",
            "structure": f"S{1 + i // 60}",
            "fill_bias": float(prior + add),
            "prior_bias": float(prior),
            "association": float(add),
            "sentences": 1,
            "term_pairs": 4,
        }
        for i, (prior, add) in enumerate(zip(priors, added, strict=True))
    ]
    return _reading(model, n, "lpbs", _effect(random), items, details={"poles": ["men", "women"]}, published=None)


if __name__ == "__main__":
    show(bench())
