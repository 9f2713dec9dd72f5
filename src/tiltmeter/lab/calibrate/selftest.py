"""Does this installation read true? Known numbers in, and what comes out beside what should."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from tiltmeter import measures
from tiltmeter.errors import TiltmeterError
from tiltmeter.lab.calibrate.bench import LEVEL, Recipes, bench, with_men
from tiltmeter.lab.calibrate.measure_forms import apart, halves, rank_correlation
from tiltmeter.lab.reference.planted_text import planted
from tiltmeter.lab.reference.reference import Reference, train_all
from tiltmeter.lab.reference.training import CAUSAL_RECIPE, RECIPE, TrainingRecipe
from tiltmeter.models import VectorStore
from tiltmeter.readings import ALPHA
from tiltmeter.statistics.groups import Floats

_STRONG = 0.9
_DOSES = (LEVEL, _STRONG)
#: Half the text and an epoch fewer: a strong tilt is learned by then.
SMALL = (
    dataclasses.replace(RECIPE, sentences=10_000, epochs=2),
    dataclasses.replace(CAUSAL_RECIPE, sentences=10_000, epochs=2),
)
#: What must follow a strong tilt: how well each orders the occupations at the least, and how far above chance (in its
#: SDs) it reads the tilt. Models of ten seeds all pass; shuffled or exchanged answers give 0 and 0, or less. Pairs by
#: their shared words do not follow well enough on models so small.
MUST_FOLLOW: Mapping[tuple[str, str], tuple[float, float]] = {
    ("unmasking", "repaired"): (0.9, 10),
    ("LPBS", "repaired"): (0.9, 10),
    ("pairs (meade)", "repaired"): (0.9, 10),
    ("CABM (equal)", "repaired"): (0.7, 6),
    ("WEAT", "repaired"): (0.8, 8),
    ("SEAT", "repaired"): (0.85, 12),
    ("CEAT", "repaired"): (0.5, 4),
    ("ClozeGender", "repaired"): (0.6, 5),
}
#: How far from 0, in SDs of chance, a model without a tilt may be read.
_NEAR = 4
_HALVINGS = 200
#: CEAT draws in single precision.
_ROUNDING = 1e-6
_BREAKS_OFF = (TiltmeterError, ArithmeticError, ValueError, TypeError)


@dataclasses.dataclass(frozen=True, slots=True)
class SelfCheck:
    """One thing that should be so, what it is, and whether that will do."""

    what: str
    expected: str
    actual: str
    passed: bool


def selftest(*, recipes: Recipes = SMALL, seed: int = 0, store: VectorStore | None = None) -> list[SelfCheck]:
    """Vectors whose numbers are known by hand, then reference models without bias and with a strong one.

    A check that breaks off has failed; the others are made all the same.
    """
    return [*_by_hand(), *_on_models(recipes, seed, store)]


def models_of(recipes: Recipes = SMALL, seed: int = 0) -> list[tuple[Reference, TrainingRecipe]]:
    """The models that are asked."""
    return [(Reference(dose, recipe.kind, seed), recipe) for dose in _DOSES for recipe in recipes]


def _by_hand() -> Iterator[SelfCheck]:
    """Two dimensions: the first is men, the second women; d and S by hand."""
    men, women = np.array([[1.0, 0.0], [0.8, 0.6]]), np.array([[0.0, 1.0], [0.6, 0.8]])
    a, b = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    # s is 1, .2, -1 and -.2: means .6 and -.6, and an SD of sqrt(2.08 / 3).
    d = 1.2 / np.sqrt(2.08 / 3)
    lists = [[vector[None] for vector in group] for group in (men, women, a, b)]
    logs = np.log([[0.4], [0.3], [0.1], [0.2]]), np.log([[0.1], [0.3], [0.4], [0.4]])
    flat = np.log(np.full((4, 1), 0.2))
    # The second of three tokens is changed: -3 against -5 in what is shared, -2 against -1 in what is not.
    pair = ([-1.0, -2.0, -2.0], [5, 1, 6], [-2.0, -1.0, -3.0], [5, 2, 6])
    by_hand: tuple[tuple[str, float, Callable[[], float | None]], ...] = (
        ("WEAT", d, lambda: measures.weat(men, women, a, b).effect_size),
        ("SEAT", d, lambda: measures.association(men, women, a, b).effect_size),
        ("CEAT", d, lambda: measures.ceat(*lists, draws=10).repaired.effect_size),
        ("RIPA", 1.0, lambda: measures.ripa(2 * np.eye(2), a, -a).score),
        ("LPBS", float(np.log(4)), lambda: measures.lpbs(logs[0], flat, logs[1], flat).associations[0]),
        ("unmasking", 0.15, lambda: measures.pronoun_gap([0.4, 0.3], [0.1, 0.3]).gap),
        ("pairs", 0.75, lambda: measures.crows_pairs([-1.0, -2.0, -3.0, -1.0], [-2.0, -3.0, -2.0, -2.0]).score),
        ("pairs (nangia)", 2.0, lambda: _gap(measures.nangia(*pair))),
        ("pairs (meade)", -1.0, lambda: _gap(measures.meade(*pair))),
        ("ClozeGender", 1.0, lambda: measures.cloze([0.4, 0.5], [0.1, 0.2], [0.0, 0.0], [0.0, 0.0]).share_1),
        ("CABM", 0.35, lambda: float(measures.cabm([[1.0, 0.2, -0.8]], [0.5, 0.25, 0.25]).scores[0])),
    )
    for name, expected, compute in by_hand:
        passed = False
        try:
            number = compute()
            actual = "nothing" if number is None else f"{number:.6f}"
            passed = number is not None and bool(abs(number - expected) < _ROUNDING)
        except _BREAKS_OFF as error:
            actual = f"{type(error).__name__}: {error}"
        yield SelfCheck(f"{name}, by hand", f"{expected:.6f}", actual, passed)


def _gap(scores: tuple[float, float] | None) -> float | None:
    return None if scores is None else scores[0] - scores[1]


def _on_models(recipes: Recipes, seed: int, store: VectorStore | None) -> Iterator[SelfCheck]:
    try:
        train_all(models_of(recipes, seed))
        with bench() as tools:
            level, strong = (
                {form.key: (form, *read) for form, read in tools.ask(recipes, dose, seed, store).readings.items()}
                for dose in _DOSES
            )
    except _BREAKS_OFF as error:
        yield SelfCheck("reference models", "trained and asked", f"{type(error).__name__}: {error}", False)
        return
    for key, least in MUST_FOLLOW.items():
        if key in strong and key in level:
            yield from _follows(key[0], *least, level[key][2], strong[key][2])
            form, (value, p_value), _ = strong[key]
            if form.estimate is not None:
                right = value > 0 and p_value is not None and p_value <= ALPHA
                said = f"{value:+.3f}, p {p_value}"
                yield SelfCheck(f"{key[0]}, its effect on a tilt of {_STRONG:g}", "above level, p <= .05", said, right)
        else:
            yield SelfCheck(f"{key[0]}, on a tilt of {_STRONG:g}", "a number", "nothing", False)


def _follows(name: str, least: float, above: float, level: Floats, strong: Floats) -> Iterator[SelfCheck]:
    truth = planted(_STRONG)
    order = rank_correlation(np.array(list(truth.values())), strong)
    wanted = f"orders the occupations, Spearman at least {least:g}"
    yield SelfCheck(f"{name}, on a tilt of {_STRONG:g}", wanted, f"{order:.2f}", order >= least)
    men = with_men(truth)
    # Which half an occupation falls into by lot says nothing, so this is what chance reads on a model without bias.
    noise = float(np.std([apart(level, half) for half in halves(len(men), many=_HALVINGS, seed=[0])]))
    far, near = (apart(leans, men) / noise if noise > 0 else np.nan for leans in (strong, level))
    name = f"{name}, in SDs of chance"
    yield SelfCheck(f"{name} on a tilt of {_STRONG:g}", f"at least {above:g}", f"{far:.1f}", bool(far >= above))
    limits = f"-{_NEAR:g} to {_NEAR:g}"
    yield SelfCheck(f"{name} on a tilt of {LEVEL:g}", limits, f"{near:.1f}", bool(abs(near) <= _NEAR))
