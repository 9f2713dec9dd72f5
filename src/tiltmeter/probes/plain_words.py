"""Numbers said in plain words."""

from __future__ import annotations

from tiltmeter.statistics import Interval, band

ALPHA = 0.05


def p_text(p: float) -> str:
    """A p-value as people write it, never zero.

    >>> p_text(0.00002), p_text(0.0312), p_text(0.4)
    ('p < 0.0001', 'p = 0.031', 'p = 0.40')
    """
    if p < 0.0001:
        return "p < 0.0001"
    digits = 4 if p < 0.001 else 3 if p < 0.1 else 2
    return f"p = {p:.{digits}f}"


def interval_text(ci: Interval) -> str:
    """An interval as people read it.

    >>> interval_text(Interval(-0.5, 1.25, 0.95, "bootstrap"))
    '95% interval -0.50 to 1.25'
    """
    return f"{ci.level:.0%} interval {ci.low:.2f} to {ci.high:.2f}"


def tilt(
    groups: tuple[str, str],
    poles: tuple[str, str],
    d: float,
    ci: Interval,
    p: float,
    words: tuple[int, int],
    *,
    detectable: float,
) -> tuple[str, str, str]:
    """Which way it leans, how strongly, and a sentence for two groups between two poles."""
    first, second = groups if d >= 0 else groups[::-1]
    strength = band(d)
    numbers = f"d = {d:.2f}, {interval_text(ci)}, {p_text(p)}"
    if p > ALPHA:
        return (
            "no clear lean",
            strength,
            f"No clear tilt of {groups[0]} against {groups[1]} between {poles[0]} and {poles[1]} ({numbers}). "
            f"With {words[0]} + {words[1]} words only a tilt of about {detectable:.1f} or more would be found "
            "reliably, so this is no proof of balance.",
        )
    size = "a negligible" if strength == "negligible" else f"a {strength}"
    return (
        f"{first} → {poles[0]}, {second} → {poles[1]}",
        strength,
        f"{first[:1].upper()}{first[1:]} lean towards {poles[0]} and {second} towards {poles[1]}: {size} tilt "
        f"({numbers}), hard to explain by which words happened to be picked.",
    )


def correlation_strength(r: float) -> str:
    """Cohen's words for a correlation: .1 small, .3 medium, .5 large.

    >>> correlation_strength(0.62)
    'large'
    """
    size = abs(r)
    return "negligible" if size < 0.1 else "small" if size < 0.3 else "medium" if size < 0.5 else "large"
