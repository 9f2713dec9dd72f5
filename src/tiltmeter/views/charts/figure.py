"""A chart with what everyone needs who cannot see it: a name, a title, and one plain sentence."""

from __future__ import annotations

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True, slots=True)
class Figure:
    """A chart ready for a page or a file.

    ``alt`` says in words what the chart shows, with the numbers that matter. Where ``keeps_colours``, the colours are
    the numbers (a heat map), so they stay as they are on a dark page.
    """

    name: str
    title: str
    alt: str
    chart: Any
    keeps_colours: bool = False
