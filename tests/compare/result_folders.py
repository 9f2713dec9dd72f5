"""Readings with known scores, and folders of them, for tests that hold results against each other."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tiltmeter.models import Identity
from tiltmeter.readings import (
    SHARE,
    About,
    Audit,
    D,
    Estimate,
    Item,
    Provenance,
    Reading,
    ReadingStore,
    Skipped,
    Statistic,
)
from tiltmeter.statistics import Interval, effect_size

#: Eight words a group; the first group leans to the first pole.
LEANS = (0.9, 0.4, 0.7, 0.2, 0.5, 0.8, 0.1, 0.6), (0.3, -0.2, 0.1, -0.4, 0.0, 0.2, -0.5, -0.1)
INTERVAL = Interval(0.1, 0.9, 0.95, "planted")


def reading(
    items: Sequence[Item],
    effect: Estimate,
    statistic: Statistic | None,
    *,
    id: str = "gender-career",
    model: str = "model",
    stimuli: str = "abc",
    seed: int = 0,
    control: bool = False,
) -> Reading:
    """A reading of these items."""
    return Reading(
        id=id,
        probe="weat",
        title=f"Title of {id}",
        model=model,
        dimension="gender",
        control=control,
        family="control" if control else "bias",
        effect=effect,
        published=None,
        repair="",
        poles=None,
        finding="",
        n_items=len(items),
        n_units=len(items),
        items=tuple(items),
        item_meaning=None,
        statistic=statistic,
        left_out=(),
        notes=(),
        about=About("", "", "", ()),
        provenance=Provenance(Identity(model, "1"), stimuli, {"seed": seed}, {}),
    )


def leaning(
    x: Sequence[float] = LEANS[0], y: Sequence[float] = LEANS[1], *, ci: Interval | None = INTERVAL, **more: Any
) -> Reading:
    """Two groups of words with these leans, and their d."""
    items = [
        Item(f"{group} {i}", f"{group} {i}", group, float(lean))
        for group, leans in (("first", x), ("second", y))
        for i, lean in enumerate(leans)
    ]
    statistic = Statistic("d of units", between=("first", "second"))
    return reading(items, Estimate("effect size d", effect_size(x, y), D, ci), statistic, **more)


def jitter(size: float, seed: int, *, shift: float = 0.0) -> tuple[list[float], list[float]]:
    """The usual leans measured again with noise, the first group moved by ``shift``."""
    noise = size * np.random.default_rng(seed).normal(size=(2, len(LEANS[0])))
    return (noise[0] + LEANS[0] + shift).tolist(), (noise[1] + LEANS[1]).tolist()


#: The usual leans measured again, and really further apart.
GROWN = jitter(0.04, 1, shift=0.5)


def pronouns(log_odds: Sequence[float], **more: Any) -> Reading:
    """Sentences of one occupation each, with the log-odds of what the stereotype expects, and their share."""
    items = [
        Item(f"sentence {i}", f"occupation {i}", "", float(value), {"won": float(value > 0)})
        for i, value in enumerate(log_odds)
    ]
    share = float(np.mean(np.array(log_odds) > 0))
    effect = Estimate("share preferring the stereotype", share, SHARE, INTERVAL)
    return reading(items, effect, Statistic("mean", of=("won",), margins="value"), **{"id": "pronouns", **more})


def without_items(value: float, low: float, high: float, **more: Any) -> Reading:
    """A reading of which only the interval is known."""
    effect = Estimate("cluster accuracy", value, SHARE, Interval(low, high, 0.95, "Wilson"))
    return reading([], effect, None, **{"id": "clusters", **more})


def write_results(folder: Path, readings: Sequence[Reading], *, skipped: Sequence[Mapping[str, Any]] = ()) -> Path:
    """A folder as an audit leaves it."""
    store = ReadingStore(folder)
    store.prepare()
    files = [store.save(reading) for reading in readings]
    store.save_manifest(
        {
            "suite": "test",
            "models": list(dict.fromkeys(reading.model for reading in readings)),
            "readings": files,
            "skipped": list(skipped),
            "asked": 0,
            "recalled": 0,
            "notes": [],
        }
    )
    return folder


def write_schema_1(folder: Path, reading: Reading) -> Path:
    """A folder as earlier versions left it, with one reading of ``leaning``."""
    import pyarrow as pa
    import pyarrow.parquet as parquet

    effect, provenance = reading.effect, reading.provenance
    values = {
        "schema_version": 1,
        **{name: getattr(reading, name) for name in ("id", "probe", "title", "model", "plain_words")},
        **{name: getattr(reading, name) for name in ("n_items", "n_units")},
        "effect": {
            **{name: getattr(effect, name) for name in ("name", "value", "level", "better", "p_value", "alternative")},
            "ci": None if effect.ci is None else dataclasses.asdict(effect.ci),
            "exact": None,
            "p_standard_error": None,
        },
        "published": None,
        "correction": "",
        "leans": "",
        "strength": "",
        "left_out": [],
        "caveats": [],
        "details": {},
        "provenance": {
            "model": provenance.model.to_dict(),
            "stimuli": provenance.stimuli,
            "settings": dict(provenance.settings),
            "citation": "",
            "versions": {},
        },
    }
    items = [{"word": item.label, "group": item.group, "lean": item.value} for item in reading.items]
    (folder / "readings").mkdir(parents=True)
    (folder / "readings" / "one.json").write_text(json.dumps(values), encoding="utf-8")
    parquet.write_table(pa.Table.from_pylist(items), folder / "readings" / "one.parquet")
    manifest = {"schema_version": 1, "suite": "test", "models": [reading.model], "readings": ["one"], "skipped": []}
    counts = {"asked": 0, "recalled": 0, "notes": []}
    (folder / "audit.json").write_text(json.dumps({**manifest, **counts}), encoding="utf-8")
    return folder


def audit(readings: Sequence[Reading], *, skipped: Sequence[Skipped] = ()) -> Audit:
    """The audit of these readings."""
    models = tuple(dict.fromkeys(reading.model for reading in readings))
    return Audit("test", models, tuple(readings), tuple(skipped), 0, 0)


def changed(reading: Reading, **changes: Any) -> Reading:
    return dataclasses.replace(reading, **changes)
