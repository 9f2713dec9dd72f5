"""Calibration: what every measure reads on models whose bias is known, dose by dose."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping

import numpy as np

from tiltmeter.errors import BadInput
from tiltmeter.lab.calibrate.cabm_leans import cabm_leans
from tiltmeter.lab.calibrate.causal_leans import causal_leans
from tiltmeter.lab.calibrate.dose_response import Null, Point, Summary, summarised
from tiltmeter.lab.calibrate.leans import Leans, Men, halves
from tiltmeter.lab.calibrate.masked_leans import masked_leans
from tiltmeter.lab.calibrate.vector_leans import vector_leans
from tiltmeter.lab.reference.planted_text import planted
from tiltmeter.lab.reference.recipe import CAUSAL_RECIPE, RECIPE, Recipe
from tiltmeter.lab.reference.reference import Reference
from tiltmeter.lab.reference.side_by_side import train_all
from tiltmeter.lab.reference.spec import ReferenceModel
from tiltmeter.models import CachedModel, VectorStore
from tiltmeter.progress import progress_bar
from tiltmeter.readings import LeftOut
from tiltmeter.stimuli import group

#: No bias: every calibration has it.
LEVEL = 0.5
#: A measure and its form.
Key = tuple[str, str]


@dataclasses.dataclass(frozen=True, slots=True)
class Settings:
    """Which models are trained, and how many null readings each of those without bias gives."""

    doses: tuple[float, ...] = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
    seeds: int = 4
    nulls: int = 200
    recipes: tuple[Recipe, Recipe] = (RECIPE, CAUSAL_RECIPE)

    def __post_init__(self) -> None:
        if len(set(self.doses)) < 3 or LEVEL not in self.doses or not all(LEVEL <= dose <= 0.99 for dose in self.doses):
            raise BadInput("doses must be .5 (no bias) and at least two others, up to .99, e.g. .5,.6,.75,.9")
        if len(set(self.doses)) < len(self.doses):
            raise BadInput("a dose is there twice: give each once")
        if self.seeds < 2:
            raise BadInput(
                f"calibration needs models of at least 2 seeds, to see how far they differ, not {self.seeds}"
            )

    @property
    def models(self) -> list[tuple[Reference, Recipe]]:
        every = itertools.product(self.doses, range(self.seeds), self.recipes)
        return [(Reference(dose, recipe.kind, seed), recipe) for dose, seed, recipe in every]


QUICK = Settings(doses=(0.5, 0.6, 0.75, 0.9), seeds=2, nulls=100)


@dataclasses.dataclass(frozen=True, slots=True)
class Calibration:
    """The summary of each measure, the points behind it, its null readings, and what could not be calibrated."""

    settings: Settings
    summaries: tuple[Summary, ...]
    points: Mapping[Key, tuple[Point, ...]]
    nulls: Mapping[Key, Null]
    left_out: tuple[LeftOut, ...]


def calibrate(
    settings: Settings = QUICK, *, store: VectorStore | None = None, progress: bool | None = None
) -> Calibration:
    """Train the models that are not there yet, ask them, and sum up what each measure makes of them."""
    train_all(settings.models, progress=progress)
    men = with_men(planted(max(settings.doses)))
    points: dict[Key, list[Point]] = {}
    nulls: dict[Key, list[Null]] = {}
    models = list(itertools.product(sorted(settings.doses), range(settings.seeds)))
    with progress_bar("asking the models", len(models), show=progress) as advance:
        for dose, seed in models:
            for leans in read_models(settings.recipes, dose, seed, store):
                key = (leans.measure, leans.form)
                points.setdefault(key, []).append(_point(leans, dose, seed, men))
                if dose == LEVEL:
                    nulls.setdefault(key, []).append(_null(leans, settings.nulls, seed))
            advance(1)
    complete = {key: tuple(own) for key, own in points.items() if len(own) == len(models)}
    together = {key: Null.together(nulls[key]) for key in complete}
    truth = np.array(list(planted(max(settings.doses)).values()))
    summaries = (summarised(*key, own, together[key], truth) for key, own in complete.items())
    return Calibration(settings, tuple(summaries), complete, together, _left_out(points, complete))


def _left_out(points: Mapping[Key, object], complete: Mapping[Key, object]) -> tuple[LeftOut, ...]:
    """Weightings of CABM that a forest could not learn on every model."""
    wanted = dict.fromkeys([*points, *((measure, "published") for measure, _ in points if measure.startswith("CABM"))])
    reason = "its forest found all occupations in one category on some model, so it had nothing to learn"
    return tuple(LeftOut(", ".join(key), reason) for key in wanted if key not in complete)


def read_models(
    recipes: tuple[Recipe, Recipe], dose: float, seed: int, store: VectorStore | None, *, forests: bool = True
) -> list[Leans]:
    """What every measure says of the masked and of the causal model of a dose."""
    words = list(planted(LEVEL))
    women = {word.text: float(word.properties["female_share"]) / 100 for word in group("occupations.all").words}
    masked, causal = (
        CachedModel(ReferenceModel(Reference(dose, recipe.kind, seed).name, recipe=recipe), store) for recipe in recipes
    )
    return [
        *masked_leans(masked, words),
        *cabm_leans(masked, words, women, forests=forests),
        *vector_leans(masked, words),
        *causal_leans(causal, words),
    ]


def with_men(shares: Mapping[str, float]) -> Men:
    """The half of the occupations with the larger share of he.

    >>> with_men({"nurse": 0.1, "plumber": 0.9}).tolist()
    [False, True]
    """
    order = np.argsort(list(shares.values()), kind="stable")
    men = np.zeros(len(order), dtype=bool)
    men[order[len(order) // 2 :]] = True
    return men


def _point(leans: Leans, dose: float, seed: int, men: Men) -> Point:
    found = leans.judge(men)
    return Point(dose, seed, found.value, found.p_value, leans.by_set(men), leans.of_occupations, unit=leans.unit)


def _null(leans: Leans, many: int, seed: int) -> Null:
    judged = [leans.judge(men) for men in halves(len(leans.values), many=many, seed=[seed, 3])]
    p_values = [each.p_value for each in judged if each.p_value is not None]
    return Null(np.array([each.value for each in judged]), np.array(p_values))
