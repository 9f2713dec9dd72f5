"""A calibration on disk: a reading for each form of each measure, in a folder like that of an audit."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tiltmeter.lab.calibrate.calibration import Calibration, Settings
from tiltmeter.lab.calibrate.dose_response import Null, Point, Summary
from tiltmeter.lab.reference.frames import frames
from tiltmeter.models.protocol import Identity
from tiltmeter.probes.kind import versions
from tiltmeter.readings import Estimate, Reading, ReadingStore
from tiltmeter.statistics import plain

PROBE = "calibration"
_MODEL = "reference models"
_CAVEATS = (
    "Reference models are tiny and their text is simple: a measure that fails here has failed on an easy case, one "
    "that passes has passed on an easy case.",
    "The planted bias is in how often pronouns go with occupations. A measure of something else may be sound and still "
    "not follow it.",
)


def to_readings(found: Calibration) -> list[Reading]:
    """The summary of each measure, with its points as items."""
    keys = {(each.measure, each.form): each for each in found.summaries}
    return [_reading(found.settings, each, found.points[key], found.nulls[key]) for key, each in keys.items()]


def save(found: Calibration, folder: str | Path) -> None:
    """Write the readings and, last, the manifest that names them."""
    store = ReadingStore(folder)
    store.prepare()
    readings = to_readings(found)
    files = [store.save(reading) for reading in readings]
    manifest: dict[str, Any] = {
        "suite": PROBE,
        "models": [_MODEL],
        "readings": files,
        "skipped": [],
        "asked": 0,
        "recalled": 0,
        "notes": [f"{each.what}: {each.reason}" for each in found.left_out],
    }
    store.save_manifest(manifest)


def _reading(settings: Settings, summary: Summary, points: tuple[Point, ...], null: Null) -> Reading:
    return Reading(
        id=f"{PROBE}-{summary.measure}-{summary.form}",
        probe=PROBE,
        title=f"Calibration of {summary.measure}, {summary.form}",
        model=_MODEL,
        effect=Estimate("Spearman's correlation with the dose", summary.spearman, 0.0, "nearer to 1 is better"),
        published=None,
        correction="",
        leans="",
        strength="",
        plain_words=plain_words(summary),
        n_items=len(points),
        n_units=len(points),
        items=tuple(_item(point) for point in points),
        left_out=(),
        caveats=_CAVEATS,
        provenance={
            "model": Identity(_MODEL, "-".join(recipe.key for recipe in settings.recipes)).to_dict(),
            "stimuli": frames().digest,
            "settings": plain(settings),
            "citation": "Calibration on models with a planted bias, tiltmeter's own.",
            "versions": versions(),
        },
        details={"summary": dataclasses.asdict(summary), "null": _null(null)},
    )


def _item(point: Point) -> dict[str, Any]:
    return {
        "dose": point.dose,
        "seed": point.seed,
        "value": point.value,
        "p_value": point.p_value,
        "by_set": [{"set": name, "value": value} for name, value in point.by_set.items()],
    }


def _null(null: Null) -> Mapping[str, Any]:
    return {"values": null.values.tolist(), "p_values": null.p_values.tolist()}


def plain_words(summary: Summary) -> str:
    """What calibration found of a measure, in a sentence."""
    told = (
        f"it tells a dose of {summary.smallest_dose:g} from no bias"
        if summary.smallest_dose is not None
        else "it tells no dose from no bias"
    )
    wrong = (
        f"; on models without bias {summary.false_positives:.1%} of {summary.n_null} readings are called a lean (5% by "
        "design)"
        if summary.false_positives is not None
        else ""
    )
    return f"{summary.measure}, {summary.form}: Spearman with the dose {summary.spearman:.2f}; {told}{wrong}."
