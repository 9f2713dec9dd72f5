"""The mark of every verdict, the same in all charts: the fuller the circle, the surer the lean."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import altair as alt

from tiltmeter.readings import ALPHA, State
from tiltmeter.views.charts.style import INK, PAPER, SOFT, table

_DISC = "M-1,0A1,1,0,1,1,1,0A1,1,0,1,1,-1,0Z"
#: Outlines in a square from -1 to 1. What runs the other way round is a hole. The full circle is the renderer's own,
#: which it draws in half the time of an outline: a chart may have thousands.
PATHS: Mapping[State, str] = {
    "clear": "circle",
    "suggestive": f"{_DISC}M0,.68A.68,.68,0,0,0,0,-.68Z",
    "undecided": f"{_DISC}M-.68,0A.68,.68,0,1,0,.68,0A.68,.68,0,1,0,-.68,0Z",
    "level": "M-1,-.75L1,-.75L1,-.2L-1,-.2ZM-1,.2L1,.2L1,.75L-1,.75Z",
    "untested": "M-.45,0A.45,.45,0,1,1,.45,0A.45,.45,0,1,1,-.45,0Z",
    "works": "M-1.1,.05L-.75,-.35L-.3,.15L.75,-1L1.1,-.65L-.3,.85Z",
    "does not work": "M-1,-.65L-.65,-1L0,-.35L.65,-1L1,-.65L.35,0L1,.65L.65,1L0,.35L-.65,1L-1,.65L-.35,0Z",
}
#: As a published method draws its number: a shape that no verdict has.
PUBLISHED = "M0,-1.15L1.15,0L0,1.15L-1.15,0ZM0,-.62L-.62,0L0,.62L.62,0Z"
#: What each is called, in the order in which a legend has them.
NAMES: Mapping[State, str] = {
    "clear": "clear",
    "suggestive": "suggestive",
    "undecided": "undecided",
    "level": "level",
    "untested": "not tested",
    "works": "control works",
    "does not work": "control does not work",
}
#: What a legend says of each.
LEGEND: Mapping[State, str] = {**NAMES, "suggestive": f"suggestive (p ≤ {ALPHA:g} alone)"}
SIZE = 76


def verdict_shape(states: Iterable[State], *, legend: Mapping[str, Any] | None = MappingProxyType({})) -> Any:
    """The shape of a mark by its verdict (``state``), with a legend of those that occur unless that is None."""
    there = set(states)
    domain = [state for state in NAMES if state in there]
    shapes = alt.Scale(domain=domain, range=[PATHS[state] for state in domain])
    names = " : ".join(f"datum.label === '{state}' ? '{LEGEND[state]}'" for state in domain)
    look: dict[str, Any] = {
        "orient": "top",
        "title": None,
        "symbolSize": SIZE,
        "columns": 2,
        "labelLimit": 0,
        "columnPadding": 40,
    }
    ink = {"symbolFillColor": INK, "symbolStrokeWidth": 0, "symbolStrokeColor": "transparent"}
    shown = None if legend is None else alt.Legend(labelExpr=f"{names} : ''", **{**look, **ink, **legend})
    return alt.Shape("state:N", scale=shapes, legend=shown)


def verdict_marks(
    rows: Sequence[Mapping[str, Any]], *, size: int = SIZE, colour: Any = None, **encoding: Any
) -> list[Any]:
    """Points with the mark of their verdict (``state``), on paper so that no line shows through them.

    ``encoding`` places them; each row says under the mouse what it is.
    """
    shape = encoding.pop("shape", None) or verdict_shape(row["state"] for row in rows)
    words = {name: encoding.pop(name) for name in ("tooltip", "description") if name in encoding}
    paper = table(rows).mark_point(size=size, shape="circle", fill=PAPER, strokeWidth=0, opacity=1, aria=False)
    marks = table(rows).mark_point(size=size, strokeWidth=0, opacity=1)
    fill = colour or alt.FillValue(INK)
    return [paper.encode(**encoding), marks.encode(shape=shape, fill=fill, **words, **encoding)]


def published_marks(rows: Sequence[Mapping[str, Any]]) -> Any:
    """Points as a published method gives them, which have no verdict here."""
    return table(rows).mark_point(shape=PUBLISHED, size=SIZE - 16, fill=SOFT, strokeWidth=0, opacity=1)


def tally(states: Iterable[State]) -> str:
    """How many readings have each verdict, in words.

    >>> tally(["clear", "undecided", "clear"])
    '2 clear, 1 undecided'
    """
    count = Counter(states)
    return ", ".join(f"{count[state]} {_counted(state, count[state])}" for state in NAMES if count[state])


def _counted(state: State, n: int) -> str:
    """A verdict as it is counted; a control is named, because it is not a finding."""
    controls: dict[State, str] = {"works": "working control", "does not work": "failing control"}
    return f"{controls[state]}{'s' if n > 1 else ''}" if state in controls else NAMES[state]
