"""Effects of different statistics brought to one scale, that of d, so that they can stand side by side."""

from __future__ import annotations

import math

from tiltmeter.readings import Estimate

EFFECT = "effect size d"
#: From these sizes on an effect is small, medium, large (Cohen 1988).
BANDS = (0.2, 0.5, 0.8)
#: No more than this can be drawn, and a perfect correlation would be infinite.
_MOST = 3.0


def is_share(effect: Estimate) -> bool:
    """Whether the number is a share that is level at one half."""
    return effect.level == 0.5


def on_one_scale(effect: Estimate) -> float | None:
    """How far from level, as an effect size d; None where the statistic has no place on that scale.

    >>> on_one_scale(Estimate("effect size d", -0.5, 0.0, "nearer to 0 is better"))
    -0.5
    >>> round(on_one_scale(Estimate("share to men", 0.74, 0.5, "nearer to 0.5 is better")), 2)
    0.5
    >>> round(on_one_scale(Estimate("correlation r", 0.6, 0.0, "nearer to 0 is better")), 2)
    1.5
    >>> on_one_scale(Estimate("mean cosine distance", 0.9, 1.0, "nearer to 1 is better")) is None
    True
    """
    if effect.name == EFFECT:
        return effect.value
    if is_share(effect):
        return 2 * math.asin(math.sqrt(min(1.0, max(0.0, effect.value)))) - math.pi / 2
    if effect.level == 0 and ("correlation" in effect.name.lower() or effect.name.startswith("group effect")):
        rest = 1 - effect.value**2
        return math.copysign(_MOST, effect.value) if rest <= 0 else _within(2 * effect.value / math.sqrt(rest))
    return None


def share_at(h: float) -> float:
    """The share that is as far from one half as Cohen's h says.

    >>> [round(share_at(h), 2) for h in (-0.2, 0.2, 0.5, 0.8)]
    [0.4, 0.6, 0.74, 0.86]
    """
    return math.sin(math.pi / 4 + h / 2) ** 2


def _within(d: float) -> float:
    return max(-_MOST, min(_MOST, d))
