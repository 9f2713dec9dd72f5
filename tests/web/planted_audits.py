"""Audits for the dashboard's tests: small, with numbers that are known, and names that try to break out."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from starlette.testclient import TestClient

from tests.planted import vector
from tiltmeter.models import Identity
from tiltmeter.readings import (
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
from tiltmeter.statistics import Interval

SCRIPT = "<script>alert(1)</script>"
IMAGE = '"><img src=x onerror=alert(1)>'
EFFECTS: Mapping[str, Mapping[str, float]] = {
    "own:level": {"career": 0.05, "science": 0.1},
    "own:tilted": {"career": 1.2, "science": -0.9},
}
WORDS = [f"word{n}" for n in range(60)]


def reading(model: str, id: str, value: float, *, word: str = "word0", p: float | None = None) -> Reading:
    """A reading with an effect of this size on sixty words; it is tested, and clear from .5 on, unless p is given."""
    leans = np.random.default_rng(len(model)).normal(0, 0.01, len(WORDS))
    leans[: len(WORDS) // 2] += value / 100
    items = [
        Item(name, name, "these" if n < len(WORDS) // 2 else "those", float(leans[n]))
        for n, name in enumerate([word, *WORDS[1:]])
    ]
    clear = abs(value) >= 0.5
    p = (0.0001 if clear else 0.6) if p is None else p
    ci = Interval(value - 0.3, value + 0.3, 0.95, "planted")
    return Reading(
        id=id,
        probe="weat",
        title=f"About {id}",
        model=model,
        dimension="gender",
        control=False,
        family="bias",
        effect=Estimate("effect size d", value, D, ci, p, "two-sided", exact=True),
        published=Estimate("effect size d", value, D, None, p / 2, "greater"),
        repair="The published test is one-sided.",
        poles=Poles("these → first, those → second", "these → second, those → first"),
        finding=f"{model} leans by {value}.",
        n_items=len(items),
        n_units=len(items),
        items=tuple(items),
        item_meaning=ItemMeaning("lean", Poles("first", "second")),
        statistic=Statistic("d of units", between=("these", "those")),
        left_out=(LeftOut("'absent'", "out of vocabulary"),),
        notes=(),
        about=About("how these lean", "these and those should be alike.", "Nobody 2020", ("Mind the lists.",)),
        provenance=Provenance(
            Identity(model, "1"),
            id,
            {"alternative": "two-sided", "permutations": 100, "seed": 0},
            {"tiltmeter": "0"},
        ),
    )


def write_audit(folder: Path, readings: Sequence[Reading] | None = None, *, notes: Sequence[str] = ()) -> list[str]:
    """A finished audit in a folder; the names of its files."""
    if readings is None:
        readings = [reading(model, id, value) for model, effects in EFFECTS.items() for id, value in effects.items()]
    store = ReadingStore(folder)
    store.prepare()
    files = [store.save(reading) for reading in readings]
    models = list(dict.fromkeys(reading.model for reading in readings))
    store.save_manifest(
        {
            "suite": "planted",
            "models": models,
            "readings": files,
            "skipped": [{"model": models[0], "probe": "seat", "reason": "needs vectors of texts", "failed": False}],
            "asked": 1,
            "recalled": 2,
            "notes": list(notes),
            "folder": None,
            "started": "2026-01-01T00:00:00+00:00",
            "finished": "2026-01-01T01:00:00+00:00",
        }
    )
    return files


def file_of(client: TestClient, model: str, id: str) -> str:
    """The name of a reading's file."""
    rows = client.get("/api/readings").json()
    return next(row["file"] for row in rows if row["model"] == model and row["id"] == id)


def vectors_file(path: Path) -> str:
    """Word vectors in a file in which careers lean by .6 to men and family words to women; the spec to load it."""
    leans = {"he": 0.9, "him": 0.8, "she": -0.9, "her": -0.8, "job": 0.6, "office": 0.6, "home": -0.6, "parents": -0.6}
    rows = [f"{word} {' '.join(f'{x:.6f}' for x in vector(word, lean))}" for word, lean in leans.items()]
    path.write_text(f"{len(rows)} 32\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return f"static:{path}"


#: A suite of one probe on eight words, which the vectors above know.
TINY_SUITE = """
name: tiny
description: one probe
probes:
  - {id: tiny, probe: weat, title: Tiny, targets: [tiny_words.yaml.men, tiny_words.yaml.women],
     attributes: [tiny_words.yaml.work, tiny_words.yaml.family]}
"""
TINY_WORDS = """
name: tiny_words
language: en
groups:
  men: {label: men, words: [he, him]}
  women: {label: women, words: [she, her]}
  work: {label: work, words: [job, office]}
  family: {label: family, words: [home, parents]}
"""


def tiny_suite(folder: Path) -> str:
    """A suite in the folder, with its words beside it; returns its name."""
    words = folder / "words"
    words.mkdir()
    (words / "tiny_words.yaml").write_text(TINY_WORDS, encoding="utf-8")
    suite = TINY_SUITE.replace("tiny_words.yaml", f"{words}/tiny_words.yaml")
    (folder / "tiny.yaml").write_text(suite, encoding="utf-8")
    return "tiny.yaml"


def wait(client: TestClient, id: str) -> dict[str, Any]:
    """A job once it has ended."""
    for _ in range(600):
        job: dict[str, Any] = client.get(f"/api/jobs/{id}").json()
        if job["state"] != "running":
            return job
        time.sleep(0.1)
    raise AssertionError(f"still running: {job}")
