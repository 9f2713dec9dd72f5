"""The bench: reference models, and the probes that users run, put to them over the lab's own sentences.

Every occupation stands in the same frames. A probe is told which occupations are with men in the way that it takes such
things: as shares of women, as the sentence that fits a stereotype, or as two groups of targets.
"""

from __future__ import annotations

import csv
import dataclasses
import importlib.util
import itertools
import re
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
import yaml

from tiltmeter.errors import require
from tiltmeter.lab.calibrate.measure_forms import Key, MeasureForm, Men, measure_forms
from tiltmeter.lab.reference.planted_text import (
    FrameSets,
    Reference,
    frames,
    planted,
    pronoun_sentence,
    with_occupation,
)
from tiltmeter.lab.reference.planted_vectors import PlantedVectors
from tiltmeter.lab.reference.reference import reference_folder
from tiltmeter.lab.reference.training import TrainingRecipe
from tiltmeter.models import CachedModel, Question, VectorStore
from tiltmeter.models.registry import load_bundled
from tiltmeter.models.transformers.hub import TransformerModel
from tiltmeter.probes import Options, Probe, make_probes
from tiltmeter.readings import Reading
from tiltmeter.run.probe import ask, plan, side_vectors
from tiltmeter.statistics.groups import Floats
from tiltmeter.stimuli import Group, Word, capitalise, group
from tiltmeter.stimuli.mining import mine
from tiltmeter.stimuli.sentences.sentence import Sentence

#: Probes by the name under which they are calibrated.
NamedProbes: TypeAlias = dict[str, Probe[Any]]

#: Enough to call a p-value below .05 or not.
_OPTIONS = Options(permutations=999)
#: Draws enough for an effect that is steady to the second digit; pronouns stand in one sentence only.
_CEAT = "draws=200,at-least=1"
#: How many sentences of a set are asked as pairs: every token of both versions is masked in turn.
_PAIRS = 2


class ProbeMaker:
    """Makes probes about these occupations. The files that stimuli are read from are written into ``folder``."""

    def __init__(self, folder: Path, occupations: Iterable[str]) -> None:
        self.folder = folder
        self.occupations = tuple(occupations)
        self._files = itertools.count()
        self._templates: dict[tuple[str, ...], str] = {}
        #: Which occupation a sentence of a pair is about, whichever of its two versions it is.
        self.occupation_of = {
            sentence.version("pronoun", side).text: sentence.unit
            for sentence in self._pair_sentences(frames().masked)
            for side in (1, 2)
        }

    def unmask(self, sets: FrameSets) -> Probe[Any]:
        return _probe("unmask", data=self._occupations_file(sets), method="gap")

    def cabm(self, sets: FrameSets, *, forests: bool = True) -> Probe[Any]:
        probe = _probe("cabm", data=self._occupations_file(sets))
        if forests:
            return probe
        unlabelled = dataclasses.replace(probe.stimuli.sentences, shares={})  # so that a forest has nothing to learn
        return dataclasses.replace(probe, stimuli=dataclasses.replace(probe.stimuli, sentences=unlabelled))

    def of_masked_halves(self, sets: FrameSets, men: Men) -> NamedProbes:
        """Probes of masked models that compare the occupations with men to the others."""
        data = self._occupations_file(sets, {word: 0 if man else 100 for word, man in self._sides(men)})
        pairs = self._pairs_file(sets, men)
        return {
            "unmask-shares": _probe("unmask", data=data, method="shares"),
            "lpbs": _probe("lpbs", data=data),
            "pronouns": _probe("pronouns", data=data),
            "pairs-nangia": _probe("pairs", data=pairs, method="nangia"),
            "pairs-meade": _probe("pairs", data=pairs, method="meade"),
        }

    def of_vector_halves(self, sets: FrameSets, men: Men) -> NamedProbes:
        """Probes of vectors that compare the occupations with men to the others: alone, and in sentences."""
        words = {"targets": self._targets(men), "attributes": _marks(owners=False)}
        seat = _probe("seat", templates=self._templates_of(sets), **words)
        labelled = tuple(Word(word, "noun", properties={"male_share": 100.0 * man}) for word, man in self._sides(men))
        wefat = _probe("wefat", targets=[Group("lab.all", "occupations", labelled)], attributes=words["attributes"])
        return {"weat": _probe("weat", **words), "seat": seat, "wefat": wefat}

    def ceat(self, sets: FrameSets, men: Men) -> Probe[Any]:
        """CEAT over a text of all the sentences, mined as any text is, with the whole sentence as context."""
        folder = self.folder / f"mined-{next(self._files)}"
        text = folder.with_suffix(".txt")
        plain = (with_occupation(frame, word) for word in self.occupations for frame in _flat(sets))
        marks = (
            capitalise(frame.format(word))
            for by_role in frames().marks.values()
            for role, words in by_role.items()
            for word, frame in itertools.product(words, frames().mark_frames[role])
        )
        text.write_text("\n".join([*plain, *marks]) + "\n", encoding="utf-8")
        mine([text], lexicon=[*self._targets(men), *_marks(owners=True)], out=folder, lengths=["sentence"], least=1)
        return _probe("ceat", data=folder, method=_CEAT)

    def ceat_halved(self, probe: Probe[Any], men: Men) -> Probe[Any]:
        """The same contexts with the occupations halved in another way."""
        first, second = probe.stimuli.targets
        spans = {**first.words, **second.words}
        with_men, with_women = ({word: spans[word] for word in half} for half in self._halves(men))
        targets = dataclasses.replace(first, words=with_men), dataclasses.replace(second, words=with_women)
        return dataclasses.replace(probe, stimuli=dataclasses.replace(probe.stimuli, targets=targets))

    def of_causal(self, sets: FrameSets) -> NamedProbes:
        """ClozeGender with the occupation as the context word."""
        rows = [
            {"occupation": word, "noun": word, "verb": word, "sentence": _cloze_row(frame, word)}
            for word in self.occupations
            for frame in _flat(sets)
        ]
        content = {"groups": ["men", "women"], "pronouns": ["him", "her"], "variants": {"all": "the"}, "rows": rows}
        probes = make_probes("cloze", data=self._yaml_file("cloze", **content), options=_OPTIONS)
        return {"cloze": next(probe for probe in probes if probe.id == "cloze-all-occupation")}

    def _sides(self, men: Men) -> list[tuple[str, bool]]:
        return list(zip(self.occupations, men.tolist(), strict=True))

    def _halves(self, men: Men) -> Iterator[list[str]]:
        """The occupations with men, and those with women."""
        return ([word for word, man in self._sides(men) if man is wanted] for wanted in (True, False))

    def _targets(self, men: Men) -> list[Group]:
        # Each word is a phrase as it is, because the frames have the article.
        return [
            Group(f"lab.with_{name}", f"occupations with {name}", tuple(Word(w, "noun", phrase=w) for w in words))
            for name, words in zip(("men", "women"), self._halves(men), strict=True)
        ]

    def _templates_of(self, sets: FrameSets) -> str:
        """The address of templates in which occupations stand in the frames, and words for a group in their own."""
        if tuple(sets) not in self._templates:
            rows = [{"noun": with_occupation(frame, "{}")} for frame in _flat(sets)]
            for role, own in frames().mark_frames.items():
                for template, frame in zip(rows, own, strict=False):
                    template[role] = frame
            path = self._yaml_file("templates", templates={"plain": {"templates": rows}})
            self._templates[tuple(sets)] = f"{path}.plain"
        return self._templates[tuple(sets)]

    def _occupations_file(self, sets: FrameSets, shares: Mapping[str, float] | None = None) -> str:
        """The occupations, with the (real) percentage of women in them, and the frames that they stand in.

        Of an occupation that no lexicon here knows, one half are taken to be women.
        """
        real = {word.text: float(word.properties["female_share"]) for word in group("occupations.all").words}
        known = {**dict.fromkeys(self.occupations, 50.0), **(shares or real)}
        words = [{"word": word, "female_share": known[word]} for word in self.occupations]
        jobs = {"kind": "noun", "properties": ["female_share"], "words": words}
        rows = []
        for frame in _flat(sets):
            sentence = pronoun_sentence(frame.replace("{a_", "{a "), "{occupation}")
            rows.append({"text": sentence.masked("pronoun").text, "fillers": list(sentence.forms["pronoun"])})
        lexicon = self._yaml_file("lexicon", groups={"all": jobs})
        return self._yaml_file("occupations", occupations=f"{lexicon}.all", frames=rows)

    def _pairs_file(self, sets: FrameSets, men: Men) -> str:
        """A table in the form of CrowS-Pairs: the sentence that fits the halves, and the other one."""
        path, is_man = self.folder / f"pairs-{next(self._files)}.csv", dict(self._sides(men))
        with path.open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file)
            table.writerow(("sent_more", "sent_less", "stereo_antistereo", "bias_type"))
            for sentence in self._pair_sentences(sets):
                order = (1, 2) if is_man[sentence.unit] else (2, 1)
                versions = (sentence.version("pronoun", side).text for side in order)
                table.writerow((*versions, "stereo", "gender"))
        return str(path)

    def _pair_sentences(self, sets: FrameSets) -> list[Sentence]:
        chosen = _flat({name: rows[:_PAIRS] for name, rows in sets.items()})
        return [pronoun_sentence(frame, word) for word in self.occupations for frame in chosen]

    def _yaml_file(self, name: str, **content: Any) -> str:
        path = self.folder / f"{name}-{next(self._files)}.yaml"
        path.write_text(yaml.safe_dump({"name": "lab", "language": "en", **content}), encoding="utf-8")
        return str(path)


def _probe(kind: str, **stimuli: Any) -> Probe[Any]:
    return make_probes(kind, options=_OPTIONS, **stimuli)[0]


def _flat(sets: FrameSets) -> list[str]:
    return list(itertools.chain.from_iterable(sets.values()))


def _marks(*, owners: bool) -> list[Group]:
    """The words that say a group, each once with its first role.

    Without ``owners`` there are as many on both sides: his is a word of its own, and her as an owner is not.
    """
    groups = []
    for name, by_role in frames().marks.items():
        roles: dict[str, str] = {}
        for role, words in by_role.items():
            for word in words if owners or role != "owner" else ():
                roles.setdefault(word, role)
        groups.append(Group(f"lab.{name}", f"{name} words", tuple(Word(*each) for each in roles.items())))
    return groups


def _cloze_row(frame: str, occupation: str) -> str:
    """The frame as a row of a cloze set, in which the variant puts the article in the place of the person.

    >>> _cloze_row("The {occupation} left, so we talked to {him}.", "nurse")
    '{person} nurse left, so we talked to {pronoun}'
    """
    row = re.sub(r"[Tt]he \{occupation\}", f"{{person}} {occupation}", frame)
    return row.replace("{him}.", "{pronoun}")


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
            name: each.probe.read(self.model.identity, each.asked, self._answers, each.vectors(self._vectors))
            for name, each in zip(probes, planned, strict=True)
        }


#: What the bench is made of: language models are trained, vectors are composed.
BenchKind: TypeAlias = Literal["masked", "causal", "vectors"]
EVERY_KIND: tuple[BenchKind, ...] = ("masked", "causal", "vectors")


class AskedDose(NamedTuple):
    """The models of a dose by their kind, the readings of all probes, and what every form of a measure makes of them:
    its number and its leans."""

    by_kind: Mapping[BenchKind, AskedModel]
    by_probe: Mapping[str, Reading]
    readings: Mapping[MeasureForm, tuple[Number, Floats]]


class Bench:
    """Probes over the lab's sentences, which are told that the occupations with the larger share of he are with men.

    Measures of probabilities are put to trained language models, and measures of vectors to planted vectors: what a
    language model learns of he and she at a mask says nothing certain of where its sentences stand. ``only`` names the
    probes that are wanted, where not all are; CABM then grows no forests, which take seconds.
    """

    def __init__(self, folder: Path, only: Collection[str] | None = None) -> None:
        shares = planted(0.9)
        self.maker = ProbeMaker(folder, shares)
        self.men = with_men(shares)
        with_shap = importlib.util.find_spec("shap") is not None
        self.forms = measure_forms(self.maker.occupation_of, "shap_rf" if with_shap else "lime_rf")
        self._only = only
        self._made: dict[BenchKind, NamedProbes] = {}

    def _probes(self, kind: BenchKind) -> NamedProbes:
        """The probes for models of a kind, made when they are first asked."""
        if kind not in self._made:
            if kind == "masked":
                probes = {"unmask": self.maker.unmask(frames().masked)}
                probes |= self.maker.of_masked_halves(frames().masked, self.men)
            elif kind == "causal":
                probes = self.maker.of_causal(frames().cloze)
            else:
                probes = {"cabm": self.maker.cabm(frames().masked, forests=self._only is None)}
                probes |= self._plain_probes(frames().plain)
            wanted = probes if self._only is None else self._only
            self._made[kind] = {name: probe for name, probe in probes.items() if name in wanted}
        return self._made[kind]

    def ask(
        self,
        recipes: Recipes,
        dose: float,
        seed: int,
        store: VectorStore | None,
        kinds: Collection[BenchKind] = EVERY_KIND,
    ) -> AskedDose:
        """Put all probes to the models of a dose, or to those of some kinds."""
        by_kind: dict[BenchKind, AskedModel] = {}
        by_probe: dict[str, Reading] = {}
        for kind in kinds:
            probes = self._probes(kind)
            by_kind[kind] = AskedModel(CachedModel(_model(kind, dose, seed, recipes), store), probes)
            by_probe |= by_kind[kind].read(probes)
        return AskedDose(by_kind, by_probe, self._numbers(by_probe))

    def numbers_by_set(self, asked: AskedDose) -> dict[Key, dict[str, float]]:
        """The numbers from each set of sentences alone."""
        numbers: dict[Key, dict[str, float]] = {}

        def add(name: str, kind: BenchKind, probes: NamedProbes) -> None:
            for form, ((value, _), _) in self._numbers(asked.by_kind[kind].read(probes)).items():
                numbers.setdefault(form.key, {})[name] = value

        for name, rows in frames().masked.items():
            # Not by CABM, of which a reading takes seconds, most of them for its forests.
            add(name, "masked", self.maker.of_masked_halves({name: rows}, self.men))
            add(name, "masked", {"unmask": self.maker.unmask({name: rows})})
        for name, rows in frames().plain.items():
            probes = self._plain_probes({name: rows})
            add(name, "vectors", {of: probes[of] for of in ("seat", "ceat")})  # the others have words alone
        for name, rows in frames().cloze.items():
            add(name, "causal", self.maker.of_causal({name: rows}))
        return numbers

    def null_numbers(self, asked: AskedDose, men: Men) -> dict[Key, Number]:
        """The numbers of models without bias when the occupations are halved in this way."""
        of_vectors = self.maker.of_vector_halves(frames().plain, men)
        of_vectors["ceat"] = self.maker.ceat_halved(self._probes("vectors")["ceat"], men)
        readings = asked.by_kind["masked"].read(self.maker.of_masked_halves(frames().masked, men))
        readings |= asked.by_kind["vectors"].read(of_vectors)
        return {
            form.key: form.number(readings.get(form.probe), leans, men) for form, (_, leans) in asked.readings.items()
        }

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


def require_lab(what: str) -> None:
    """Raise, in one line that says what to install, where not everything is here that the bench asks."""
    require(what, "hf,mining", "torch", "transformers", "numba")
    load_bundled("glove")  # the similarities of ClozeGender


@contextmanager
def bench(only: Collection[str] | None = None) -> Iterator[Bench]:
    """A bench, whose files are there for as long as it is needed."""
    with tempfile.TemporaryDirectory(prefix="tiltmeter-lab-") as folder:
        yield Bench(Path(folder), only)


def with_men(shares: Mapping[str, float]) -> Men:
    """The half of the occupations with the larger share of he.

    >>> with_men({"nurse": 0.1, "plumber": 0.9}).tolist()
    [False, True]
    """
    ranks = np.argsort(np.argsort(list(shares.values()), kind="stable"))
    men: Men = ranks >= len(ranks) // 2
    return men


def _model(kind: BenchKind, dose: float, seed: int, recipes: Recipes) -> TransformerModel | PlantedVectors:
    name = Reference(dose, kind, seed).name
    if kind == "vectors":
        return PlantedVectors(name)
    folder = reference_folder(name, recipe=next(recipe for recipe in recipes if recipe.kind == kind))
    return TransformerModel(str(folder), name=f"reference:{name}")
