"""What the reading of a probe says of every occupation, and the one number that its measure is calibrated by.

The planted bias puts half of the occupations with men and half with women. Whatever a measure is about, what it says of
a model comes down to one signed number: how much more it lets the first half lean towards men than the second. Where
the reading compares the two halves itself, that is its effect, as a distance from level, and its p-value counts. Where
it does not, the number is the difference between the halves of what its items say, in their own units. On a model
without bias it should be 0 whichever way the occupations are halved.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tiltmeter.readings import ALPHA, Estimate, Item, Reading
from tiltmeter.readings.details.cabm import CabmDetails
from tiltmeter.readings.details.calibration import CalibrationDetails
from tiltmeter.statistics.groups import Floats

Form: TypeAlias = Literal["published", "repaired"]
#: Which occupations are with men; the others are with women.
Men: TypeAlias = NDArray[np.bool_]
#: A measure and its form.
Key: TypeAlias = tuple[str, str]
#: Towards men, by occupation.
Leans: TypeAlias = Mapping[str, float]
LeansOf: TypeAlias = Callable[[Reading, Mapping[str, int]], Leans | None]


@dataclasses.dataclass(frozen=True, slots=True)
class MeasureForm:
    """One form of a measure, and how it is taken from the readings of ``probe``.

    ``lean`` takes the leans of occupations from a reading, whose halves are given as +1 (with men) and -1 by
    occupation (None where it has no such form); ``estimate`` is what compares the halves, where the reading does.
    """

    measure: str
    form: Form
    unit: str
    probe: str
    lean: LeansOf
    estimate: Callable[[Reading], Estimate | None] | None = None

    @property
    def key(self) -> Key:
        return self.measure, self.form

    def number(self, reading: Reading | None, leans: Floats, men: Men) -> tuple[float, float | None]:
        """The number for these halves, and its p-value where the reading of them has one."""
        if self.estimate is None or reading is None:
            return apart(leans, men), None
        estimate = self.estimate(reading) or reading.effect  # where nothing differs, nothing is published apart
        return estimate.value - estimate.level, estimate.p_value


def apart(leans: Floats, men: Men) -> float:
    """How much more the occupations with men lean towards men than those with women.

    >>> apart(np.array([3.0, 1.0, -2.0, 0.0]), np.array([True, True, False, False]))
    3.0
    """
    return float(leans[men].mean() - leans[~men].mean())


def random_halves(n: int, *, many: int, seed: Sequence[int]) -> list[Men]:
    """Random halvings of n occupations.

    >>> [men.sum().item() for men in random_halves(6, many=2, seed=[0])]
    [3, 3]
    """
    rng = np.random.default_rng(list(seed))
    first = np.arange(n) < n // 2
    return [rng.permutation(first) for _ in range(many)]


def measure_forms(occupation_of: Mapping[str, str], explainer: str) -> tuple[MeasureForm, ...]:
    """Every form that is calibrated.

    ``occupation_of`` is the occupation that a sentence of a pair is about, ``explainer`` the weighting of CABM that
    explains a forest: ``shap_rf`` or what takes its place.
    """
    # A pair leans to the sentence that fits the halves, which is about a man or about a woman.
    pair = partial(_sided, occupation=lambda item: occupation_of[item.label])
    both: tuple[Form, Form] = ("published", "repaired")
    pairs = [
        form
        for method in ("nangia", "meade")
        for form in (
            MeasureForm(f"pairs ({method})", "repaired", "share", f"pairs-{method}", pair(_won), _effect),
            MeasureForm(f"pairs ({method}, log-odds)", "repaired", "log-odds", f"pairs-{method}", pair(value_of)),
        )
    ]
    return (
        MeasureForm("unmasking", "repaired", "P(he) - P(she)", "unmask", _items(value_of)),
        MeasureForm(
            "unmasking (shares)", "repaired", "correlation", "unmask-shares", _items(column("share_he")), _effect
        ),
        MeasureForm("LPBS", "repaired", "d", "lpbs", _items(value_of), _effect),
        MeasureForm("LPBS (log-odds)", "published", "log-odds", "lpbs", _items(column("fill_bias"))),
        MeasureForm("LPBS (log-odds)", "repaired", "log-odds", "lpbs", _items(value_of)),
        MeasureForm("pronouns", "repaired", "share", "pronouns", _sided(_won), _effect),
        MeasureForm("pronouns (log-odds)", "repaired", "log-odds", "pronouns", _sided(value_of)),
        *pairs,
        *(
            MeasureForm(f"CABM ({weighting})", form, "score", "cabm", _weighted(weighting, form))
            for form in both
            for weighting in ("equal", "pca", "pca_rf", explainer)
        ),
        *(
            MeasureForm(name, form, "d", name.lower(), _items(value_of), estimate)
            for name in ("WEAT", "SEAT", "CEAT")
            for form, estimate in zip(both, (_published, _effect), strict=True)
        ),
        MeasureForm("WEFAT", "repaired", "correlation", "wefat", _items(value_of), _effect),
        MeasureForm("ClozeGender", "published", "share", "cloze", _items(_won_as_published)),
        MeasureForm("ClozeGender", "repaired", "share", "cloze", _items(_won)),
        MeasureForm("ClozeGender (log-odds)", "repaired", "log-odds", "cloze", _items(value_of)),
    )


def means(leans: Iterable[tuple[str, float]]) -> Leans:
    """By occupation, the mean of its leans."""
    by_occupation: dict[str, list[float]] = {}
    for occupation, lean in leans:
        by_occupation.setdefault(occupation, []).append(lean)
    return {occupation: float(np.mean(values)) for occupation, values in by_occupation.items()}


def _items(lean: Callable[[Item], float]) -> LeansOf:
    """Items that lean towards men."""
    return lambda reading, _side: means((item.unit, lean(item)) for item in reading.items)


def _sided(lean: Callable[[Item], float], occupation: Callable[[Item], str] = attrgetter("unit")) -> LeansOf:
    """Items that lean towards what fits the halves, which for an occupation with women is the feminine form."""
    return lambda reading, side: means(
        (occupation(item), side[occupation(item)] * lean(item)) for item in reading.items
    )


def _weighted(weighting: str, form: Form) -> LeansOf:
    """The scores of CABM by a weighting, of which there are none where a forest had nothing to learn."""

    def lean(reading: Reading, _side: Mapping[str, int]) -> Leans | None:
        assert isinstance(reading.details, CabmDetails)
        scores = getattr(reading.details, form).scores.get(weighting)
        return scores and dict(zip((item.unit for item in reading.items), scores, strict=True))

    return lean


def column(name: str) -> Callable[[Item], float]:
    """What an item has in a column, as a number."""
    return lambda item: float(item.columns[name] or 0.0)


def value_of(item: Item) -> float:
    return float(item.value or 0.0)


def _won(item: Item) -> float:
    """How far from a tie; a row that is not counted is none."""
    won = item.columns["won"]
    return 0.0 if won is None else float(won) - 0.5


def _won_as_published(item: Item) -> float:
    return float(np.sign(column("published_1")(item) - column("published_2")(item))) / 2


#: What compares the halves, where the reading does.
_effect, _published = attrgetter("effect"), attrgetter("published")


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class DosePoint:
    """What a measure reads on one model: its number, alone and by set of sentences, and its lean of each occupation."""

    dose: float
    seed: int
    value: float
    p_value: float | None
    leans: Floats
    by_set: Mapping[str, float] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class NullReadings:
    """Readings on models without bias, the occupations halved at random; ``p_values`` is empty where there are none."""

    values: Floats
    p_values: Floats

    @property
    def false_positives(self) -> float | None:
        return float((self.p_values <= ALPHA).mean()) if self.p_values.size else None


def summarise_points(
    measure: str, form: str, unit: str, points: Sequence[DosePoint], null: NullReadings, truth: Floats
) -> CalibrationDetails:
    """What the points of a measure, one per model, come to; ``truth`` is what is planted at the largest dose."""
    doses, values = (np.array([getattr(point, name) for point in points]) for name in ("dose", "value"))
    top = [point for point in points if point.dose == doses.max()]
    slope, noise = float(np.polyfit(doses, values, 1)[0]), float(null.values.std(ddof=1))
    by_set = {name: float(np.mean([point.by_set[name] for point in top])) for name in top[0].by_set}
    return CalibrationDetails(
        measure=measure,
        form=form,
        unit=unit,
        spearman=rank_correlation(doses, values),
        slope=slope,
        noise=noise,
        slope_in_noise=slope / noise / 10 if noise > 0 else None,
        smallest_dose=_smallest(points, null),
        false_positives=null.false_positives,
        n_null=int(null.p_values.size or null.values.size),
        retest=float(np.mean([_r(one.leans, two.leans) for one, two in itertools.combinations(top, 2)])),
        order=float(np.mean([rank_correlation(truth, point.leans) for point in top])),
        spread=_spread(list(by_set.values())),
        means={f"{dose:g}": float(values[doses == dose].mean()) for dose in np.unique(doses)},
        by_set=by_set,
        null_values=tuple(null.values.tolist()),
        null_p_values=tuple(null.p_values.tolist()),
    )


def rank_correlation(one: Floats, two: Floats) -> float:
    """Spearman's correlation; 0 where one of them does not vary, as it then follows nothing.

    >>> rank_correlation(np.array([1.0, 2.0, 3.0]), np.array([1.0, 8.0, 27.0]))
    1.0
    """
    from scipy.stats import rankdata

    return _r(rankdata(one), rankdata(two))


def _r(one: Floats, two: Floats) -> float:
    if np.ptp(one) == 0 or np.ptp(two) == 0:
        return 0.0
    return float(np.corrcoef(one, two)[0, 1].round(12))


def _smallest(points: Sequence[DosePoint], null: NullReadings) -> float | None:
    limit = float(np.quantile(null.values, 1 - ALPHA / 2))
    doses = {point.dose for point in points if point.dose > 0.5}
    missed = max((point.dose for point in points if point.value <= limit), default=0.0)
    return min((dose for dose in doses if dose > missed), default=None)


def _spread(by_set: Sequence[float]) -> float | None:
    mean = abs(float(np.mean(by_set))) if by_set else 0.0
    return float(np.std(by_set, ddof=1)) / mean if len(by_set) > 1 and mean > 0 else None
