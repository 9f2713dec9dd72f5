"""Numbers as people write them."""

from __future__ import annotations

from tiltmeter.statistics.intervals import Interval


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
