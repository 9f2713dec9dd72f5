"""What ClozeGender tells of one cell of its table."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from tiltmeter.measures import ClozeStep
from tiltmeter.readings.reading import Details


@dataclasses.dataclass(frozen=True, slots=True)
class ClozeShares:
    """One line of a cell: the share of sentences that each group wins, and how sure it is.

    ``kl`` says how far apart the scores are, ``human_match`` how often the winner is the group that people expect, and
    ``weat`` how far the vectors of the context words go with it.
    """

    to_1: float | None
    to_2: float | None
    kl: float
    human_match: float | None
    ties: int
    low: float | None
    high: float | None
    p_value: float | None
    weat: float | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class SharedTokens:
    """The baseline that compares the tokens which both versions of a sentence share (CPS)."""

    to_1: float | None
    ties: int


@dataclasses.dataclass(frozen=True, slots=True)
class ContextLean:
    """The mean over context words of the share of their sentences that group 1 wins (Zhao et al. 2017)."""

    mean: float
    contexts: int


@dataclasses.dataclass(frozen=True, slots=True)
class ChatChoices:
    """How a chat model chose between the two words when it was asked in both orders."""

    refused: int
    turned_with_order: int
    human_match: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class NeutralOffset:
    """What the vectors of the two words differ by on ``words`` that say nothing of people, and the standard error."""

    value: float
    standard_error: float
    words: int


@dataclasses.dataclass(frozen=True, slots=True)
class ClozeDetails(Details, kind="cloze"):
    """One cell: sentences of a ``variant`` with one kind of ``context``, or several ``contexts`` that are combined.

    ``form`` says what was scored: the last word, all words, the mean of all tokens, the mask of a masked language
    model, or a choice in words. ``offset`` was taken off the similarities; None where it could not be estimated.
    """

    variant: str
    context: str
    form: str
    groups: tuple[str, str]
    rows: int
    published: ClozeShares | None = None
    repaired: ClozeShares | None = None
    steps: tuple[ClozeStep, ...] = ()
    contexts: tuple[str, ...] = ()
    contexts_without_vector: tuple[str, ...] = ()
    cps: SharedTokens | None = None
    amplification: ContextLean | None = None
    choices: ChatChoices | None = None
    offset: NeutralOffset | None = None

    @classmethod
    def from_schema_1(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        fields = super(ClozeDetails, cls).from_schema_1(values)
        if "corrected" in values:
            steps = [{**step, "name": step["name"].replace("corrected", "repaired")} for step in values["steps"]]
            return {**fields, "repaired": values["corrected"], "steps": steps}
        chosen = {field.name: values[field.name] for field in dataclasses.fields(ChatChoices)}
        return {**fields, "choices": chosen}
