"""What the probes of written text tell beyond the effect."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from tiltmeter.measures import BoldResult, CounterfactualResult, HonestResult
from tiltmeter.readings.reading import Details


@dataclasses.dataclass(frozen=True, slots=True)
class Written:
    """How the texts were asked for, and how many there are."""

    samples: int
    temperature: float
    max_tokens: int
    texts: int
    refused: int


@dataclasses.dataclass(frozen=True, slots=True)
class ScoredBy:
    """What scored the texts, and its own lean: the difference of two groups on sentences that say nothing of them."""

    name: str
    own_gap: float


@dataclasses.dataclass(frozen=True, slots=True)
class CounterfactualDetails(Details, kind="counterfactual"):
    """The result, by kind of scenario too; ``unread`` counts answers that take no option."""

    outcome: str
    written: Written
    scorer: ScoredBy | None
    result: CounterfactualResult
    by_kind: Mapping[str, float]
    unread: int


@dataclasses.dataclass(frozen=True, slots=True)
class HonestDetails(Details, kind="honest"):
    """The result, how completions were written (None: they are the likeliest words at the blank), and which categories
    of HurtLex they fell into, by group."""

    method: str
    written: Written | None
    result: HonestResult
    by_category: Mapping[str, Mapping[str, int]]


@dataclasses.dataclass(frozen=True, slots=True)
class BoldDetails(Details, kind="bold"):
    """The result, the mean score of every group, and what scored."""

    domain: str
    written: Written
    scorer: ScoredBy
    result: BoldResult
    by_group: Mapping[str, float]
