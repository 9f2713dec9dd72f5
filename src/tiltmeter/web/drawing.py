"""Charts for the pages: drawn when a page asks for them, and kept, because drawing takes a second."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

from tiltmeter.readings import Reading
from tiltmeter.views import charts
from tiltmeter.views.charts import Figure, inline_svg
from tiltmeter.web.entries import Entry
from tiltmeter.web.shelf import NotHere

_KEPT = 200

Readings = Sequence[Reading]
P = Sequence[float | None]
#: Charts of many readings, by name.
OVERVIEW: Mapping[str, Callable[[Readings, P], Figure | None]] = {
    "effects": lambda readings, p: charts.effects(readings, adjusted=p),
    "shares": lambda readings, p: charts.shares(readings, adjusted=p),
    "grid": lambda readings, p: charts.grid(readings, adjusted=p),
    "published": lambda readings, _: charts.published_values(readings),
    "published-p": lambda readings, _: charts.published_p_values(readings),
    "contexts": lambda readings, _: charts.contexts(readings),
    "calibration": lambda readings, _: charts.calibration(readings),
    "agreement": lambda readings, _: charts.agreement_over_models(readings),
}


class Drawings:
    """Charts by what they were drawn from."""

    def __init__(self) -> None:
        self._drawn: OrderedDict[Hashable, list[dict[str, Any]]] = OrderedDict()
        self._lock = threading.Lock()

    def overview(self, name: str, entries: Sequence[Entry], stamp: Hashable) -> list[dict[str, Any]]:
        """One chart of many readings; none where it does not apply to them."""
        if name not in OVERVIEW:
            raise NotHere("there is no such chart")

        def draw() -> list[Figure]:
            figure = OVERVIEW[name]([e.reading for e in entries], [e.row.p_adjusted for e in entries])
            return [] if figure is None else [figure]

        return self._kept((name, stamp), draw)

    def reading(self, reading: Reading, stamp: Hashable) -> list[dict[str, Any]]:
        """The charts of one reading."""
        return self._kept(("reading", stamp), lambda: charts.of_reading(reading))

    def _kept(self, key: Hashable, draw: Callable[[], list[Figure]]) -> list[dict[str, Any]]:
        # One at a time: the renderer takes all cores it finds, and whoever asks for the same chart finds it done.
        with self._lock:
            if key not in self._drawn:
                self._drawn[key] = [_plain(figure) for figure in draw()]
                while len(self._drawn) > _KEPT:
                    self._drawn.popitem(last=False)
            self._drawn.move_to_end(key)
            return self._drawn[key]


def _plain(figure: Figure) -> dict[str, Any]:
    return {
        "name": figure.name,
        "title": figure.title,
        "alt": figure.alt,
        "keeps_colours": figure.keeps_colours,
        "svg": inline_svg(figure),
    }
