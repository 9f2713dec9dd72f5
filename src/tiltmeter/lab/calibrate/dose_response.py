"""How a measure answers to the dose: the points of its curve, its null readings, and what they come to."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence
from typing import Self

import numpy as np

from tiltmeter.statistics.groups import Floats

ALPHA = 0.05


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Point:
    """What a measure reads on one model: its number, alone and by set of sentences, and its lean of each occupation."""

    dose: float
    seed: int
    value: float
    p_value: float | None
    by_set: Mapping[str, float]
    leans: Floats
    unit: str


@dataclasses.dataclass(frozen=True, slots=True, eq=False)
class Null:
    """Readings on models without bias, the occupations halved at random; ``p_values`` is empty where there are none."""

    values: Floats
    p_values: Floats

    @classmethod
    def together(cls, nulls: Sequence[Self]) -> Self:
        return cls(np.concatenate([each.values for each in nulls]), np.concatenate([each.p_values for each in nulls]))

    @property
    def false_positives(self) -> float | None:
        return float((self.p_values <= ALPHA).mean()) if self.p_values.size else None


@dataclasses.dataclass(frozen=True, slots=True)
class Summary:
    """What calibration says of a measure.

    ``spearman``: of the number with the dose, over all models. ``slope``: what the number gains by a dose of 1.
    ``noise``: the SD of null readings. ``slope_in_noise``: what it gains by a dose of .1, in SDs of noise, which is the
    same for every unit. ``smallest_dose``: the first from which on every model reads above 97.5% of the null readings;
    None where there is none. ``false_positives``: the share of null readings with p of at most .05. ``retest``: how the
    leans of occupations agree (Pearson's r) between models of one dose, the largest, and different seeds. ``order``:
    Spearman's correlation of the leans with what is planted, at that dose. ``spread``: the SD of the number over sets
    of sentences, in parts of its mean, at that dose; None where it has one set.
    """

    measure: str
    form: str
    unit: str
    spearman: float
    slope: float
    noise: float
    slope_in_noise: float | None
    smallest_dose: float | None
    false_positives: float | None
    n_null: int
    retest: float
    order: float
    spread: float | None
    means: Mapping[str, float]


def summarised(measure: str, form: str, points: Sequence[Point], null: Null, truth: Floats) -> Summary:
    """Sum up the points of a measure; ``truth`` is what is planted at the largest dose, by occupation."""
    doses, values = (np.array([getattr(point, name) for point in points]) for name in ("dose", "value"))
    top = [point for point in points if point.dose == doses.max()]
    slope, noise = float(np.polyfit(doses, values, 1)[0]), float(null.values.std(ddof=1))
    return Summary(
        measure,
        form,
        points[0].unit,
        rank_correlation(doses, values),
        slope,
        noise,
        slope / noise / 10 if noise > 0 else None,
        _smallest(points, null),
        null.false_positives,
        int(null.p_values.size or null.values.size),
        float(np.mean([_r(one.leans, two.leans) for one, two in itertools.combinations(top, 2)])),
        float(np.mean([rank_correlation(truth, point.leans) for point in top])),
        _spread(top),
        {f"{dose:g}": float(values[doses == dose].mean()) for dose in np.unique(doses)},
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


def _smallest(points: Sequence[Point], null: Null) -> float | None:
    limit = float(np.quantile(null.values, 1 - ALPHA / 2))
    found = None
    for dose in sorted({point.dose for point in points if point.dose > 0.5}, reverse=True):
        if min(point.value for point in points if point.dose == dose) <= limit:
            break
        found = dose
    return found


def _spread(points: Sequence[Point]) -> float | None:
    if len(points[0].by_set) < 2:
        return None
    by_set = np.array([list(point.by_set.values()) for point in points]).mean(axis=0)
    mean = abs(float(by_set.mean()))
    return float(by_set.std(ddof=1)) / mean if mean > 0 else None
