"""Does this installation read true? Known numbers in, and what comes out beside what should."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np

from tiltmeter.errors import TiltmeterError
from tiltmeter.lab.calibrate.bench import EVERY_KIND, LEVEL, BenchKind, Recipes, bench, require_lab
from tiltmeter.lab.calibrate.hand_examples import hand_examples
from tiltmeter.lab.calibrate.measure_forms import apart, random_halves, rank_correlation
from tiltmeter.lab.reference.planted_text import Reference, planted
from tiltmeter.lab.reference.reference import train_all
from tiltmeter.lab.reference.training import CAUSAL_RECIPE, RECIPE, TrainingRecipe
from tiltmeter.models import VectorStore
from tiltmeter.readings import ALPHA

_STRONG = 0.9
_DOSES = (LEVEL, _STRONG)
#: Half the text and an epoch fewer: a strong tilt is learned by then.
SMALL: Recipes = (
    dataclasses.replace(RECIPE, sentences=10_000, epochs=2),
    dataclasses.replace(CAUSAL_RECIPE, sentences=10_000, epochs=2),
)
_BREAKS_OFF = (TiltmeterError, ArithmeticError, ValueError, TypeError)
#: The kind of reference model that each measure is put to (all repaired), and its probe.
MEASURES: Mapping[str, tuple[BenchKind, str]] = {
    "unmasking (shares)": ("masked", "unmask-shares"),
    "LPBS": ("masked", "lpbs"),
    "pairs (meade)": ("masked", "pairs-meade"),
    "ClozeGender": ("causal", "cloze"),
    "CABM (equal)": ("vectors", "cabm"),
    "WEAT": ("vectors", "weat"),
    "SEAT": ("vectors", "seat"),
    "CEAT": ("vectors", "ceat"),
    "WEFAT": ("vectors", "wefat"),
}


#: A measure, and what is read of it.
Quantity: TypeAlias = tuple[str, str]


class Range(NamedTuple):
    """What a quantity may be."""

    low: float
    high: float

    def __str__(self) -> str:
        if math.isinf(self.high):
            return f"at least {self.low:g}"
        return f"{self.low:g} to {self.high:g}"

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high


ORDER = "order of the occupations on a tilt of 0.9 (Spearman)"
TILTED = "its number on a tilt of 0.9"
UNTILTED = "its number on a tilt of 0.5"
WIDTH = "width of its interval on a tilt of 0.9"
P_VALUE = "its p-value on a tilt of 0.9"
SDS_TILTED = "in SDs of chance on a tilt of 0.9"
SDS_UNTILTED = "in SDs of chance on a tilt of 0.5"
_HALVINGS = 200
#: On trained models: what chance does not reach. 60 occupations in random order are ordered so well once in 10,000
#: times, and halved at random they are so many SDs apart once in 150,000. In a text without a tilt they are all alike,
#: so which half is with men is chance too. ClozeGender need not be level there: GloVe's similarities lean of their own;
#: and with a tilt it is as few as 6 SDs from level on some seeds, so its order and its sign must do.
_ON_TRAINED = {
    ORDER: Range(0.48, 1.0),
    SDS_TILTED: Range(4.5, math.inf),
    SDS_UNTILTED: Range(-4.5, 4.5),
    TILTED: Range(0.0, math.inf),
    P_VALUE: Range(0.0, ALPHA),
}
#: On planted vectors, and of order and number on trained masked models: what one more seed stays within, as `python
#: benchmarks/selftest_seeds.py` prints it from many, which also counts how often other seeds fail. Shuffled answers
#: order nothing, and exchanged ones turn every sign.
LIMITS: Mapping[Quantity, Range] = {
    **{("unmasking (shares)", what): limits for what, limits in _ON_TRAINED.items()},
    **{("LPBS", what): limits for what, limits in _ON_TRAINED.items()},
    **{("pairs (meade)", what): limits for what, limits in _ON_TRAINED.items()},
    ("unmasking (shares)", ORDER): Range(0.9, 1.0),
    ("unmasking (shares)", TILTED): Range(0.78, 0.95),
    ("LPBS", ORDER): Range(0.89, 1.0),
    ("LPBS", TILTED): Range(1.46, 1.84),
    ("pairs (meade)", ORDER): Range(0.78, 1.0),
    ("pairs (meade)", TILTED): Range(0.26, 0.5),
    **{("ClozeGender", what): _ON_TRAINED[what] for what in (ORDER, TILTED)},
    ("CABM (equal)", ORDER): Range(0.83, 1.0),
    ("CABM (equal)", TILTED): Range(0.17, 0.38),
    ("CABM (equal)", UNTILTED): Range(-0.07, 0.07),
    ("WEAT", ORDER): Range(0.94, 1.0),
    ("WEAT", TILTED): Range(1.53, 1.84),
    ("WEAT", UNTILTED): Range(-1.38, 1.31),
    ("WEAT", WIDTH): Range(0.11, 0.5),
    ("WEAT", P_VALUE): Range(0.0, 0.05),
    ("SEAT", ORDER): Range(0.91, 1.0),
    ("SEAT", TILTED): Range(0.99, 1.88),
    ("SEAT", UNTILTED): Range(-0.73, 0.67),
    ("SEAT", WIDTH): Range(0.08, 1.31),
    ("SEAT", P_VALUE): Range(0.0, 0.05),
    ("CEAT", ORDER): Range(0.94, 1.0),
    ("CEAT", TILTED): Range(1.54, 1.82),
    ("CEAT", UNTILTED): Range(-1.37, 1.31),
    ("CEAT", WIDTH): Range(0.11, 0.44),
    ("CEAT", P_VALUE): Range(0.0, 0.05),
    ("WEFAT", ORDER): Range(0.88, 1.0),
    ("WEFAT", TILTED): Range(0.7, 0.96),
    ("WEFAT", UNTILTED): Range(-0.58, 0.56),
    ("WEFAT", WIDTH): Range(0.04, 0.33),
    ("WEFAT", P_VALUE): Range(0.0, 0.05),
}


@dataclasses.dataclass(frozen=True, slots=True)
class SelfCheck:
    """One thing that should be so, what it is, and whether that will do."""

    what: str
    expected: str
    actual: str
    passed: bool


def selftest(
    *,
    recipes: Recipes = SMALL,
    seed: int = 0,
    store: VectorStore | None = None,
    kinds: Collection[BenchKind] = EVERY_KIND,
) -> list[SelfCheck]:
    """Examples whose numbers are known by hand, then reference models without bias and with a strong one.

    A check that breaks off has failed; the others are made nevertheless. ``kinds`` leaves some reference models out.
    """
    require_lab("the self-test")
    return [*_by_hand(), *_on_models(recipes, seed, store, kinds)]


def models_of(
    recipes: Recipes = SMALL, seed: int = 0, kinds: Collection[BenchKind] = EVERY_KIND
) -> list[tuple[Reference, TrainingRecipe]]:
    """The models that are trained to be asked."""
    return [
        (Reference(dose, recipe.kind, seed), recipe) for dose in _DOSES for recipe in recipes if recipe.kind in kinds
    ]


def _by_hand() -> Iterator[SelfCheck]:
    for example in hand_examples():
        passed = False
        try:
            number = example.compute()
            actual = "nothing" if number is None else f"{number:.6f}"
            passed = number is not None and bool(abs(number - example.expected) <= example.tolerance)
        except _BREAKS_OFF as error:
            actual = f"{type(error).__name__}: {error}"
        yield SelfCheck(f"{example.what}, by hand", f"{example.expected:.6f}", actual, passed)


def _on_models(
    recipes: Recipes, seed: int, store: VectorStore | None, kinds: Collection[BenchKind]
) -> Iterator[SelfCheck]:
    try:
        values = quantities(recipes, seed, store, kinds)
    except _BREAKS_OFF as error:
        yield SelfCheck("reference models", "trained and asked", f"{type(error).__name__}: {error}", False)
        return
    for (measure, quantity), limits in LIMITS.items():
        if MEASURES[measure][0] in kinds:
            value = values.get((measure, quantity))
            actual = "nothing" if value is None else f"{value:.4g}"
            passed = value is not None and limits.holds(value)
            yield SelfCheck(f"{measure}, {quantity}", str(limits), actual, passed)


def quantities(
    recipes: Recipes, seed: int, store: VectorStore | None, kinds: Collection[BenchKind]
) -> dict[Quantity, float]:
    """What the measures read on reference models of a seed, through the probes that users run."""
    train_all(models_of(recipes, seed, kinds))
    with bench(only={probe for _, probe in MEASURES.values()}) as tools:
        level, strong = (tools.ask(recipes, dose, seed, store, kinds) for dose in _DOSES)
    truth = np.array(list(planted(_STRONG).values()))
    values = dict[Quantity, float]()
    for form, ((value, p_value), leans) in strong.readings.items():
        if form.measure not in MEASURES or form.form != "repaired":
            continue
        (untilted, _), level_leans = level.readings[form]
        values[form.measure, ORDER] = rank_correlation(truth, leans)
        values[form.measure, TILTED] = value
        if form.estimate is not None and p_value is not None:
            values[form.measure, P_VALUE] = p_value
        if MEASURES[form.measure][0] == "vectors":
            values[form.measure, UNTILTED] = untilted
            interval = strong.by_probe[form.probe].effect.ci
            if form.estimate is not None and interval is not None:
                values[form.measure, WIDTH] = interval.high - interval.low
        else:
            # Which half an occupation falls into by lot says nothing, so this is what chance reads without a tilt.
            lots = random_halves(len(truth), many=_HALVINGS, seed=[0])
            noise = float(np.std([apart(level_leans, half) for half in lots])) or math.nan
            values[form.measure, SDS_TILTED] = apart(leans, tools.men) / noise
            values[form.measure, SDS_UNTILTED] = apart(level_leans, tools.men) / noise
    return values
