"""Until every importer takes these from ``tiltmeter.readings.wording``: to be deleted."""

from __future__ import annotations

from typing import Any

from tiltmeter.readings.reading import ALPHA, NO_CLEAR_LEAN
from tiltmeter.readings.scale import CORRELATION, D
from tiltmeter.readings.wording import interval_text, p_number, p_text, percent_text, tilt_in_words

__all__ = ["ALPHA", "correlation_strength", "interval_text", "p_number", "p_text", "percent_text", "tilt"]


def tilt(
    groups: Any, poles: Any, d: float, ci: Any, p: float, words: Any, *, detectable: float
) -> tuple[str, str, str]:
    ends, sentence = tilt_in_words(groups, poles, d, ci, p, words, detectable=detectable)
    return NO_CLEAR_LEAN if p > ALPHA else ends.side(d), D.strength(d), sentence


def correlation_strength(r: float) -> str:
    return CORRELATION.strength(r)
