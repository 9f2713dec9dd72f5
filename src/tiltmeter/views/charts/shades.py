"""Colours of the cells of heat maps: in steps of size, paler the less sure they are, with text that can be read.

A cell is a colour over the page, light or dark, so that what is small or uncertain fades into either.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import NamedTuple

from tiltmeter.readings import State
from tiltmeter.views.charts.style import INK

#: The two directions; no model and no group has these colours.
TOWARDS, AWAY, NEITHER = "#0b7a75", "#9c5a14", "#6b7684"
#: How opaque a cell is: negligible, small, medium, large. Between the last two no ink would be legible on both pages.
STEPS = (0.06, 0.24, 0.46, 1.0)
#: How much of its colour a cell keeps by its verdict, and how opaque it can get.
_SURE: Mapping[State, tuple[float, float]] = {
    "clear": (1.0, 1.0),
    "works": (1.0, 1.0),
    "suggestive": (0.6, 0.32),
    "undecided": (0.12, 0.2),
    "does not work": (0.12, 0.2),
    "untested": (0.12, 0.2),
    "level": (0.0, 0.0),
}
#: Ink that the page turns in the dark, and inks that stay as they are.
_WHITE, _BLACK = "#fdfdfd", "#0b0e13"
#: What the page makes of paper and ink: light, then dark.
PAGES = (("#ffffff", INK), ("#1a2027", "#e6e9ee"))


class Shade(NamedTuple):
    """The colour of a cell, how opaque it is, and the ink of what is written in it."""

    fill: str
    opacity: float
    ink: str


def shade(step: int, sign: float, state: State = "clear") -> Shade:
    """The look of a cell: a step of size from 0 (negligible) to 3 (large), a direction, a verdict.

    >>> shade(3, 1.0).fill, shade(3, 1.0).opacity, shade(3, 1.0, "undecided").opacity
    ('#0b7a75', 1.0, 0.2)
    """
    kept, most = _SURE[state]
    colour = _mixed(TOWARDS if sign >= 0 else AWAY, NEITHER, kept)
    return with_ink(colour, min(STEPS[step], most))


def no_scale() -> Shade:
    """The look of a cell whose number has no size that others could be held against."""
    return with_ink(NEITHER, STEPS[1])


@functools.cache
def with_ink(fill: str, opacity: float) -> Shade:
    """A colour with the ink that is legible on both pages."""
    return Shade(fill, opacity, max((INK, _WHITE, _BLACK), key=lambda ink: least_contrast(Shade(fill, opacity, ink))))


def least_contrast(cell: Shade) -> float:
    """The contrast of the text of a cell with what is behind it, on the page where it is worse (WCAG 2)."""
    return min(
        contrast(_mixed(cell.fill, paper, cell.opacity), turned if cell.ink == INK else cell.ink)
        for paper, turned in PAGES
    )


def contrast(one: str, two: str) -> float:
    """The contrast ratio of two colours (WCAG 2): 1 for the same, 21 for black and white.

    >>> contrast("#000000", "#ffffff")
    21.0
    """
    dark, light = sorted((_luminance(one), _luminance(two)))
    return round((light + 0.05) / (dark + 0.05), 9)


def _luminance(colour: str) -> float:
    parts = [part / 255 for part in bytes.fromhex(colour[1:])]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@functools.cache
def _mixed(colour: str, other: str, share: float) -> str:
    both = zip(bytes.fromhex(colour[1:]), bytes.fromhex(other[1:]), strict=True)
    return f"#{bytes(round(share * one + (1 - share) * two) for one, two in both).hex()}"
