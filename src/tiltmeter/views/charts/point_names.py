"""Names beside the points of a scatter: as many as find room, so that none covers a point or another name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import altair as alt

from tiltmeter.views.charts.style import FAINT, INK, table

SIZE = 10
#: The width of a letter of that size, and the height of a line.
_LETTER, _HEIGHT = 5.6, 10
_POINT = 4
#: Where a name can stand: how far from its point, and how it is aligned.
_SIDES: tuple[tuple[float, float, str], ...] = (
    (7, 0, "left"), (-7, 0, "right"), (0, -10, "center"), (0, 10, "center"),
    (5, -9, "left"), (5, 9, "left"), (-5, -9, "right"), (-5, 9, "right"),
    (16, -16, "left"), (16, 16, "left"), (-16, -16, "right"), (-16, 16, "right"),
    (26, -26, "left"), (26, 26, "left"), (-26, -26, "right"), (-26, 26, "right"),
)  # fmt: skip
#: From here on a line joins a name to its point.
_APART = 12
Box = tuple[float, float, float, float]


class Frame(NamedTuple):
    """A plot in pixels, and the numbers at its four edges."""

    width: float
    height: float
    left: float
    right: float
    low: float
    high: float

    @classmethod
    def around(cls, points: Sequence[tuple[float, float]], width: float, height: float, room: float = 0.08) -> Frame:
        """A frame with some room on every side of these points."""
        edges = []
        for values in zip(*points, strict=True):
            margin = room * (max(values) - min(values)) or 1.0
            edges += [min(values) - margin, max(values) + margin]
        return cls(width, height, *edges)

    def place(self, x: float, y: float) -> tuple[float, float]:
        """A point in pixels from the upper left."""
        across, up = (x - self.left) / (self.right - self.left), (y - self.low) / (self.high - self.low)
        return across * self.width, (1 - up) * self.height

    def moved(self, point: tuple[float, float], dx: float, dy: float) -> tuple[float, float]:
        """The numbers so many pixels to the right of a point and below it."""
        across, up = dx / self.width * (self.right - self.left), dy / self.height * (self.high - self.low)
        return point[0] + across, point[1] - up


def names(
    words: Sequence[str], points: Sequence[tuple[float, float]], frame: Frame, x: Any, y: Any
) -> tuple[list[Any], int]:
    """Layers with the names of the points that have room for theirs, the outermost first; and how many these are."""
    places = [frame.place(*point) for point in points]
    centre = [sum(axis) / len(places) for axis in zip(*places, strict=True)]
    outermost = sorted(
        range(len(places)), key=lambda i: -max(abs(a - b) for a, b in zip(places[i], centre, strict=True))
    )
    taken: list[Box] = [(left - _POINT, top - _POINT, left + _POINT, top + _POINT) for left, top in places]
    by_side: dict[int, list[int]] = {}
    for i in outermost:
        for side in range(len(_SIDES)):
            box = _box(words[i], places[i], side)
            inside = box[0] >= 0 and box[1] >= 0 and box[2] <= frame.width and box[3] <= frame.height
            if inside and not any(_overlap(box, other) for n, other in enumerate(taken) if n != i):
                taken.append(box)
                by_side.setdefault(side, []).append(i)
                break
    layers = []
    for side, members in by_side.items():
        dx, dy, align = _SIDES[side]
        rows = [{"x": points[i][0], "y": points[i][1], "word": words[i]} for i in members]
        text = table(rows).mark_text(fontSize=SIZE, dx=dx, dy=dy, align=align, baseline="middle", color=INK, aria=False)
        layers.append(text.encode(x=x, y=y, text=alt.Text("word:N")))
        if abs(dx) > _APART:
            ends = [frame.moved(points[i], 0.9 * dx, 0.9 * dy) for i in members]
            joined = [{**row, "x2": at, "y2": up} for row, (at, up) in zip(rows, ends, strict=True)]
            lines = table(joined).mark_rule(color=FAINT, aria=False)
            layers.insert(0, lines.encode(x=x, y=y, x2="x2:Q", y2="y2:Q"))
    return layers, sum(map(len, by_side.values()))


def _box(word: str, place: tuple[float, float], side: int) -> Box:
    dx, dy, align = _SIDES[side]
    width, (x, y) = _LETTER * len(word), (place[0] + dx, place[1] + dy)
    left = x - {"left": 0.0, "center": width / 2, "right": width}[align]
    return left, y - _HEIGHT / 2, left + width, y + _HEIGHT / 2


def _overlap(one: Box, two: Box) -> bool:
    return one[0] < two[2] and two[0] < one[2] and one[1] < two[3] and two[1] < one[3]
