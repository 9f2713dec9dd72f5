"""The context-length study: how the effect depends on how much text stands around a word."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence

from tiltmeter.readings import Reading
from tiltmeter.statistics import Interval, Result

#: Two effects nearer to each other than this differ by less than what Cohen calls a small effect.
CLOSE = 0.2
#: The probes whose readings have a length, by what stands before it in their ids.
PROBES = {"ceat": "CEAT", "lpbs": "log-probability bias"}


@dataclasses.dataclass(frozen=True, slots=True)
class Point(Result):
    """The effect at one length, corrected and as published."""

    length: str
    effect: float
    ci: Interval
    p_value: float | None
    published: float | None
    published_p_value: float | None
    words: int
    contexts: int


@dataclasses.dataclass(frozen=True, slots=True)
class Curve(Result):
    """One probe on one model over all lengths, the shortest first; ``stable_from`` is None where it is not stable."""

    model: str
    probe: str
    points: tuple[Point, ...]
    stable_from: str | None
    plain_words: str


@dataclasses.dataclass(frozen=True, slots=True)
class ContextLength(Result):
    """The whole study."""

    curves: tuple[Curve, ...]


def context_length(readings: Sequence[Reading]) -> ContextLength:
    """Put the readings of CEAT by length, and of the log-probability bias by sentence structure, side by side.

    The effect is stable from a length on if from there every effect lies in the 95% interval of the longest context
    and within .2 of its effect. The longest alone shows nothing, so it takes at least two.
    """
    found: dict[tuple[str, str], list[Point]] = {}
    for reading in readings:
        length = length_of(reading)
        if length and reading.effect.ci:
            found.setdefault((reading.model, reading.probe), []).append(_point(length, reading))
    curves = (
        _curve(model, probe, sorted(points, key=lambda point: order(point.length)))
        for (model, probe), points in found.items()
    )
    return ContextLength(tuple(curves))


def length_of(reading: Reading) -> str:
    """How much context a reading is about: a number of words or a structure; empty for one about all of them."""
    if reading.probe == "ceat":
        return str(reading.details.get("length", ""))
    return reading.id.removeprefix("lpbs").lstrip("-") if reading.probe == "lpbs" else ""


def order(length: str) -> tuple[int, int, str]:
    """Where a length stands: sentences of any length first, then by number of words, the open-ended one last.

    >>> sorted([">75", "9", "sentence", "25", "S2", "S1"], key=order)
    ['S1', 'S2', 'sentence', '9', '25', '>75']
    """
    number = length.removeprefix(">")
    return (1, 2 * int(number) + (length != number), "") if number.isdigit() else (0, 0, length)


def stable_from(points: Sequence[Point]) -> str | None:
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


def _point(length: str, reading: Reading) -> Point:
    effect, published = reading.effect, reading.published
    assert effect.ci is not None
    return Point(
        length,
        effect.value,
        effect.ci,
        effect.p_value,
        published.value if published else None,
        published.p_value if published else None,
        reading.n_units,
        reading.n_items,
    )


def _curve(model: str, probe: str, points: Sequence[Point]) -> Curve:
    stable = stable_from(points)
    return Curve(model, probe, tuple(points), stable, _sentence(model, probe, points, stable))


def _sentence(model: str, probe: str, points: Sequence[Point], stable: str | None) -> str:
    values = [point.effect for point in points]
    longest = points[-1].length
    said = f"{PROBES[probe]} on {model} goes from {min(values):.2f} to {max(values):.2f} over {len(points)} lengths"
    if len(points) < 2:
        return f"{PROBES[probe]} on {model} was measured at one length only ({longest}), which tells nothing of others."
    words = [point.words for point in points]
    differ = f" Not every length has the same words ({min(words)} to {max(words)}), which moves it too."
    others = differ if min(words) < max(words) else ""
    if stable is None:
        return f"{said}; it is not stable within the lengths tried: shorter contexts differ from {longest}.{others}"
    return (
        f"{said}; from {stable} on it is stable: every effect lies in the 95% interval of {longest} and within {CLOSE} "
        f"of its effect.{others}"
    )
