"""The context-length study: how the effect depends on how much text stands around a word."""

from __future__ import annotations

import dataclasses
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
    first: dict[tuple[str, str], str] = {}
    for reading in readings:
        length, effect, published = length_of(reading), reading.effect, reading.published
        # What a language model expects does not depend on the layer whose vectors are read: it comes once.
        layerless = reading.provenance.model.name if isinstance(reading.details, LpbsDetails) else reading.model
        if first.setdefault((reading.probe, layerless), reading.model) != reading.model:
            continue
        if length and effect.ci:
            value, p_value = (published.value, published.p_value) if published else (None, None)
            counts = reading.n_units, reading.n_items
            point = LengthPoint(length, effect.value, effect.ci, effect.p_value, value, p_value, *counts)
            points.setdefault((reading.model, reading.probe), []).append(point)
    curves = []
    for (model, probe), some in points.items():
        ordered = tuple(sorted(some, key=lambda point: order(point.length)))
        curve = LengthCurve(model, probe, ordered, stable_from(ordered), "")
        curves.append(dataclasses.replace(curve, plain_words=_sentence(curve)))
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
    if not ordered:
        return None
    last, steady = ordered[-1], list[str]()
    for point in reversed(ordered):
        if point.effect not in last.ci or abs(point.effect - last.effect) >= CLOSE:
            break
        steady.append(point.length)
    return steady[-1] if len(steady) > 1 else None


def _sentence(curve: LengthCurve) -> str:
    points, stable = curve.points, curve.stable_from
    values = [point.effect for point in points]
    longest, subject = points[-1].length, f"{curve.title} on {curve.model}"
    if len(points) < 2:
        return f"{subject} was measured at one length only ({longest}), which says nothing about others."
    said = f"{subject} goes from {min(values):.2f} to {max(values):.2f} over {len(points)} lengths"
    fewest, most = (find(point.words for point in points) for find in (min, max))
    others = f" Not every length has the same words ({fewest} to {most}), which moves it too." if fewest < most else ""
    if stable is None:
        return f"{said}; it is not stable within the lengths tried: shorter contexts differ from {longest}.{others}"
    return (
        f"{said}; from {stable} on it is stable: every effect lies in the 95% interval of {longest} and within {CLOSE} "
        f"of its effect.{others}"
    )
