"""What a calibration tells of one form of one measure."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from tiltmeter.readings.reading import Details


@dataclasses.dataclass(frozen=True, slots=True)
class CalibrationDetails(Details, kind="calibration"):
    """What calibration says of a measure.

    ``spearman``: of the number with the dose, over all models. ``slope``: what the number gains by a dose of 1.
    ``noise``: the SD of null readings. ``slope_in_noise``: what it gains by a dose of .1, in SDs of noise, which is the
    same for every unit. ``smallest_dose``: the first from which on every model reads above 97.5% of the null readings;
    None where there is none. ``false_positives``: the share of null readings with p of at most .05; None where the
    reading does not test the number. ``retest``: how the leans of occupations agree (Pearson's r) between models of one
    dose, the largest, and different seeds. ``order``: Spearman's correlation of the leans with what is planted, at that
    dose. ``spread``: the SD of the number over sets of sentences, in parts of its mean, at that dose; None where it has
    one set. ``by_set`` are these numbers, ``means`` those of all models by dose; ``null_values`` and ``null_p_values``
    are the null readings.
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
    by_set: Mapping[str, float]
    null_values: tuple[float, ...]
    null_p_values: tuple[float, ...]

    @classmethod
    def from_schema_1(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        summary, null = values["summary"], values["null"]
        # A form that was called corrected is one that is repaired.
        form = "repaired" if summary["form"] == "corrected" else summary["form"]
        nulls = {"null_values": null["values"], "null_p_values": null["p_values"]}
        return {**summary, "form": form, "by_set": {}, **nulls}
