"""What the probes of sentences tell beyond the effect: LPBS, pairs, pronouns, StereoSet, unmasking."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from tiltmeter.readings.details.base import Details
from tiltmeter.statistics import Mean


@dataclasses.dataclass(frozen=True, slots=True)
class MeanAssociation:
    """Log-odds of the two terms with the attribute (fill), with it masked (prior), and their difference; means of n."""

    fill_bias: float
    prior_bias: float
    association: float
    n: int


@dataclasses.dataclass(frozen=True, slots=True)
class LpbsDetails(Details, kind="lpbs"):
    """``association`` is the mean of all attributes; ``fill_effect_size`` is d before the prior is taken off."""

    association: Mean
    fill_bias: float
    prior_bias: float
    fill_effect_size: float | None
    by_group: Mapping[str, MeanAssociation]
    by_structure: Mapping[str, MeanAssociation]

    @classmethod
    def from_schema_1(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        kept = super(LpbsDetails, cls).from_schema_1(values)
        return {**kept, "fill_effect_size": values["uncorrected_effect_size"]}
