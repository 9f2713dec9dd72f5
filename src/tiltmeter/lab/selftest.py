"""Does this installation read true? Known numbers in, and what comes out beside what should."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from tiltmeter import measures
from tiltmeter.errors import TiltmeterError
from tiltmeter.lab.calibration import QUICK, Settings, read_models, with_men
from tiltmeter.lab.dose_response import rank_correlation
from tiltmeter.lab.recipe import CAUSAL_RECIPE, RECIPE
from tiltmeter.lab.reference import reference_folder
from tiltmeter.lab.text import planted
from tiltmeter.models import VectorStore

_LEVEL, _STRONG = 0.5, 0.9
#: One epoch fewer: a strong tilt is learned by then.
SMALL = dataclasses.replace(
    QUICK,
    doses=(_LEVEL, 0.75, _STRONG),
    recipes=(dataclasses.replace(RECIPE, epochs=2), dataclasses.replace(CAUSAL_RECIPE, epochs=2)),
)
#: What must follow a strong tilt, and how well each orders the occupations at the least.
MUST_FOLLOW: Mapping[tuple[str, str], float] = {
    ("unmasking", "corrected"): 0.9,
    ("LPBS", "corrected"): 0.9,
    ("pairs (nangia)", "corrected"): 0.7,
    ("pairs (meade)", "corrected"): 0.9,
    ("CABM (equal)", "corrected"): 0.6,
    ("ClozeGender", "corrected"): 0.6,
}
#: CEAT draws in single precision.
_ROUNDING = 1e-6


@dataclasses.dataclass(frozen=True, slots=True)
class Check:
    """One thing that should be so, and whether it is."""

    what: str
    expected: str
    found: str
    passed: bool


def selftest(*, settings: Settings = SMALL, store: VectorStore | None = None) -> list[Check]:
    """Vectors whose numbers are known by hand, then reference models without bias and with a strong one.

    A check that breaks off has failed; the others go on.
    """
    return [*_planted_vectors(), *_reference_models(settings, store)]


def _planted_vectors() -> Iterator[Check]:
    """Two dimensions: the first is men, the second women; d and S by hand."""
    men, women = np.array([[1.0, 0.0], [0.8, 0.6]]), np.array([[0.0, 1.0], [0.6, 0.8]])
    a, b = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    # s is 1, .2, -1 and -.2: means .6 and -.6, and an SD of sqrt(2.08 / 3).
    d = 1.2 / np.sqrt(2.08 / 3)
    lists = [[each[None] for each in group] for group in (men, women, a, b)]
    logs = np.log([[0.4], [0.3], [0.1], [0.2]]), np.log([[0.1], [0.3], [0.4], [0.4]])
    flat = np.log(np.full((4, 1), 0.2))
    known: tuple[tuple[str, float, Callable[[], float | None]], ...] = (
        ("WEAT", d, lambda: measures.weat(men, women, a, b).effect_size),
        ("SEAT", d, lambda: measures.association(men, women, a, b).effect_size),
        ("CEAT", d, lambda: measures.ceat(*lists, draws=10).corrected.effect_size),
        ("RIPA", 1.0, lambda: measures.ripa(2 * np.eye(2), a, -a).score),
        ("LPBS", float(np.log(4)), lambda: measures.lpbs(logs[0], flat, logs[1], flat).associations[0]),
        ("unmasking", 0.15, lambda: measures.pronoun_gap([0.4, 0.3], [0.1, 0.3]).gap),
        ("pairs", 0.75, lambda: measures.crows_pairs([-1.0, -2.0, -3.0, -1.0], [-2.0, -3.0, -2.0, -2.0]).score),
        ("ClozeGender", 1.0, lambda: measures.cloze([0.4, 0.5], [0.1, 0.2], [0.0, 0.0], [0.0, 0.0]).share_1),
        ("CABM", 0.35, lambda: float(measures.cabm([[1.0, 0.2, -0.8]], [0.5, 0.25, 0.25]).scores[0])),
    )
    for name, expected, compute in known:
        try:
            found = compute()
        except (TiltmeterError, ArithmeticError, ValueError, TypeError) as error:
            yield Check(f"{name}, by hand", f"{expected:.6f}", f"{type(error).__name__}: {error}", False)
            continue
        passed = found is not None and bool(abs(found - expected) < _ROUNDING)
        yield Check(f"{name}, by hand", f"{expected:.6f}", "nothing" if found is None else f"{found:.6f}", passed)


def _reference_models(settings: Settings, store: VectorStore | None) -> Iterator[Check]:
    try:
        for dose in (_LEVEL, _STRONG):
            for recipe in settings.recipes:
                reference_folder(settings.model(dose, 0, recipe.kind).name, recipe=recipe)
        level, strong = (
            {(each.measure, each.form): each for each in read_models(settings, dose, 0, store)}
            for dose in (_LEVEL, _STRONG)
        )
    except TiltmeterError as error:
        yield Check("reference models", "trained and asked", str(error), False)
        return
    truth = np.array(list(planted(_STRONG).values()))
    men = with_men(planted(_STRONG))
    for key, least in MUST_FOLLOW.items():
        name = f"{key[0]}, on a tilt of {_STRONG:g}"
        if key not in strong or key not in level:
            yield Check(name, "a number", "nothing", False)
            continue
        order = rank_correlation(truth, strong[key].of_occupations)
        yield Check(name, f"orders the occupations, Spearman at least {least:g}", f"{order:.2f}", order >= least)
        high, low = strong[key].judge(men).value, level[key].judge(men).value
        yield Check(
            f"{key[0]}, {_STRONG:g} against {_LEVEL:g}",
            "above 0, and at least three times what it reads without bias",
            f"{high:.3g} against {low:.3g}",
            bool(high > 0 and high > 3 * abs(low)),
        )
