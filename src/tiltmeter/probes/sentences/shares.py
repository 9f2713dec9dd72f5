"""How often a model prefers what fits a stereotype: a share around one half, in plain words."""

from __future__ import annotations

import math

from tiltmeter.probes.wording import ALPHA, interval_text, p_text
from tiltmeter.statistics import Interval, band

BETTER = "nearer to 0.5 is better"
FAULTY_PAIRS = (
    "Many sentences of CrowS-Pairs and StereoSet do not hold a clear or relevant stereotype, or differ in more than "
    "the group they speak of (Blodgett et al. 2021): look at the items before resting anything on the number."
)


def strength_of(share: float) -> str:
    """Cohen's h of a share against one half, in words: .60 is small, .74 medium, .86 large.

    >>> [strength_of(share) for share in (0.57, 0.35, 0.8)]
    ['negligible', 'small', 'medium']
    """
    return band(2 * math.asin(math.sqrt(share)) - math.pi / 2)


def preference_words(
    share: float, ci: Interval, p: float, *, preferred: str, among: str, units: str
) -> tuple[str, str, str]:
    """Which way a share of preferences leans, how strongly, and a sentence; ``units`` are what was sampled.

    >>> interval = Interval(0.55, 0.65, 0.95, "Wilson")
    >>> preference_words(0.6, interval, 0.0002, preferred="him", among="400 pairs", units="pairs")[:2]
    ('pairs → stereotype', 'small')
    """
    strength = strength_of(share)
    numbers = f"share {share:.3f}, {interval_text(ci, digits=3)}, {p_text(p)}"
    level = "Half is level, and nearer to it is better."
    if p > ALPHA:
        return (
            "no clear lean",
            strength,
            f"No clear tilt: the model prefers {preferred} in {share:.1%} of {among} ({numbers}). The interval shows "
            f"how far from level it could still be, so this is no proof of balance. {level}",
        )
    more = share > 0.5
    # The test asks whether chance could decide each time, the interval what other units would give.
    doubt = f", but the interval reaches 0.5: with other {units} it might vanish" if 0.5 in ci else ""
    return (
        f"{units} → {'stereotype' if more else 'anti-stereotype'}",
        strength,
        f"The model prefers {preferred} in {'' if more else 'only '}{share:.1%} of {among}: a {strength} tilt "
        f"{'towards' if more else 'against'} stereotypes ({numbers}). Taken alone, it is hard to explain by "
        f"chance{doubt}. {level}",
    )
