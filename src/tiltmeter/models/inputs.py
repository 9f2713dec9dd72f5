"""What a model is asked about, besides plain words and texts."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True)
class Span:
    """A word in its sentence, by character offsets; empty at 0, the mark ([CLS]) that a model puts before the sentence.

    >>> Span("The nurse slept.", 4, 9).word
    'nurse'
    """

    text: str
    start: int
    end: int

    @property
    def word(self) -> str:
        return self.text[self.start : self.end]


@dataclasses.dataclass(frozen=True, slots=True)
class Fill:
    """What could stand at a place of a sentence, for a masked language model.

    The characters from ``start`` to ``end`` give way to each filler in turn, as many masks as it has tokens. Every
    token of the ``hidden`` stretches is masked as well, in every case.

    >>> Fill("He is a nurse.", 0, 2, ("He", "She"), hidden=((8, 13),)).with_filler("She")
    ('She is a nurse.', (0, 3), ((9, 14),))
    """

    text: str
    start: int
    end: int
    fillers: tuple[str, ...]
    hidden: tuple[tuple[int, int], ...] = ()

    def with_filler(self, filler: str) -> tuple[str, tuple[int, int], tuple[tuple[int, int], ...]]:
        """The sentence with the filler in its place, where it stands, and where the hidden stretches stand."""
        longer = len(filler) - (self.end - self.start)
        moved = tuple((a + longer, b + longer) if a >= self.end else (a, b) for a, b in self.hidden)
        text = self.text[: self.start] + filler + self.text[self.end :]
        return text, (self.start, self.start + len(filler)), moved


@dataclasses.dataclass(frozen=True, slots=True)
class Continuation:
    """What could follow a stem, for a causal language model; the endings bring the space before them along."""

    stem: str
    endings: tuple[str, ...]


@dataclasses.dataclass(frozen=True, slots=True)
class Choice:
    """A sentence with ``[MASK]`` at a blank, and two words to choose from, for a model that is asked in words."""

    text: str
    options: tuple[str, str]
