"""Scales of effects: what is level, how far a number can go, what counts as much, and which way is better.

An effect carries its scale, so that no view has to guess from a name what kind of number it shows.
"""

from __future__ import annotations

import dataclasses
import math

from tiltmeter.errors import unknown

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
