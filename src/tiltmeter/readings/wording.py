"""Numbers said in plain words."""

from __future__ import annotations

from tiltmeter.readings.reading import ALPHA, Poles
from tiltmeter.readings.scale import D
from tiltmeter.statistics import Interval


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


def tilt_in_words(
    groups: tuple[str, str],
    poles: tuple[str, str],
    d: float,
    ci: Interval,
    p: float,
    words: tuple[int, int],
    *,
    detectable: float,
) -> tuple[Poles, str]:
    """What either sign of an effect size d between two groups and two poles means, and the effect in a sentence.

    Args:
        groups: whom d compares, the first against the second.
        poles: what they lean towards where d is positive, in the same order.
        words: how many words each group has.
        detectable: the smallest d that a test with so many words finds reliably.
    """
    ends = Poles(
        f"{groups[0]} → {poles[0]}, {groups[1]} → {poles[1]}", f"{groups[1]} → {poles[0]}, {groups[0]} → {poles[1]}"
    )
    first, second = groups if d >= 0 else groups[::-1]
    numbers = f"d = {d:.2f}, {interval_text(ci)}, {p_text(p)}"
    if p > ALPHA:
        return ends, (
            f"No clear tilt of {groups[0]} against {groups[1]} between {poles[0]} and {poles[1]} ({numbers}). "
            f"With {words[0]} + {words[1]} words only a tilt of about {detectable:.2g} or more would be found "
            "reliably, so this is no proof of balance."
        )
    # The test asks whether the words could be split anyhow, the interval what other words would give.
    doubt = ", but the interval reaches 0: with other words for the same groups it might vanish" if 0.0 in ci else ""
    return ends, (
        f"{first[:1].upper()}{first[1:]} lean towards {poles[0]} and {second} towards {poles[1]}: a {D.strength(d)} "
        f"tilt ({numbers}). Taken alone, it is hard to explain by chance{doubt}."
    )
