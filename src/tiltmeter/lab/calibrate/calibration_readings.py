"""A calibration on disk: one reading per form of a measure, in a folder like that of an audit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tiltmeter.lab.calibrate.calibration import Calibration, CalibrationSettings
from tiltmeter.lab.calibrate.dose_response import DosePoint
from tiltmeter.lab.reference.frames import frames
from tiltmeter.models.protocol import Identity
from tiltmeter.probes.kind import versions
from tiltmeter.readings import (
    About,
    Cell,
    Estimate,
    Item,
    ItemMeaning,
    Poles,
    Provenance,
    Reading,
    ReadingStore,
    Statistic,
)
from tiltmeter.readings.details.calibration import CalibrationDetails
from tiltmeter.readings.scale import COHERENCE

_PROBE = CalibrationDetails.kind
_MODEL = "reference models"
_ABOUT = About(
    summary="What a measure reads on models with a planted bias, dose by dose",
    idea="a measure should grow with the bias that is planted, and read nothing where there is none.",
    citation="Calibration on models with a planted bias, tiltmeter's own.",
    caveats=(
        "Reference models are tiny and their text is simple: a measure that fails here has failed on an easy case, one "
        "that passes has passed on an easy case.",
        "The planted bias is in how often pronouns go with occupations. A measure of something else may be sound and "
        "still not follow it.",
    ),
)


def to_readings(calibration: Calibration) -> list[Reading]:
    """The summary of each measure, with its points as items."""
    return [
        _reading(calibration.settings, summary, calibration.points[summary.measure, summary.form])
        for summary in calibration.summaries
    ]


def save(calibration: Calibration, folder: str | Path) -> None:
    """Write the readings and, last, the manifest that names them."""
    store = ReadingStore(folder)
    store.prepare()
    manifest: dict[str, Any] = {
        "suite": _PROBE,
        "models": [_MODEL],
        "readings": [store.save(reading) for reading in to_readings(calibration)],
        "skipped": [],
        "asked": 0,
        "recalled": 0,
        "notes": [f"{left_out.what}: {left_out.reason}" for left_out in calibration.left_out],
    }
    store.save_manifest(manifest)


def _reading(settings: CalibrationSettings, summary: CalibrationDetails, points: tuple[DosePoint, ...]) -> Reading:
    recipes = "-".join(recipe.key for recipe in settings.recipes)
    chosen: dict[str, Cell] = {
        "doses": ",".join(f"{dose:g}" for dose in settings.doses),
        "seeds": settings.seeds,
        "nulls": settings.nulls,
    }
    return Reading(
        id=f"{_PROBE}-{summary.measure}-{summary.form}",
        probe=_PROBE,
        title=f"Calibration of {summary.measure}, {summary.form}",
        model=_MODEL,
        dimension="gender",
        # A measure should follow what is planted: no finding about a model, and no test to correct others for.
        control=True,
        family="control",
        effect=Estimate("Spearman's correlation with the dose", summary.spearman, COHERENCE),
        published=None,
        repair="",
        poles=None,
        plain_words=plain_words(summary),
        n_items=len(points),
        n_units=len(points),
        items=tuple(_item(point) for point in points),
        item_meaning=ItemMeaning(summary.unit, Poles("towards what is planted", "against what is planted")),
        statistic=Statistic("spearman", ("value", "dose")),
        left_out=(),
        notes=(),
        about=_ABOUT,
        provenance=Provenance(
            Identity(_MODEL, recipes),
            frames().digest,
            chosen,
            versions(),
        ),
        details=summary,
    )


def _item(point: DosePoint) -> Item:
    name = f"dose {point.dose:g}, seed {point.seed}"
    columns = {"dose": point.dose, "seed": point.seed, "p_value": point.p_value}
    return Item(name, name, f"dose {point.dose:g}", point.value, columns)


def plain_words(summary: CalibrationDetails) -> str:
    """What calibration says of a measure, in a sentence."""
    smallest = (
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
    return f"{summary.measure}, {summary.form}: Spearman with the dose {summary.spearman:.2f}; {smallest}{wrong}."
