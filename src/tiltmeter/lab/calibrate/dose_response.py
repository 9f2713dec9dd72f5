"""How a measure answers to the dose: the points of its curve, its null readings, and what they come to."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from tiltmeter.readings import ALPHA
from tiltmeter.readings.details.calibration import CalibrationDetails
from tiltmeter.statistics.groups import Floats


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


def summarise(
    measure: str, form: str, unit: str, points: Sequence[DosePoint], null: NullReadings, truth: Floats
) -> CalibrationDetails:
    """What the points of a measure come to.

    Args:
        measure: its name.
        form: published or repaired.
        unit: what its number is in.
        points: one per model.
        null: its readings on models without bias.
        truth: what is planted at the largest dose, by occupation.
    """
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
    smallest = None
    for dose in sorted({point.dose for point in points if point.dose > 0.5}, reverse=True):
        if min(point.value for point in points if point.dose == dose) <= limit:
            break
        smallest = dose
    return smallest


def _spread(by_set: Sequence[float]) -> float | None:
    mean = abs(float(np.mean(by_set))) if by_set else 0.0
    return float(np.std(by_set, ddof=1)) / mean if len(by_set) > 1 and mean > 0 else None
