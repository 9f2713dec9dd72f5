"""Calibration: what the probes that users run read on models whose bias is known, dose by dose."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import numpy as np

from tiltmeter.errors import BadInput
from tiltmeter.lab.calibrate.bench import LEVEL, Number, Recipes, bench, require_lab
from tiltmeter.lab.calibrate.measure_forms import DosePoint, Key, NullReadings, random_halves, summarise_points
from tiltmeter.lab.reference.planted_text import Reference, frames, planted
from tiltmeter.lab.reference.reference import side_by_side, train_all
from tiltmeter.lab.reference.training import CAUSAL_RECIPE, RECIPE, TrainingRecipe
from tiltmeter.models import VectorStore
from tiltmeter.models.protocol import Identity
from tiltmeter.probes.kind import versions
from tiltmeter.progress import progress_bar
from tiltmeter.readings import About, Estimate, LeftOut, Provenance, Reading, ReadingStore
from tiltmeter.readings.details.calibration import CalibrationDetails
from tiltmeter.readings.reading import Cell, Item, ItemMeaning, Statistic
from tiltmeter.readings.scale import COHERENCE, Poles


@dataclasses.dataclass(frozen=True, slots=True)
class CalibrationSettings:
    """Which models are trained, and how many null readings each of those without bias gives."""

    doses: tuple[float, ...] = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
    seeds: int = 4
    nulls: int = 200
    recipes: Recipes = (RECIPE, CAUSAL_RECIPE)

    def __post_init__(self) -> None:
        if len(set(self.doses)) < 3 or LEVEL not in self.doses or not all(LEVEL <= dose <= 0.99 for dose in self.doses):
            raise BadInput("doses must be .5 (no bias) and at least two others, up to .99, e.g. .5,.6,.75,.9")
        if len(set(self.doses)) < len(self.doses):
            raise BadInput("a dose appears twice: give each once")
        if self.seeds < 2:
            raise BadInput(
                f"calibration needs models of at least 2 seeds, to see how far they differ, not {self.seeds}"
            )

    @property
    def models(self) -> list[tuple[Reference, TrainingRecipe]]:
        every = itertools.product(self.doses, range(self.seeds), self.recipes)
        return [(Reference(dose, recipe.kind, seed), recipe) for dose, seed, recipe in every]


QUICK = CalibrationSettings(doses=(0.5, 0.6, 0.75, 0.9), seeds=2, nulls=100)


@dataclasses.dataclass(frozen=True, slots=True)
class Calibration:
    """What calibration says of each form of a measure, the points behind it, and what could not be calibrated."""

    settings: CalibrationSettings
    summaries: tuple[CalibrationDetails, ...]
    points: Mapping[Key, tuple[DosePoint, ...]]
    left_out: tuple[LeftOut, ...]


def calibrate(
    settings: CalibrationSettings = QUICK, *, store: VectorStore | None = None, progress: bool | None = None
) -> Calibration:
    """Train the models that are not there yet, put the probes to them, and sum up what each measure makes of them."""
    require_lab("a calibration")
    train_all(settings.models, progress=progress)
    # Those without bias have most to read, and so come first.
    models = list(itertools.product(sorted(settings.doses), range(settings.seeds)))
    cache = None if store is None else store.path.parent
    tasks = [partial(_read_model, settings, dose, seed, cache) for dose, seed in models]
    with progress_bar("asking the models", len(models), show=progress) as advance:
        (units, *_), points, nulls = zip(*side_by_side(tasks, lambda: advance(1)), strict=True)
    complete: dict[Key, tuple[DosePoint, ...]] = {
        key: tuple(own[key] for own in points) for key in units if all(key in own for own in points)
    }
    truth = np.array(list(planted(max(settings.doses)).values()))
    summaries = []
    for key, own in complete.items():
        numbers = [number for of_model in nulls for number in of_model.get(key, ())]
        p_values = [p_value for _, p_value in numbers if p_value is not None]
        null = NullReadings(np.array([value for value, _ in numbers]), np.array(p_values))
        summaries.append(summarise_points(*key, units[key], own, null, truth))
    reason = "its forest had all occupations in one category on some model, so it had nothing to learn"
    left_out = tuple(LeftOut(", ".join(key), reason) for key in units if key not in complete)
    return Calibration(settings, tuple(summaries), complete, left_out)


def _read_model(
    settings: CalibrationSettings, dose: float, seed: int, cache: Path | None
) -> tuple[dict[Key, str], dict[Key, DosePoint], dict[Key, list[Number]]]:
    """The unit of every form of a measure, what it reads on the models of a dose and a seed, and its null readings."""
    nulls: dict[Key, list[Number]] = {}
    with bench() as tools, contextlib.nullcontext() if cache is None else VectorStore(cache) as store:
        asked = tools.ask(settings.recipes, dose, seed, store)
        by_set = tools.numbers_by_set(asked) if dose == max(settings.doses) else {}
        for men in random_halves(len(tools.men), many=settings.nulls if dose == LEVEL else 0, seed=[seed, 3]):
            for key, number in tools.null_numbers(asked, men).items():
                nulls.setdefault(key, []).append(number)
    points = {
        form.key: DosePoint(dose, seed, *number, leans, by_set.get(form.key, {}))
        for form, (number, leans) in asked.readings.items()
    }
    return {form.key: form.unit for form in tools.forms}, points, nulls


_PROBE = CalibrationDetails.kind
_MODEL = "reference models"
_ABOUT = About(
    summary="What a measure finds on models with a planted bias, dose by dose",
    idea="a measure should grow with the planted bias, and find nothing where there is none.",
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
    points = calibration.points
    return [
        _reading(calibration.settings, summary, points[summary.measure, summary.form])
        for summary in calibration.summaries
    ]


def save(calibration: Calibration, folder: str | Path) -> None:
    """Write the readings and, last, the manifest that names them."""
    store = ReadingStore(folder)
    store.prepare()
    files = [store.save(reading) for reading in to_readings(calibration)]
    notes = [f"{left_out.what}: {left_out.reason}" for left_out in calibration.left_out]
    empty = {"skipped": [], "asked": 0, "recalled": 0}
    store.save_manifest({"suite": _PROBE, "models": [_MODEL], "readings": files, **empty, "notes": notes})


def _reading(settings: CalibrationSettings, summary: CalibrationDetails, points: tuple[DosePoint, ...]) -> Reading:
    recipes = "-".join(recipe.key for recipe in settings.recipes)
    chosen: dict[str, Cell] = {
        "doses": ",".join(f"{dose:g}" for dose in settings.doses),
        "seeds": settings.seeds,
        "nulls": settings.nulls,
    }
    items = list[Item]()
    for point in points:
        name = f"dose {point.dose:g}, seed {point.seed}"
        columns = {"dose": point.dose, "seed": point.seed, "p_value": point.p_value}
        items.append(Item(name, name, f"dose {point.dose:g}", point.value, columns))
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
        finding=in_words(summary),
        n_items=len(points),
        n_units=len(points),
        items=tuple(items),
        item_meaning=ItemMeaning(summary.unit, Poles("towards what is planted", "against what is planted")),
        statistic=Statistic("spearman", ("value", "dose")),
        left_out=(),
        notes=(),
        about=_ABOUT,
        provenance=Provenance(Identity(_MODEL, recipes), frames().digest, chosen, versions()),
        details=summary,
    )


def in_words(summary: CalibrationDetails) -> str:
    """What calibration says of a measure, in a sentence."""
    least, wrong = summary.smallest_dose, summary.false_positives
    said = f"{summary.measure}, {summary.form}: Spearman with the dose {summary.spearman:.2f}; it tells "
    said += f"{'no dose' if least is None else f'a dose of {least:g}'} from no bias"
    if wrong is not None:
        said += f"; on models without bias {wrong:.1%} of {summary.n_null} readings are called a lean (5% by design)"
    return f"{said}."
