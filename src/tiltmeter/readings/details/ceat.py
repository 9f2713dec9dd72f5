"""What CEAT tells beyond the pooled effect: draws, contexts, lengths."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from tiltmeter.measures.ceat import DrawnEffects
from tiltmeter.readings.reading import Details


@dataclasses.dataclass(frozen=True, slots=True)
class PublishedPooling:
    """The draws pooled as independent studies, as published."""

    effect_size: float
    tau2: float
    standard_error: float
    p_value: float


@dataclasses.dataclass(frozen=True, slots=True)
class RepairedPooling:
    """The draws pooled with the sampling variance of d; ``mean_difference`` is that of the leans of the words."""

    tau2: float
    mean_difference: float


@dataclasses.dataclass(frozen=True, slots=True)
class CeatDetails(Details, kind="ceat"):
    """``length`` is the length of the windows, empty where each occurrence stands in its longest; ``mined`` identifies
    the occurrences.

    ``attribute_contexts`` counts by label and word the contexts of the attributes; those of the targets stand in the
    items.
    """

    length: str
    published: PublishedPooling
    repaired: RepairedPooling
    draws: int
    sampling: str
    root_only: bool
    effects: DrawnEffects
    attribute_contexts: Mapping[str, Mapping[str, int]]
    language: str
    mined: str

    @classmethod
    def from_schema_1(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        published = {name: value for name, value in values["published"].items() if name != "p"}
        kept = super(CeatDetails, cls).from_schema_1(values)
        return {**kept, "published": published, "repaired": values["corrected"]}
