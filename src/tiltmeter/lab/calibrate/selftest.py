"""Does this installation read true? Known numbers in, and what comes out beside what should."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple, TypeAlias

import numpy as np

from tiltmeter.errors import TiltmeterError
from tiltmeter.lab.calibrate.bench import EVERY_KIND, LEVEL, BenchKind, Recipes, bench
from tiltmeter.lab.calibrate.hand_examples import hand_examples
from tiltmeter.lab.calibrate.measure_forms import rank_correlation
from tiltmeter.lab.reference.planted_text import planted
from tiltmeter.lab.reference.reference import Reference, train_all
from tiltmeter.lab.reference.training import CAUSAL_RECIPE, RECIPE, TrainingRecipe
from tiltmeter.models import VectorStore

_STRONG = 0.9
_DOSES = (LEVEL, _STRONG)
_SMALL = {"sentences": 5_000, "first_batch": 32, "epochs": 3, "width": 32}
#: Half as wide, from a quarter of the text: a strong tilt is learned all the same, in a third of the time.
SMALL: Recipes = (dataclasses.replace(RECIPE, **_SMALL), dataclasses.replace(CAUSAL_RECIPE, **_SMALL))
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
        return f"{self.low:g} to {self.high:g}"

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high


ORDER = "order of the occupations on a tilt of 0.9 (Spearman)"
TILTED = "its number on a tilt of 0.9"
UNTILTED = "its number on a tilt of 0.5"
WIDTH = "width of its interval on a tilt of 0.9"
P_VALUE = "its p-value on a tilt of 0.9"
#: What one more seed stays within, as `python benchmarks/selftest_seeds.py` prints it from many, which also counts how
#: often other seeds fail. Shuffled answers order nothing, and exchanged ones turn every sign.
LIMITS: Mapping[Quantity, Range] = {}


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

    A check that breaks off has failed; the others are made all the same. ``kinds`` leaves some reference models out.
    """
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
    found = dict[Quantity, float]()
    for form, ((value, p_value), leans) in strong.readings.items():
        if form.measure not in MEASURES or form.form != "repaired":
            continue
        found[form.measure, ORDER] = rank_correlation(truth, leans)
        found[form.measure, TILTED] = value
        found[form.measure, UNTILTED] = level.readings[form][0][0]
        interval = strong.by_probe[form.probe].effect.ci
        if form.estimate is not None and interval is not None and p_value is not None:
            found[form.measure, WIDTH] = interval.high - interval.low
            found[form.measure, P_VALUE] = p_value
    return found
