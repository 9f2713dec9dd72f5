"""A model whose leans are planted, and what CABM reads of it."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Sequence

import numpy as np

from tiltmeter.lab.reference.planted_text import planted
from tiltmeter.models import Identity
from tiltmeter.models.protocol import Span
from tiltmeter.probes import make_probes
from tiltmeter.readings import Reading
from tiltmeter.run.probe import run_probes
from tiltmeter.stimuli.sentences.marked import MarkedSet

SIDES = {"he": 1.0, "him": 1.0, "his": 1.0, "she": -1.0, "her": -1.0}
LONG = 3.0
WIDE = 2_000  # so many dimensions that a direction without meaning gives next to nothing


class PlantedVectors:
    """[CLS] stands at +3 with he, at -3 with she, and at 3 x ``lean`` with neither; the occupation at ``lean``.

    Sentences differ by ``noise``; where ``uneven``, he and she are farther apart the more an occupation leans to he,
    across the axis. Every vector has a part of its own across the gender axis.
    """

    identity = Identity("planted", "1")

    def __init__(
        self,
        lean: Callable[[str], float],
        *,
        noise: float = 0.0,
        uneven: bool = False,
        sides: dict[str, float] = SIDES,
    ) -> None:
        self._lean, self._noise, self._uneven, self._sides = lean, noise, uneven, sides
        self.asked: list[Span] = []

    def embed_spans(self, spans: Sequence[Span]) -> np.ndarray:
        self.asked += spans
        return np.stack([self._vector(span) for span in spans])

    def _vector(self, span: Span) -> np.ndarray:
        words = re.findall(r"[\w\[\]]+", span.text.lower())
        side = next((self._sides[word] for word in words if word in self._sides), None)
        found = np.zeros(WIDE, dtype=np.float32)
        lean = self._lean(span.text) + self._noise * np.sin(len(span.text))
        if span.word.lower() in self._sides:
            found[0] = self._sides[span.word.lower()]
        elif span.start == span.end:
            found[3] = 0.0 if side is None or not self._uneven else side * (1.5 + self._lean(span.text))
            found[:2] = LONG * (lean if side is None else side), 1.0
        else:
            found[0], found[2] = lean, np.sqrt(1 - lean**2)
        return found


def leaning(leans: dict[str, float], *, shared: float = 0.0) -> Callable[[str], float]:
    @functools.cache
    def lean(text: str) -> float:
        there = ((word, value) for word, value in leans.items() if word.lower() in text.lower())  # spares most searches
        found = (value for word, value in there if re.search(rf"\b{word}\b", text, re.IGNORECASE))
        return shared + next(found, 0.0)  # a sentence whose occupation is masked has the shared part alone

    return lean


OCCUPATIONS = list(planted(0.9))
LEANS = dict(zip(OCCUPATIONS, np.linspace(-0.8, 0.8, len(OCCUPATIONS)).tolist(), strict=True))


def probe(*, method: str | None = None, change: Callable[[MarkedSet], MarkedSet] = lambda made: made, **given: str):
    """The first probe, its sentences changed: without shares no forest is grown, which saves the time."""
    (made, *_) = make_probes("cabm", method=method, **given)
    return dataclasses.replace(
        made, stimuli=dataclasses.replace(made.stimuli, sentences=change(made.stimuli.sentences))
    )


def only(words, made: MarkedSet) -> MarkedSet:
    return dataclasses.replace(made, versions=tuple(row for row in made.versions if row.unit in words))


def unlabelled(made: MarkedSet) -> MarkedSet:
    return dataclasses.replace(made, shares={})


def reading(model: object, **given) -> Reading:
    return run_probes([probe(**given)], model, cache=False, progress=False)[0]


def by_word(found: Reading, key: str) -> dict[str, float]:
    return {item.label: item.group if key == "group" else item.get(key) for item in found.items}


@functools.cache
def exact() -> Reading:
    """Of the planted leans alone, without noise and labels."""
    return reading(PlantedVectors(leaning(LEANS)), change=unlabelled)
