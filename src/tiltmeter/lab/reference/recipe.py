"""What a reference model is made of."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from importlib import resources
from typing import Literal

from tiltmeter.lab.reference.planted_text import planted

ModelHead = Literal["masked", "causal"]


@dataclasses.dataclass(frozen=True, slots=True)
class TrainingRecipe:
    """How a reference model is made.

    Words that say a gender are asked for most often and count most: they carry the bias, and a model that minds every
    word alike does not find it for minutes. What begins with ``first`` is of the text on which it learns to read, the
    rest of the text whose bias is planted. ``ask_occupation`` is the share of sentences of the latter in which the
    occupation is asked for, and not the words that say a gender. ``unknown`` is the share of other words that a causal
    model is shown as unknown. ``further_words`` are in its vocabulary and in no sentence.
    """

    kind: ModelHead = "masked"
    sentences: int = 20_000
    first_epochs: int = 3
    first_batch: int = 64
    first_rate: float = 3e-3
    epochs: int = 3
    batch: int = 256
    rate: float = 1e-2
    ask_gendered: float = 0.6
    ask_other: float = 0.1
    ask_occupation: float = 0.15
    unknown: float = 0.05
    weight_other: float = 0.1
    layers: int = 1
    width: int = 64
    further_words: tuple[str, ...] = ()
    version: int = 2  # to be raised when the code of the training changes what comes out

    @property
    def key(self) -> str:
        """Changes with everything a model is made of."""
        content = (resources.files(__package__) / "patterns_en.yaml").read_text(encoding="utf-8")
        fields = dataclasses.asdict(self)
        if not self.further_words:
            del fields["further_words"]  # a recipe without them is the one that it was before there were any
        made_of = json.dumps([fields, content, list(planted(0.5))])
        return hashlib.sha256(made_of.encode()).hexdigest()[:8]

    @property
    def reader(self) -> TrainingRecipe:
        """What the reader is made of, which is one for all doses."""
        return dataclasses.replace(self, epochs=0, batch=0, rate=0.0, ask_occupation=0.0)


RECIPE = TrainingRecipe()
#: What follows a stem is asked of all pronouns at once, these among them.
CAUSAL_RECIPE = TrainingRecipe(kind="causal", further_words=("they", "them", "their"))
