"""How often a model prefers what fits a stereotype, and how its leans go with the shares of people, in plain words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tiltmeter.readings import SHARE, Estimate, Poles, percent_text
from tiltmeter.statistics import Correlation, correlation
from tiltmeter.statistics.groups import Floats

FAULTY_PAIRS = (
    "Many sentences of CrowS-Pairs and StereoSet do not hold a clear or relevant stereotype, or differ in more than "
    "the group they speak of (Blodgett et al. 2021): look at the items before relying on the number."
)


def towards_stereotype(units: str) -> Poles:
    """What a share above and below one half means; ``units`` are what was sampled."""
    return Poles(f"{units} → stereotype", f"{units} → anti-stereotype")


def preference_words(effect: Estimate, *, preferred: str, among: str) -> str:
    """A share in a sentence: ``preferred`` is what it counts, ``among`` what it is a share of.

    >>> from tiltmeter.statistics import Interval
    >>> share = Estimate("share", 0.6, SHARE, Interval(0.55, 0.65, 0.95, "Wilson"), 0.0002)
    >>> preference_words(share, preferred="him", among="400 pairs").partition(" (")[0]
    'The model prefers him in 60.0% of 400 pairs: a small tilt towards stereotypes'
    """
    share, ci = effect.value, effect.ci
    assert ci is not None  # a share that is said in words has an interval
    more = share >= SHARE.level
    return (
        f"The model prefers {preferred} in {'' if more else 'only '}{share:.1%} of {among}: a {effect.strength} tilt "
        f"{'towards' if more else 'against'} stereotypes ({percent_text(ci)}; 50% is level)."
    )


def correlate(
    leans: Sequence[float] | Floats, shares: Sequence[float] | Floats, *, at_least: int = 4, **options: Any
) -> Correlation | None:
    """The correlation of leans with known shares; None where too few are known, or there is nothing to relate."""
    enough = len(shares) >= at_least and all(np.ptp(values) > 1e-9 for values in (leans, shares))
    return correlation(leans, shares, **options) if enough else None


def relation_words(related: Correlation) -> str:
    """What leans do with the shares: a verb."""
    return "follows" if related.r > 0 else "runs against"
