"""What the probes of sentences tell beyond the effect: BBQ, LPBS, pairs, pronouns, StereoSet, unmasking."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from tiltmeter.measures import BbqResult, StereoScores
from tiltmeter.readings.reading import Details
from tiltmeter.statistics import Correlation, Mean, Share


@dataclasses.dataclass(frozen=True, slots=True)
class BbqDetails(Details, kind="bbq"):
    """Accuracy and bias scores by condition, of all examples and by category where there are several.

    ``chosen_by_place`` is the share of answers that stood first, second and third where answers were listed, ``unread``
    how many answers in the model's own words named no option.
    """

    method: str
    result: BbqResult
    by_category: Mapping[str, BbqResult]
    chosen_by_place: tuple[float, ...] | None
    unread: int = 0


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
        return {**super(LpbsDetails, cls).from_schema_1(values), "fill_effect_size": values["uncorrected_effect_size"]}


@dataclasses.dataclass(frozen=True, slots=True)
class PairsDetails(Details, kind="pairs"):
    """Which scores were compared, the ties, and the share that prefers the stereotype by kind and by direction."""

    method: str
    ties: int
    published_ties: int
    by_kind: Mapping[str, Share]
    by_direction: Mapping[str, Share]


@dataclasses.dataclass(frozen=True, slots=True)
class PronounsDetails(Details, kind="pronouns"):
    """Shares of sentences that prefer the expected form (None: nothing is expected), and the masculine one.

    ``gap`` is the mean log-odds of the expected form; ``correlation`` is that of the lean to the feminine form with the
    share of women in an occupation; ``expected_by_share`` says that this share alone decides what is expected.
    """

    by_kind: Mapping[str, Share | None]
    by_expected: Mapping[str, Share | None]
    share_masculine: float
    share_masculine_by_kind: Mapping[str, float]
    expected_by_share: bool
    gap: Mean
    ties: int
    correlation: Correlation | None


@dataclasses.dataclass(frozen=True, slots=True)
class StereosetDetails(Details, kind="stereoset"):
    """The scores with every target term counting once, as published, with every example counting once, and of parts."""

    lms: float
    ss: float
    icat: float
    ties: int
    published: StereoScores
    micro: StereoScores
    by_type: Mapping[str, StereoScores]
    intrasentence: StereoScores | None
    intersentence: StereoScores | None


@dataclasses.dataclass(frozen=True, slots=True)
class FrameGap:
    """P(he) - P(she), and the share of he in both, in one frame."""

    gap: float
    share_he: float


@dataclasses.dataclass(frozen=True, slots=True)
class UnmaskDetails(Details, kind="unmask"):
    """Means and spread over occupations, those that lean most, and the correlation with the share of men in them."""

    mean_gap: float
    mean_share_he: float
    spread: float
    correlation: Correlation | None
    most_to_men: Mapping[str, float]
    most_to_women: Mapping[str, float]
    by_frame: Mapping[str, FrameGap]
