"""What a kind of probe is: the stimuli it takes, the question it asks, the measure it applies."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from tiltmeter.models.protocol import Question
from tiltmeter.statistics import Interval

#: What a probe asks a model: inputs by question.
Asked: TypeAlias = Mapping[Question, Sequence[Any]]

#: Travels with every reading of an intrinsic measure.
INTRINSIC = (
    "This is an intrinsic measure: it describes geometry inside the model. It does not show that a product built "
    "on the model harms anyone, and a small value does not show that none does (Goldfarb-Tarrant et al. 2021)."
)
WORD_LISTS = (
    "It is only as good as its word lists: they stand for a group or an idea as their authors saw it, mostly in "
    "US English, and other lists can give another result."
)
HARM = (
    "If it carries over to search, ranking or matching, people of the group that leans to the less valued side "
    "could be shown less often or described in stereotypes."
)


@dataclasses.dataclass(frozen=True, slots=True)
class Estimate:
    """Until every probe is of the new kind."""

    name: str
    value: float
    level: float
    better: str
    ci: Interval | None = None
    p_value: float | None = None
    alternative: str | None = None
    exact: bool | None = None
    p_standard_error: float | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Measured:
    """What a measure found, before it becomes a reading."""

    effect: Estimate
    leans: str
    strength: str
    plain_words: str
    items: tuple[Mapping[str, Any], ...]
    n_items: int
    n_units: int
    published: Estimate | None = None
    correction: str = ""
    details: Mapping[str, Any] = dataclasses.field(default_factory=dict)
