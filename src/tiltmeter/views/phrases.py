"""A reading as every view says it: its title, its number, which way it leans, in the light of all tests of an audit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from tiltmeter.readings import ALPHA, Estimate, Reading
from tiltmeter.readings.reading import NO_CLEAR_LEAN


def is_clear(p: float | None) -> bool:
    """Whether a reading's lean may be named; one without a test has said itself whether it is clear."""
    return p is None or p <= ALPHA


def shown_leans(reading: Reading, p: float | None) -> str:
    """Which way it leans, in the light of a p-value corrected for all tests."""
    return reading.leans if is_clear(p) else NO_CLEAR_LEAN


def shown_titles(readings: Sequence[Reading]) -> list[str]:
    """Titles under which no two readings of one model are the same."""
    often = Counter((reading.model, reading.title) for reading in readings)
    return [r.title if often[r.model, r.title] == 1 else f"{r.title} ({r.id})" for r in readings]


def sentence(reading: Reading, p_adjusted: float | None) -> str:
    """The reading in plain words, in the light of all the tests it was one of."""
    p = reading.effect.p_value
    if p is not None and p_adjusted is not None and p <= ALPHA < p_adjusted:
        return f"{reading.plain_words} It is not statistically significant after Holm's correction: {NO_CLEAR_LEAN}."
    return reading.plain_words


def value_text(effect: Estimate) -> str:
    """The number and its interval.

    >>> from tiltmeter.readings import D
    >>> value_text(Estimate("effect size d", 1.234, D))
    '1.23'
    """
    digits = 2 if abs(effect.value) >= 0.1 or effect.value == 0 else 3
    interval = f" [{effect.ci.low:.{digits}f}, {effect.ci.high:.{digits}f}]" if effect.ci else ""
    return f"{effect.value:.{digits}f}{interval}"


def said_of(reading: Reading, title: str, p: float | None) -> str:
    """A reading in half a line, as a mark of a chart says it.

    Args:
        reading: What was measured.
        title: What it is called among the readings shown with it (see ``shown_titles``).
        p: Its p-value, corrected for all tests where there are several.
    """
    effect = reading.effect
    leans = shown_leans(reading, p) or effect.better
    return f"{reading.model}, {title}: {effect.name} {value_text(effect)}; {leans}"
