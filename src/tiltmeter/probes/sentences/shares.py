"""How often a model prefers what fits a stereotype, and how its leans go with the shares of people, in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tiltmeter.readings import ALPHA, SHARE, Estimate, Poles, interval_text, p_text
from tiltmeter.statistics import Correlation, correlation
from tiltmeter.statistics.groups import Floats

FAULTY_PAIRS = (
    "Many sentences of CrowS-Pairs and StereoSet do not hold a clear or relevant stereotype, or differ in more than "
    "the group they speak of (Blodgett et al. 2021): look at the items before resting anything on the number."
)


def towards_stereotype(units: str) -> Poles:
    """What a share above and below one half means; ``units`` are what was sampled."""
    return Poles(f"{units} → stereotype", f"{units} → anti-stereotype")


def preference_words(effect: Estimate, *, preferred: str, among: str, units: str) -> str:
    """A tested share in a sentence: ``preferred`` is what it counts, ``among`` what it is a share of.

    ``units`` are what was sampled.

    >>> from tiltmeter.statistics import Interval
    >>> share = Estimate("share", 0.6, SHARE, Interval(0.55, 0.65, 0.95, "Wilson"), 0.0002)
    >>> preference_words(share, preferred="him", among="400 pairs", units="pairs").partition(":")[0]
    'The model prefers him in 60.0% of 400 pairs'
    """
    share, ci, p = effect.value, effect.ci, effect.p_value
    assert ci is not None  # a share that is said in words has been tested
    assert p is not None
    numbers = f"share {share:.3f}, {interval_text(ci, digits=3)}, {p_text(p)}"
    level = "Half is level, and nearer to it is better."
    if p > ALPHA:
        return (
            f"No clear tilt: the model prefers {preferred} in {share:.1%} of {among} ({numbers}). The interval shows "
            f"how far from level it could still be, so this is no proof of balance. {level}"
        )
    more = share > SHARE.level
    # The test asks whether chance could decide each time, the interval what other units would give.
    doubt = f", but the interval reaches 0.5: with other {units} it might vanish" if SHARE.level in ci else ""
    return (
        f"The model prefers {preferred} in {'' if more else 'only '}{share:.1%} of {among}: a {effect.strength} tilt "
        f"{'towards' if more else 'against'} stereotypes ({numbers}). Taken alone, it is hard to explain by "
        f"chance{doubt}. {level}"
    )


def relation(
    leans: Sequence[float] | Floats, shares: Sequence[float] | Floats, *, at_least: int = 4, **options: Any
) -> Correlation | None:
    """The correlation of leans with known shares; None where too few are known, or there is nothing to relate."""
    enough = len(shares) >= at_least and all(np.ptp(values) > 1e-9 for values in (leans, shares))
    return correlation(leans, shares, **options) if enough else None


def relation_words(related: Correlation) -> str:
    """What leans do with the shares: a verb."""
    if related.p_value > ALPHA:
        return "is not clearly related to"
    return "follows" if related.r > 0 else "runs against"
