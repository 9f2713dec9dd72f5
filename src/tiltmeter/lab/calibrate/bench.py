"""The bench: reference models, and the probes that are put to them."""

from __future__ import annotations

import dataclasses
import importlib.util
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from tiltmeter.lab.calibrate.lab_probes import Men, NamedProbes, ProbeMaker
from tiltmeter.lab.calibrate.measure_forms import Key, MeasureForm, measure_forms
from tiltmeter.lab.reference.frames import FrameSets, frames
from tiltmeter.lab.reference.planted_text import planted
from tiltmeter.lab.reference.recipe import TrainingRecipe
from tiltmeter.lab.reference.reference import Reference, reference_folder
from tiltmeter.models import CachedModel, Question, VectorStore
from tiltmeter.models.transformers.hub import TransformerModel
from tiltmeter.readings import Reading
from tiltmeter.run.probe import ask, plan, side_vectors, vectors_for
from tiltmeter.statistics.groups import Floats

#: No bias: every calibration has it.
LEVEL = 0.5
#: Of the masked and of the causal models.
Recipes: TypeAlias = tuple[TrainingRecipe, TrainingRecipe]
#: A number with its p-value, where there is one.
Number: TypeAlias = tuple[float, float | None]


class AskedModel:
    """A model and its answers to everything that some probes ask, so that further probes can be read off them."""

    def __init__(self, model: CachedModel, probes: NamedProbes) -> None:
        self.model = model
        planned, _ = plan(model, list(probes.values()))
        self._vectors = side_vectors(planned, model.store, None)
        self._answers: Mapping[Question, Mapping[Any, Any]] = ask(model, planned, lambda _: None, False)

    def read(self, probes: NamedProbes) -> dict[str, Reading]:
        """The readings of probes that ask nothing else."""
        planned, _ = plan(self.model, list(probes.values()))
        return {
            name: probe.read(self.model.identity, asked, self._answers, vectors_for(probe, self._vectors))
            for name, (probe, asked) in zip(probes, planned, strict=True)
        }


@dataclasses.dataclass(frozen=True, slots=True)
class AskedModels:
    """The masked and the causal model of a dose, and what every form of a measure reads on them: number and leans."""

    masked: AskedModel
    causal: AskedModel
    readings: Mapping[MeasureForm, tuple[Number, Floats]]


class Bench:
    """Probes over the lab's sentences, which are told that the occupations with the larger share of he are with men."""

    def __init__(self, folder: Path) -> None:
        shares = planted(0.9)
        self.maker = ProbeMaker(folder, shares)
        self.men = with_men(shares)
        with_shap = importlib.util.find_spec("shap") is not None
        self.forms = measure_forms(self.maker.occupation_of, "shap_rf" if with_shap else "lime_rf")
        self._masked = self._masked_probes(frames().masked) | self._plain_probes(frames().plain)
        self._causal = self.maker.of_causal(frames().cloze)

    def ask(self, recipes: Recipes, dose: float, seed: int, store: VectorStore | None) -> AskedModels:
        """Put all probes to the models of a dose."""
        masked, causal = (CachedModel(_model(dose, seed, recipe), store) for recipe in recipes)
        both = AskedModel(masked, self._masked), AskedModel(causal, self._causal)
        readings = both[0].read(self._masked) | both[1].read(self._causal)
        return AskedModels(*both, self._numbers(readings))

    def numbers_by_set(self, asked: AskedModels) -> dict[Key, dict[str, float]]:
        """The numbers from each set of sentences alone."""
        readings: dict[str, dict[str, Reading]] = {}
        for name, rows in frames().masked.items():
            # Not by CABM, of which a reading takes seconds, most of them for its forests.
            probes = self.maker.of_masked_halves({name: rows}, self.men) | {"unmask": self.maker.unmask({name: rows})}
            readings[name] = asked.masked.read(probes)
        for name, rows in frames().plain.items():
            probes = self._plain_probes({name: rows})
            del probes["weat"]  # which has words alone
            readings.setdefault(name, {}).update(asked.masked.read(probes))
        for name, rows in frames().cloze.items():
            readings.setdefault(name, {}).update(asked.causal.read(self.maker.of_causal({name: rows})))
        numbers: dict[Key, dict[str, float]] = {}
        for name, of_set in readings.items():
            for form, ((value, _), _) in self._numbers(of_set).items():
                numbers.setdefault(form.key, {})[name] = value
        return numbers

    def null_numbers(self, asked: AskedModels, men: Men) -> dict[Key, Number]:
        """The numbers of models without bias when the occupations are halved in this way."""
        probes = self.maker.of_masked_halves(frames().masked, men) | self.maker.of_vector_halves(frames().plain, men)
        probes["ceat"] = self.maker.ceat_halved(self._masked["ceat"], men)
        readings = asked.masked.read(probes)
        return {
            form.key: form.number(readings.get(form.probe), leans, men) for form, (_, leans) in asked.readings.items()
        }

    def _masked_probes(self, sets: FrameSets) -> NamedProbes:
        return self.maker.of_masked(sets) | self.maker.of_masked_halves(sets, self.men)

    def _plain_probes(self, sets: FrameSets) -> NamedProbes:
        return self.maker.of_vector_halves(sets, self.men) | {"ceat": self.maker.ceat(sets, self.men)}

    def _numbers(self, readings: Mapping[str, Reading]) -> dict[MeasureForm, tuple[Number, Floats]]:
        """What each form reads, where it is there; a forest that had nothing to learn gives no scores."""
        side = dict(zip(self.maker.occupations, np.where(self.men, 1, -1).tolist(), strict=True))
        numbers = {}
        for form in self.forms:
            reading = readings.get(form.probe)
            leans = None if reading is None else form.lean(reading, side)
            if leans is not None:
                values = np.array([leans[word] for word in self.maker.occupations])
                numbers[form] = form.number(reading, values, self.men), values
        return numbers


@contextmanager
def bench() -> Iterator[Bench]:
    """A bench, whose files are there for as long as it is needed."""
    with tempfile.TemporaryDirectory(prefix="tiltmeter-lab-") as folder:
        yield Bench(Path(folder))


def with_men(shares: Mapping[str, float]) -> Men:
    """The half of the occupations with the larger share of he.

    >>> with_men({"nurse": 0.1, "plumber": 0.9}).tolist()
    [False, True]
    """
    order = np.argsort(list(shares.values()), kind="stable")
    men = np.zeros(len(order), dtype=bool)
    men[order[len(order) // 2 :]] = True
    return men


def _model(dose: float, seed: int, recipe: TrainingRecipe) -> TransformerModel:
    """A reference model that also gives vectors of words and texts: it knows those that it is asked about here."""
    name = Reference(dose, recipe.kind, seed).name
    return TransformerModel(str(reference_folder(name, recipe=recipe)), name=f"reference:{name}")
