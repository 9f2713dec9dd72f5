"""A model of words in context whose leans are planted, and its readings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from tests.mined_folder import GROUPS
from tests.planted import vector
from tiltmeter.models import Identity
from tiltmeter.models.protocol import Span
from tiltmeter.probes import Options, make_probes
from tiltmeter.readings import Reading
from tiltmeter.run.probe import run_probes

LEANS = dict(zip(GROUPS, (0.3, -0.3, 0.8, -0.8), strict=True))


class InContext:
    """A user's own model: words lean as planted for their group, each a little more or less, and so in each context."""

    def __init__(self, leans: dict[str, float] = LEANS, *, spread: float = 0.1, name: str = "own:planted") -> None:
        self.identity = Identity(name, "1")
        self._lean = {word: leans[address] for address, words in GROUPS.items() for word in words}
        self._spread = spread
        self.asked: list[Span] = []

    def embed_spans(self, spans: Sequence[Span]) -> list[np.ndarray]:
        self.asked += spans
        return [self.vector(span) for span in spans]

    def vector(self, span: Span) -> np.ndarray:
        where = f"{span.word} {span.text}"
        own, here = (float(vector(item, 0.0)[1]) for item in (span.word, where))
        return vector(where, self._lean[span.word.removesuffix("like")] + 0.5 * own + self._spread * here)


def readings(folder: Path, model: object | None = None, **given: object) -> list[Reading]:
    made = make_probes("ceat", data=folder, options=Options(), **given)
    return run_probes(made, model or InContext(), cache=False, progress=False)
