"""Reference models as models that can be asked: ``reference:tilt-0.9``, ``causal-0.9`` and ``vectors-0.9``."""

from __future__ import annotations

import functools
from collections.abc import Collection
from pathlib import Path

from tiltmeter.lab.reference.planted_vectors import PlantedVectors
from tiltmeter.lab.reference.reference import Reference, planted_truth, reference_folder
from tiltmeter.lab.reference.training import TrainingRecipe
from tiltmeter.models import ModelKind
from tiltmeter.models.protocol import Question
from tiltmeter.models.transformers.hub import TransformerModel
from tiltmeter.models.transformers.questions import CAUSAL, MASKED


class ReferenceModel(TransformerModel):
    """A tiny language model whose bias is known, trained here at the first use.

    It gives no vectors of words and texts: most words are unknown to it, and would all have the same one.

    >>> ReferenceModel("tilt-0.9").note.partition(":")[0]
    'reference'
    """

    def __init__(self, name: str, *, recipe: TrainingRecipe | None = None) -> None:
        self._truth = planted_truth(name)
        self._reference, self._made_by = name, recipe
        super().__init__(f"reference:{name}", name=f"reference:{name}")

    @property
    def questions(self) -> Collection[Question]:
        is_masked = Reference.named(self._reference).kind == "masked"
        return (*(MASKED if is_masked else CAUSAL), Question.SPANS, Question.REACH)

    @property
    def note(self) -> str:
        """The truth, for everyone who reads what was measured."""
        least, most = min(self._truth, key=self._truth.__getitem__), max(self._truth, key=self._truth.__getitem__)
        return (
            f"{self.name} has a planted tilt: in the text it learned from, the share of he runs from "
            f"{self._truth[least]:.0%} ({least}) to {self._truth[most]:.0%} ({most})"
        )

    @functools.cached_property
    def _root(self) -> Path:
        return reference_folder(self._reference, recipe=self._made_by)


def _load(name: str, *, budget: object) -> ReferenceModel | PlantedVectors:  # noqa: ARG001
    return PlantedVectors(name) if name.startswith("vectors-") else ReferenceModel(name)


KIND = ModelKind(
    "a planted bias: a tiny language model (tilt-, causal-), trained at the first use, or vectors (vectors-)",
    "reference:tilt-0.9",
    {},
    _load,
)
