"""Scales of effects and numbers on them: what is level, how far a number can go, what counts as much, which way is
better; and how numbers are written.

An effect carries its scale, so that no view has to guess from a name what kind of number it shows.
"""

from __future__ import annotations

import dataclasses
import math
from typing import NamedTuple

from tiltmeter.errors import unknown
from tiltmeter.statistics import Interval

ALPHA = 0.05

#: No more than this can be drawn, and a perfect correlation would be infinite.
_MOST_D = 3.0
_STRENGTHS = ("negligible", "small", "medium", "large")


@dataclasses.dataclass(frozen=True, slots=True)
class Scale:
    """A kind of number. ``level`` means "no lean"; ``matters`` is the smallest distance from it that matters.

    ``bands`` are the distances from which on an effect is small, medium and large (Cohen 1988), as ``as_distance``
    measures them; ``signed`` scales have a direction, the others only a size. ``reach`` is how far a track that shows
    the number extends on either side of level.

    >>> SHARE.strength(0.62), SHARE.better, CORRELATION.strength(-0.4)
    ('small', 'nearer to 0.5 is better', 'medium')
    """

    name: str
    level: float = 0.0
    low: float | None = None
    high: float | None = None
    signed: bool = True
    bands: tuple[float, float, float] | None = None
    matters: float | None = None
    reach: float | None = None

    @property
    def better(self) -> str:
        """Which way is better, in words."""
        return f"nearer to {self.level:g} is better" if self.signed else "lower is better"

    def as_distance(self, value: float) -> float:
        """How far from level: Cohen's h for shares, which counts a step near 0 or 1 for more, else the difference."""
        if self == SHARE:
            return 2 * math.asin(math.sqrt(min(1.0, max(0.0, value)))) - math.pi / 2
        return value - self.level

    def strength(self, value: float) -> str:
        """The size of an effect in Cohen's words; empty on a scale that has none."""
        if self.bands is None:
            return ""
        size = abs(self.as_distance(value))
        return _STRENGTHS[sum(size >= band for band in self.bands)]

    def as_d(self, value: float) -> float | None:
        """How far from level, as an effect size d; None where the statistic has no place on that scale.

        >>> D.as_d(-0.5), round(SHARE.as_d(0.74), 2), round(CORRELATION.as_d(0.6), 2), DISTANCE.as_d(0.9)
        (-0.5, 0.5, 1.5, None)
        """
        if self in (D, SHARE):
            return self.as_distance(value)
        if self in (CORRELATION, ETA):
            rest = 1 - value**2
            d = math.copysign(_MOST_D, value) if rest <= 0 else 2 * value / math.sqrt(rest)
            return max(-_MOST_D, min(_MOST_D, d))
        return None


D = Scale("d", bands=(0.2, 0.5, 0.8), matters=0.2, reach=2.0)
SHARE = Scale("share", level=0.5, low=0.0, high=1.0, bands=(0.2, 0.5, 0.8), matters=0.05, reach=0.5)
CORRELATION = Scale("correlation", low=-1.0, high=1.0, bands=(0.1, 0.3, 0.5), matters=0.1, reach=1.0)
#: How much of the leans a word's group explains, as the root of a share of variance.
ETA = Scale("eta", low=0.0, high=1.0, signed=False, bands=(0.1, 0.24, 0.37))
#: A difference on the measure's own scale: of cosines, of probabilities, of log-odds.
DIFFERENCE = Scale("difference")
#: A correlation that should be perfect.
COHERENCE = Scale("coherence", level=1.0, low=-1.0, high=1.0)
#: A cosine distance: 1 between what is unrelated.
DISTANCE = Scale("distance", level=1.0, low=0.0, high=2.0)
#: A size without a direction: a divergence, a spread, a mean of absolute values.
SIZE = Scale("size", low=0.0, signed=False)

SCALES = {scale.name: scale for scale in (D, SHARE, CORRELATION, ETA, DIFFERENCE, COHERENCE, DISTANCE, SIZE)}


def find_scale(name: str) -> Scale:
    """A scale by its name.

    >>> find_scale("share").level
    0.5
    """
    if name not in SCALES:
        raise unknown("scale", name, SCALES)
    return SCALES[name]


def share_at(h: float) -> float:
    """The share that is as far from one half as Cohen's h says.

    >>> [round(share_at(h), 2) for h in (-0.2, 0.2, 0.5, 0.8)]
    [0.4, 0.6, 0.74, 0.86]
    """
    return math.sin(math.pi / 4 + h / 2) ** 2


def p_number(p: float) -> str:
    """A p-value as people write it, never zero.

    >>> p_number(0.00002), p_number(0.0021), p_number(0.0432), p_number(0.4)
    ('< 0.0001', '0.0021', '0.043', '0.40')
    """
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.01 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def p_text(p: float) -> str:
    """A p-value in a sentence.

    >>> p_text(0.00002), p_text(0.0312)
    ('p < 0.0001', 'p = 0.031')
    """
    number = p_number(p)
    return f"p {number}" if number.startswith("<") else f"p = {number}"


def interval_text(ci: Interval, *, digits: int = 2) -> str:
    """An interval as people read it.

    >>> interval_text(Interval(-0.5, 1.25, 0.95, "bootstrap"))
    '95% interval -0.50 to 1.25'
    """
    return f"{ci.level:.0%} interval {ci.low:.{digits}f} to {ci.high:.{digits}f}"


def percent_text(ci: Interval) -> str:
    """An interval of a share as people read it.

    >>> percent_text(Interval(0.41, 0.644, 0.95, "bootstrap"))
    '95% interval 41% to 64%'
    """
    return f"{ci.level:.0%} interval {100 * ci.low:.0f}% to {100 * ci.high:.0f}%"


def tilt_in_words(groups: tuple[str, str], poles: tuple[str, str], d: float, ci: Interval) -> str:
    """An effect size d between two groups and two poles, in a sentence.

    Args:
        groups: whom d compares, the first against the second.
        poles: what they lean towards where d is positive, in the same order.
        d: the effect size.
        ci: its interval.

    >>> tilt_in_words(("men", "women"), ("work", "home"), -0.3, Interval(-0.7, 0.1, 0.95, "bootstrap"))
    'A small tilt in these words: women towards work, men towards home (d = -0.30, 95% interval -0.70 to 0.10).'
    """
    first, second = groups if d >= 0 else groups[::-1]
    return (
        f"A {D.strength(d)} tilt in these words: {first} towards {poles[0]}, {second} towards {poles[1]} "
        f"(d = {d:.2f}, {interval_text(ci)})."
    )


class Lean(NamedTuple):
    """Who leans towards what; where only one of the two has a name, it is ``who``."""

    who: str
    towards: str

    def __str__(self) -> str:
        return f"{self.who} → {self.towards}" if self.towards else self.who


class Poles(NamedTuple):
    """What lies at the two ends of a scale, in words. An effect that has one direction only has no second end."""

    positive: str
    negative: str = ""

    @classmethod
    def crossed(cls, groups: tuple[str, str], towards: tuple[str, str]) -> Poles:
        """Of an effect between two groups: the first leans towards the first and the second towards the second.

        >>> Poles.crossed(("men", "women"), ("work", "home")).negative
        'women → work, men → home'
        """
        return cls(*(", ".join(map(str, map(Lean, who, towards))) for who in (groups, groups[::-1])))

    def side(self, distance: float) -> str:
        """The end on which a number lies that is so far from level."""
        return self.negative if distance < 0 else self.positive

    def leans(self, distance: float) -> tuple[Lean, ...]:
        """The same end as who leans towards what: of an effect between two groups both of them, the first first.

        >>> Poles.crossed(("men", "women"), ("work", "home")).leans(-0.3)
        (Lean(who='women', towards='work'), Lean(who='men', towards='home'))
        >>> Poles("the stereotype").leans(0.1)
        (Lean(who='the stereotype', towards=''),)
        """
        side = self.side(distance)
        halves = [half.partition(" → ") for half in side.split(", ", 1)]
        if len(halves) < 2 or not all(arrow for _, arrow, _ in halves):
            halves = [side.partition(" → ")] if side else []
        return tuple(Lean(who, towards) for who, _, towards in halves)


@dataclasses.dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its uncertainty, on a scale that says what it means."""

    name: str
    value: float
    scale: Scale
    ci: Interval | None = None
    p_value: float | None = None
    alternative: str | None = None
    exact: bool | None = None
    p_standard_error: float | None = None

    @property
    def level(self) -> float:
        return self.scale.level

    @property
    def better(self) -> str:
        return self.scale.better

    @property
    def strength(self) -> str:
        return self.scale.strength(self.value)

    @property
    def number(self) -> str:
        """The value as people read it; a small one with a digit more."""
        return f"{self.value:.{self._digits}f}"

    def __str__(self) -> str:
        """The number and its interval.

        >>> str(Estimate("effect size d", 1.234, find_scale("d")))
        '1.23'
        """
        return (
            f"{self.number} [{self.ci.low:.{self._digits}f}, {self.ci.high:.{self._digits}f}]"
            if self.ci
            else self.number
        )

    @property
    def _digits(self) -> int:
        return 2 if abs(self.value) >= 0.1 or self.value == 0 else 3

    @property
    def numbers(self) -> list[float]:
        """Every number of the estimate that is there."""
        interval = (self.ci.low, self.ci.high) if self.ci else ()
        return [number for number in (self.value, self.p_value, self.p_standard_error, *interval) if number is not None]

    @property
    def significant(self) -> bool | None:
        """Whether chance alone is an unlikely explanation, on its own: by its test, or by an interval without level.

        None where the estimate has neither; and of a size without a test, which is above 0 whatever is measured.
        """
        if self.p_value is not None:
            return self.p_value <= ALPHA
        return None if self.ci is None or not self.scale.signed else self.level not in self.ci
