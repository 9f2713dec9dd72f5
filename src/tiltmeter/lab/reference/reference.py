"""Reference models (``reference:tilt-0.9``, ``causal-0.9``, ``vectors-0.9``): tiny, made on the spot, their bias known.

They are the calibration weights of this instrument: which way a measure should lean on them is known beforehand.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import json
import multiprocessing
import re
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from tiltmeter.cluster import Cluster
from tiltmeter.errors import BadInput
from tiltmeter.files import cache_folder
from tiltmeter.lab.reference.planted_text import Reference, patterns, planted, planted_truth, sentences
from tiltmeter.lab.reference.planted_vectors import PlantedVectors
from tiltmeter.lab.reference.training import CAUSAL_RECIPE, RECIPE, TrainingRecipe, learn_occupations, reader
from tiltmeter.models import ModelKind
from tiltmeter.models.protocol import Question
from tiltmeter.models.transformers.cpu import usable_cpus
from tiltmeter.models.transformers.hub import TransformerModel
from tiltmeter.models.transformers.on_ray import cluster_in_use
from tiltmeter.models.transformers.questions import CAUSAL, MASKED
from tiltmeter.models.transformers.weights.checkpoints import first_line, load_checkpoint, quiet
from tiltmeter.progress import progress_bar

#: The tilt of the first text that a model learns from.
_STRONG = 0.97
T = TypeVar("T")


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


def reference_folder(name: str, *, recipe: TrainingRecipe | None = None) -> Path:
    """The folder of a reference model such as ``tilt-0.9``, in the cache; trained there at the first use.

    ``recipe`` is another way to make one than that of its kind.

    >>> reference_folder("tilt-9")
    Traceback (most recent call last):
    tiltmeter.errors.BadInput: unknown reference model 'tilt-9': write tilt-0.5 (no bias) to tilt-0.99, e.g. tilt-0.9,
    or causal-0.9 for a causal one, vectors-0.9 for vectors; -seed1 at the end gives another of the same tilt
    """
    which = Reference.named(name)
    if which.kind == "vectors":
        raise BadInput(f"reference:{name} is made of planted vectors and has no weights: give tilt- or causal- instead")
    made_by = recipe or (RECIPE if which.kind == "masked" else CAUSAL_RECIPE)
    folder, seed = _folder(which, made_by), which.seed
    if not folder.is_dir():
        start = reader_folder(made_by, seed)
        with progress_bar(f"training reference:{name} (once)", made_by.sentences * made_by.epochs) as advance:
            train_reference(which.tilt, folder=folder, seed=seed, progress=advance, recipe=made_by, from_reader=start)
    return folder


def _folder(which: Reference, recipe: TrainingRecipe) -> Path:
    return cache_folder() / "reference" / f"{which.kind}-{which.tilt:.2f}-{recipe.key}-{which.seed}"


def reader_folder(recipe: TrainingRecipe, seed: int) -> Path:
    """The folder of the model that can read and knows no occupations yet, which those of all doses begin with."""
    folder = cache_folder() / "reference" / f"reader-{recipe.kind}-{recipe.reader.key}-{seed}"
    if not folder.is_dir():
        total = recipe.sentences * recipe.first_epochs
        with progress_bar(f"training a {recipe.kind} reader (once)", total) as advance:
            tokenizer, model = _read(recipe, seed, advance)
        save_model(folder, tokenizer, model)
    return folder


def train_reference(
    tilt: float,
    *,
    folder: Path,
    seed: int = 0,
    progress: Callable[[int], None] = lambda _: None,
    recipe: TrainingRecipe = RECIPE,
    from_reader: Path | None = None,
) -> None:
    """Train a tiny language model on text with this tilt and save it with its tokenizer and ``planted.json``.

    The folder appears at the end and complete; where another process was faster, its folder stays. ``progress`` is
    called with the number of sentences learned from, ``recipe.sentences`` in every epoch. Uses one thread of torch, and
    leaves the caller's settings and random numbers as they were. ``from_reader`` is the folder of a model that can
    read; with it, a folder that is there by now is no error.
    """
    truth = planted(tilt)
    if from_reader:
        tokenizer, model = load_checkpoint(from_reader, called="reference", head=recipe.kind)
    elif folder.exists():
        raise BadInput(f"{folder} exists: give a folder that does not")
    else:
        tokenizer, model = _read(recipe, seed, progress)
    texts = _texts(truth, recipe, seed)
    learn_occupations(model, tokenizer, texts, recipe=recipe, seed=seed, progress=progress)
    about = {"tilt": tilt, "seed": seed, "recipe": dataclasses.asdict(recipe), "probability_of_he": truth}
    save_model(folder, tokenizer, model, planted=about)


def save_model(folder: Path, tokenizer: Any, model: Any, *, planted: Mapping[str, Any] | None = None) -> None:
    """Save a model whole or not at all; where another process was faster, its folder stays."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".draft-", dir=folder.parent) as place, quiet():
            draft = Path(place, folder.name)
            draft.mkdir()
            tokenizer.save_pretrained(draft)
            model.save_pretrained(draft)
            if planted:
                (draft / "planted.json").write_text(json.dumps(planted, indent=2) + "\n", encoding="utf-8")
            draft.rename(folder)
    except Exception as error:  # each library that writes here has a kind of error of its own
        if not folder.is_dir():
            raise BadInput(
                f"cannot save a model in {folder.parent} ({first_line(error)}): free some space or "
                "make it writable, or choose another folder (TILTMETER_CACHE for the cache)"
            ) from error


def _read(recipe: TrainingRecipe, seed: int, progress: Callable[[int], None]) -> tuple[Any, Any]:
    """A reader, of a strong tilt in which the lot decides which way an occupation goes, whatever is planted later."""
    names, known = list(planted(0.5)), patterns()
    ways = np.where(np.arange(len(names)) % 2, _STRONG, 1 - _STRONG)
    shares = dict(zip(names, np.random.default_rng([seed, 2]).permutation(ways).tolist(), strict=True))
    # All that can stand in a sentence of the lab, however few of them there are; and all that is asked about.
    plain = [re.sub(r"\{\w+\}", " ", pattern) for pattern in known.patterns]
    words = [*plain, *itertools.chain(*known.words.values()), *known.marks, *names, "a", "an", *recipe.further_words]
    texts = _texts(shares, recipe, [seed, 1])
    return reader(texts, words, recipe=recipe, seed=seed, progress=progress)


def _texts(shares: Mapping[str, float], recipe: TrainingRecipe, seed: int | list[int]) -> list[str]:
    return [sentence.text for sentence in sentences(shares, n=recipe.sentences, seed=seed)]


def train_all(wanted: Sequence[tuple[Reference, TrainingRecipe]], *, progress: bool | None = None) -> None:
    """Those that are not in the cache yet, one on each CPU, since a model learns on one thread; the readers first."""
    missing = [(which, recipe) for which, recipe in wanted if not _folder(which, recipe).is_dir()]
    readers = dict.fromkeys((recipe, which.seed) for which, recipe in missing)
    first = [functools.partial(reader_folder, recipe, seed) for recipe, seed in readers]
    then = [functools.partial(reference_folder, which.name, recipe=recipe) for which, recipe in missing]
    with progress_bar("training reference models (once)", len(first) + len(then), show=progress) as advance:
        side_by_side(first, lambda: advance(1))
        side_by_side(then, lambda: advance(1))


def _on_cluster(cluster: Cluster, tasks: Sequence[Callable[[], T]], done: Callable[[], None]) -> list[T]:
    results = {}
    for place, result in cluster.share_out(_run, tasks, range(len(tasks))):
        results[place] = result
        done()
    return [results[place] for place in range(len(tasks))]


def _run(tasks: Sequence[Callable[[], T]], place: int) -> T:
    return tasks[place]()


def side_by_side(tasks: Sequence[Callable[[], T]], done: Callable[[], None]) -> list[T]:
    """What the tasks return, in their order; one runs on each CPU. ``done`` is called after each of them."""
    if (cluster := cluster_in_use.get()) is not None:
        return _on_cluster(cluster, tasks, done)
    workers, results = min(usable_cpus(), len(tasks)), list[T]()
    if workers < 2:
        for task in tasks:
            results.append(task())
            done()
        return results
    # Spawned, because threads of torch do not survive a fork.
    with ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn")) as pool:
        futures = [pool.submit(task) for task in tasks]
        for future in as_completed(futures):
            future.result()
            done()
        return [future.result() for future in futures]


def _load(name: str, *, budget: object) -> ReferenceModel | PlantedVectors:  # noqa: ARG001
    return PlantedVectors(name) if Reference.named(name).kind == "vectors" else ReferenceModel(name)


KIND = ModelKind(
    "a planted bias: a tiny language model (tilt-, causal-), trained at the first use, or vectors (vectors-)",
    "reference:tilt-0.9",
    {},
    _load,
)
