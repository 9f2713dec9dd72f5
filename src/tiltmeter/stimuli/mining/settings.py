"""What a run of mining was asked to do: everything that decides what it finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from tiltmeter.stimuli.languages import Language
from tiltmeter.stimuli.mining.sought import Length, Sought


@dataclass(frozen=True, slots=True)
class Settings:
    """The words and lengths sought, how many windows to keep of each, and how texts are read."""

    language: Language
    sought: tuple[Sought, ...]
    lengths: tuple[Length, ...]
    keep: int
    within: Literal["text", "sentence"]
    errors: Literal["strict", "replace"]
    seed: int

    @property
    def reservoirs(self) -> int:
        return len(self.sought) * len(self.lengths)

    def names(self) -> list[str]:
        """A name for each reservoir: they are numbered by word, then by length."""
        return [f"{each.word}\n{length}" for each in self.sought for length in self.lengths]
