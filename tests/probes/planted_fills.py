"""A masked language model whose probabilities are planted, for the probes that ask for fillers at a mask."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tiltmeter.models import Identity
from tiltmeter.models.protocol import Fill, Filled

#: A set all of whose words are in the text that the reference models learn from.
KNOWN_WORDS = """
name: known
language: en
occupations: occupations.all
frames:
  - {text: "The {occupation} said that [MASK] was tired.", fillers: [he, she]}
  - {text: "[MASK] works as {a occupation}.", fillers: [He, She]}
"""


class PlantedFills:
    """Answers with ``logprob(item, filler)``, and keeps what it was asked."""

    identity = Identity("planted", "1")

    def __init__(self, logprob: Callable[[Fill, str], float], *, unknown: str = "") -> None:
        self._logprob, self._unknown = logprob, unknown
        self.asked: list[Fill] = []

    def fill(self, items: Sequence[Fill]) -> list[Filled]:
        self.asked += items
        return [self._answer(item) for item in items]

    def _answer(self, item: Fill) -> Filled:
        at = item.text.find(self._unknown) if self._unknown else -1
        place = None if at < 0 else (at, at + len(self._unknown))
        logprobs = tuple(self._logprob(item, filler) for filler in item.fillers)
        return Filled(logprobs, (1,) * len(logprobs), place)


class Causal:
    """A model that only continues texts."""

    identity = Identity("causal", "1")

    def continue_with(self, items: Sequence[object]) -> list[Filled]:
        raise AssertionError(f"nothing should be asked, not {items}")
