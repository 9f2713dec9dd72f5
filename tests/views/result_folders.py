"""Readings with known scores, and folders of them, for tests that hold results against each other."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tiltmeter.readings import Estimate, Reading, ReadingStore
from tiltmeter.statistics import Interval, effect_size

#: Eight words a group; the first group leans to the first pole.
LEANS = (0.9, 0.4, 0.7, 0.2, 0.5, 0.8, 0.1, 0.6), (0.3, -0.2, 0.1, -0.4, 0.0, 0.2, -0.5, -0.1)
INTERVAL = Interval(0.1, 0.9, 0.95, "made up")


def reading(
    items: Sequence[Mapping[str, Any]],
    effect: Estimate,
    *,
    id: str = "gender-career",
    model: str = "model",
    stimuli: str = "abc",
    seed: int = 0,
) -> Reading:
    """A reading of these items."""
    return Reading(
        id=id,
        probe="weat",
        title=f"Title of {id}",
        model=model,
        effect=effect,
        published=None,
        correction="",
        leans="",
        strength="",
        plain_words="",
        n_items=len(items),
        n_units=len(items),
        items=tuple(items),
        left_out=(),
        caveats=(),
        provenance={
            "model": {"name": model, "revision": "1", "settings": {}},
            "stimuli": stimuli,
            "settings": {"seed": seed},
            "citation": "",
            "versions": {},
        },
    )


def leaning(
    x: Sequence[float] = LEANS[0], y: Sequence[float] = LEANS[1], *, ci: Interval | None = INTERVAL, **more: Any
) -> Reading:
    """Two groups of words with these leans, and their d."""
    items = [
        {"word": f"{group} {i}", "group": group, "lean": float(lean)}
        for group, leans in (("first", x), ("second", y))
        for i, lean in enumerate(leans)
    ]
    return reading(items, Estimate("effect size d", effect_size(x, y), 0.0, "nearer to 0 is better", ci), **more)


def jitter(size: float, seed: int, *, shift: float = 0.0) -> tuple[list[float], list[float]]:
    """The usual leans measured again with noise, the first group moved by ``shift``."""
    noise = size * np.random.default_rng(seed).normal(size=(2, len(LEANS[0])))
    return (noise[0] + LEANS[0] + shift).tolist(), (noise[1] + LEANS[1]).tolist()


def pronouns(log_odds: Sequence[float], **more: Any) -> Reading:
    """Sentences of one occupation each, with the log-odds of what the stereotype expects, and their share."""
    items = [
        {
            "sentence": f"sentence {i}",
            "occupation": f"occupation {i}",
            "kind": "",
            "expected": "men",
            "log_odds_men": float(value),
            "prefers": "men" if value > 0 else "women",
        }
        for i, value in enumerate(log_odds)
    ]
    share = float(np.mean(np.array(log_odds) > 0))
    effect = Estimate("share preferring the stereotype", share, 0.5, "nearer to 0.5 is better", INTERVAL)
    return reading(items, effect, **{"id": "pronouns", **more})


def without_items(value: float, low: float, high: float, **more: Any) -> Reading:
    """A reading of which only the interval is known."""
    effect = Estimate("cluster accuracy", value, 0.5, "nearer to 0.5 is better", Interval(low, high, 0.95, "Wilson"))
    return reading([], effect, **{"id": "clusters", **more})


def write_results(folder: Path, readings: Sequence[Reading], *, skipped: Sequence[Mapping[str, Any]] = ()) -> Path:
    """A folder as an audit leaves it."""
    store = ReadingStore(folder)
    store.prepare()
    files = [store.save(each) for each in readings]
    store.save_manifest(
        {
            "suite": "test",
            "models": list(dict.fromkeys(each.model for each in readings)),
            "readings": files,
            "skipped": list(skipped),
            "asked": 0,
            "recalled": 0,
            "notes": [],
        }
    )
    return folder


def renamed(each: Reading, **changes: Any) -> Reading:
    return dataclasses.replace(each, **changes)
