"""What a probe shows a model, in named sets, and the vectors that came back for them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tiltmeter.errors import BadInput
from tiltmeter.models.protocol import Vector
from tiltmeter.readings import LeftOut
from tiltmeter.stimuli import Group, Pairs, SentenceSet

Matrix = NDArray[np.float32]


@dataclasses.dataclass(frozen=True, slots=True)
class StimulusSet:
    """Inputs that stand for one group; ``units`` names the word behind each input."""

    label: str
    inputs: tuple[str, ...]
    units: tuple[str, ...]
    properties: Mapping[str, Mapping[str, float | str]] = dataclasses.field(default_factory=dict)

    @classmethod
    def of_words(cls, group: Group) -> StimulusSet:
        known = {word.text: dict(word.properties) for word in group.words if word.properties}
        return cls(group.label, group.texts, group.texts, known)

    @classmethod
    def of_sentences(cls, sentences: SentenceSet) -> StimulusSet:
        return cls(sentences.label, sentences.texts, sentences.units)


@dataclasses.dataclass(frozen=True, slots=True)
class Query:
    """The stimuli of one probe: sets of targets, sets of attributes, and pairs where the measure uses them."""

    targets: tuple[StimulusSet, ...] = ()
    attributes: tuple[StimulusSet, ...] = ()
    pairs: Pairs | None = None
    notes: tuple[str, ...] = ()

    def inputs(self) -> tuple[str, ...]:
        """Every different input, in order."""
        words = [pair for pairs in (self.pairs.pairs if self.pairs else ()) for pair in pairs]
        sets = [item for each in (*self.targets, *self.attributes) for item in each.inputs]
        return tuple(dict.fromkeys([*sets, *words]))

    def to_dict(self) -> dict[str, Any]:
        """What identifies the stimuli in a reading's provenance."""
        return {
            "targets": [[each.label, list(each.inputs), list(each.units)] for each in self.targets],
            "attributes": [[each.label, list(each.inputs), list(each.units)] for each in self.attributes],
            "pairs": [list(pair) for pair in self.pairs.pairs] if self.pairs else [],
        }


@dataclasses.dataclass(frozen=True, slots=True)
class Found:
    """The part of a set that the model knows."""

    label: str
    vectors: Matrix
    inputs: tuple[str, ...]
    units: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.inputs)


class Answers:
    """A model's vectors for the inputs of a probe; collects what had to be left out."""

    def __init__(self, model: str, vectors: Mapping[str, Vector | None]) -> None:
        self._model = model
        self._vectors = vectors
        self._left_out: dict[LeftOut, None] = {}

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        return tuple(self._left_out)

    def of(self, stimuli: StimulusSet, *, at_least: int = 1) -> Found:
        """The set without the words that are out of vocabulary, which are reported."""
        known = [i for i, item in enumerate(stimuli.inputs) if self._vectors[item] is not None]
        for i in sorted(set(range(len(stimuli.inputs))) - set(known)):
            self.leave_out(f"'{stimuli.inputs[i]}' ({stimuli.label})", f"out of vocabulary of {self._model}")
        units = tuple(stimuli.units[i] for i in known)
        if len(set(units)) < at_least:
            raise BadInput(
                f"'{stimuli.label}': {len(set(units)) or 'none'} of its {len(set(stimuli.units))} words "
                f"{'are' if len(set(units)) > 1 else 'is'} in the vocabulary of {self._model}, and "
                f"{at_least} are needed: use other words (for a lower-case vocabulary add ?case=lower)"
            )
        inputs = tuple(stimuli.inputs[i] for i in known)
        return Found(stimuli.label, np.stack([self._row(item) for item in inputs]), inputs, units)

    def of_pairs(self, pairs: Pairs) -> tuple[Matrix, Matrix]:
        """Both sides of the pairs whose two words are known; a pair with an unknown word is dropped whole."""
        kept = []
        for pair in pairs.pairs:
            unknown = [word for word in pair if self._vectors[word] is None]
            if unknown:
                self.leave_out(f"pair {pair[0]}/{pair[1]}", f"'{unknown[0]}' is out of vocabulary of {self._model}")
            else:
                kept.append(pair)
        if not kept:
            raise BadInput(f"'{pairs.label}': no pair has both words in the vocabulary of {self._model}")
        first = np.stack([self._row(one) for one, _ in kept])
        return first, np.stack([self._row(two) for _, two in kept])

    def leave_out(self, what: str, reason: str) -> None:
        self._left_out[LeftOut(what, reason)] = None

    def _row(self, item: str) -> Vector:
        row = self._vectors[item]
        assert row is not None  # callers ask only for known items
        return row
