"""The context-length study: how the effect depends on how much text stands around a word."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

from tiltmeter.readings import Reading
from tiltmeter.readings.details.ceat import CeatDetails
from tiltmeter.readings.details.sentences import LpbsDetails
from tiltmeter.readings.studies import CLOSE, ContextLength, LengthCurve, LengthPoint


def context_length(readings: Sequence[Reading]) -> ContextLength:
    """Put the readings of CEAT by length, and of the log-probability bias by sentence structure, side by side.

    The effect is stable from a length on if from there every effect lies in the 95% interval of the longest context
    and within .2 of its effect. The longest alone shows nothing, so it takes at least two.
    """
    points: dict[tuple[str, str], list[LengthPoint]] = {}
    for reading in readings:
        length = length_of(reading)
        if length and reading.effect.ci:
            points.setdefault((reading.model, reading.probe), []).append(_point(length, reading))
    curves = (
        _curve(model, probe, sorted(some, key=lambda point: order(point.length)))
        for (model, probe), some in points.items()
    )
    return ContextLength(tuple(curves))


def length_of(reading: Reading) -> str:
    """How much context a reading is about: a number of words or a structure; empty for one about several of them."""
    details = reading.details
    if isinstance(details, CeatDetails):
        return details.length
    structures = details.by_structure if isinstance(details, LpbsDetails) else {}
    return next(iter(structures)) if len(structures) == 1 else ""


def order(length: str) -> tuple[int, int, str]:
    """Where a length stands: sentences of any length first, then by number of words, the open-ended one last.

    >>> sorted([">75", "9", "sentence", "25", "S2", "S1"], key=order)
    ['S1', 'S2', 'sentence', '9', '25', '>75']
    """
    number = length.removeprefix(">")
    return (1, 2 * int(number) + (length != number), "") if number.isdigit() else (0, 0, length)


def stable_from(points: Sequence[LengthPoint]) -> str | None:
    """The shortest length from which on the effect stays where it ends, or None."""
    # A sentence may be short or long: it has no place among numbers of words.
    ordered = [point for point in points if point.length != "sentence"]
    if len(ordered) < 2:
        return None
    last = ordered[-1]
    steady = list(
        itertools.takewhile(
            lambda point: point.effect in last.ci and abs(point.effect - last.effect) < CLOSE, reversed(ordered)
        )
    )
    return steady[-1].length if len(steady) > 1 else None


def _point(length: str, reading: Reading) -> LengthPoint:
    effect, published = reading.effect, reading.published
    assert effect.ci is not None
    return LengthPoint(
        length,
        effect.value,
        effect.ci,
        effect.p_value,
        published.value if published else None,
        published.p_value if published else None,
        reading.n_units,
        reading.n_items,
    )


def _curve(model: str, probe: str, points: Sequence[LengthPoint]) -> LengthCurve:
    curve = LengthCurve(model, probe, tuple(points), stable_from(points), "")
    return dataclasses.replace(curve, plain_words=_sentence(curve))


def _sentence(curve: LengthCurve) -> str:
    points, stable = curve.points, curve.stable_from
    values = [point.effect for point in points]
    longest, subject = points[-1].length, f"{curve.title} on {curve.model}"
    if len(points) < 2:
        return f"{subject} was measured at one length only ({longest}), which tells nothing of others."
    said = f"{subject} goes from {min(values):.2f} to {max(values):.2f} over {len(points)} lengths"
    words = [point.words for point in points]
    differ = f" Not every length has the same words ({min(words)} to {max(words)}), which moves it too."
    others = differ if min(words) < max(words) else ""
    if stable is None:
        return f"{said}; it is not stable within the lengths tried: shorter contexts differ from {longest}.{others}"
    return (
        f"{said}; from {stable} on it is stable: every effect lies in the 95% interval of {longest} and within {CLOSE} "
        f"of its effect.{others}"
    )
