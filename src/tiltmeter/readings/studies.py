"""What a study over several readings tells: the lab makes them, views show them."""

from __future__ import annotations

import dataclasses

from tiltmeter.measures import Stability
from tiltmeter.statistics import Interval, Result

#: Two effects nearer to each other than this differ by less than what Cohen calls a small effect.
CLOSE = 0.2
#: The probes whose readings have a length: their title, and what the length is counted in.
_MEASURED = {"ceat": ("CEAT", "words in the window"), "lpbs": ("log-probability bias", "sentence structure")}


@dataclasses.dataclass(frozen=True, slots=True)
class LengthPoint(Result):
    """The effect at one length of the context, repaired and as published."""

    length: str
    effect: float
    ci: Interval
    p_value: float | None
    published: float | None
    published_p_value: float | None
    words: int
    contexts: int


@dataclasses.dataclass(frozen=True, slots=True)
class LengthCurve(Result):
    """One probe on one model over all lengths, the shortest first; ``stable_from`` is None where it is not stable."""

    model: str
    probe: str
    points: tuple[LengthPoint, ...]
    stable_from: str | None
    plain_words: str

    @property
    def title(self) -> str:
        return _MEASURED[self.probe][0]

    @property
    def axis(self) -> str:
        """What the lengths are."""
        return _MEASURED[self.probe][1]


@dataclasses.dataclass(frozen=True, slots=True)
class ContextLength(Result):
    """How the effect depends on how much text stands around a word."""

    curves: tuple[LengthCurve, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Steadiness:
    """A measure's stability over models; ``note`` says which are left out, or why there is none."""

    measure: str
    stability: Stability | None
    note: str = ""
