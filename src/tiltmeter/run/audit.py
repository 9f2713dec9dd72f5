"""Running an audit: every probe of a suite on every model, resumable, and what that would cost."""

from __future__ import annotations

import dataclasses
import datetime
import shlex
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiltmeter.errors import BadInput, CacheUnusable, TiltmeterError, without_passwords
from tiltmeter.files import locked
from tiltmeter.models import CachedModel, Identity, Question, VectorStore, load
from tiltmeter.models.registry import SAMPLES
from tiltmeter.probes.kind import model_name
from tiltmeter.readings import Audit, Reading, ReadingStore, Skipped
from tiltmeter.run.probe import (
    Planned,
    Vectors,
    ask,
    check_options,
    inputs_of,
    plan,
    side_vectors,
    side_words,
    stored,
    vectors_for,
)
from tiltmeter.run.suite import Suite, load_suite

if TYPE_CHECKING:
    from tiltmeter.models.api import Budget

#: The sample models, and one whose bias is known.
DEFAULT_MODELS = (*(f"bundled:{name}" for name in SAMPLES), "reference:tilt-0.9")


def audit(
    models: str | object | Sequence[Any] = DEFAULT_MODELS,
    *,
    suite: str | Path | Suite = "default",
    out: str | Path | None = None,
    cache: bool | VectorStore = True,
    seed: int | None = None,
    permutations: int | None = None,
    budget: Budget | None = None,
    progress: bool | None = None,
    announce: Callable[[str], None] = lambda _: None,
) -> Audit:
    """Run every probe of the suite on every model that answers its question.

    A model that fails does not stop the others: it is listed in ``skipped`` with the reason.

    Args:
        models: specs, or objects of your own.
        suite: its name, a YAML file, or a ``Suite`` of your own.
        out: a folder, into which each reading is written as soon as it is made.
        cache: whether answers are stored, or where.
        seed: of every random draw (0; a ``Suite`` of your own keeps that of its probes).
        permutations: draws of a permutation test that is too large to count (10,000; likewise).
        budget: the most to spend at paid APIs.
        progress: whether to show a bar; by default on a terminal only.
        announce: is told, before a paid API is asked, what that costs at most.

    >>> words = {"he": [1.0, 0.1], "him": [1.0, 0.0], "she": [0.1, 1.0], "her": [0.0, 1.0]}
    >>> audit([words], suite="weat", cache=False)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    tiltmeter.errors.BadInput: nothing could be measured: ...
    """
    started = _now()
    chosen = _suite(suite, seed, permutations)
    check_options(chosen.probes)
    specs = list(models) if isinstance(models, list | tuple) else [models]
    if not specs:
        raise BadInput("no model to audit: name at least one, e.g. bundled:minilm")
    # Every spec is understood before anything is measured, so that a typo costs nothing.
    loaded = [load(spec, budget=budget) for spec in specs]
    store = ReadingStore(out) if out is not None else None
    run = _Run(chosen, store, budget, progress, announce)
    asked = recalled = 0
    names = []
    with locked(store.folder) if store else nullcontext():
        if store:
            store.prepare()
        with stored(cache) as vectors:
            for spec, model in zip(specs, loaded, strict=True):
                wrapped = CachedModel(model, vectors)
                shown = without_passwords(spec) if isinstance(spec, str) else type(spec).__name__
                names.append(run.measure(wrapped, shown))
                asked, recalled = asked + wrapped.asked, recalled + wrapped.recalled
            notes = (*_notes(loaded), *(vectors.notes if vectors else ()))
        if not run.readings:
            raise BadInput(f"nothing could be measured: {_why(run.skipped)}")
        result = Audit(
            chosen.name,
            tuple(names),
            tuple(run.readings),
            tuple(run.skipped),
            asked,
            recalled,
            notes,
            store.folder if store else None,
            suite_description=chosen.description,
            command=_command(specs, suite, chosen),
        )
        if store:
            store.save_manifest({**result.to_dict(), "readings": run.files, "started": started, "finished": _now()})
    return result


def _command(specs: Sequence[Any], suite: str | Path | Suite, chosen: Suite) -> str:
    """The shell command that makes the audit again; none where a model or the suite was an object of Python."""
    if isinstance(suite, Suite) or not all(isinstance(spec, str) for spec in specs):
        return ""
    options = chosen.probes[0].options
    statistics = ("--seed", str(options.seed), "--permutations", str(options.permutations))
    return shlex.join(["tiltmeter", "audit", *map(without_passwords, specs), "--suite", str(suite), *statistics])


def dry_run(models: Sequence[Any], *, suite: str | Path | Suite = "default") -> list[dict[str, Any]]:
    """What an audit would ask of each model and what that would cost at most; nothing is asked."""
    chosen = suite if isinstance(suite, Suite) else load_suite(suite)
    rows, sides = [], dict[Any, tuple[Any, dict[str, None]]]()
    with VectorStore() as store:
        for spec in models:
            model = CachedModel(load(spec), store)
            planned, _ = plan(model, chosen.probes)
            rows += [_cost(model, question, inputs) for question, inputs in inputs_of(planned).items()]
            for key, (side, words) in side_words(planned).items():
                sides.setdefault(key, (side, {}))[1].update(dict.fromkeys(words))
        rows += [_cost(CachedModel(load(side), store), Question.WORDS, list(some)) for side, some in sides.values()]
    return rows


def _cost(model: CachedModel, question: Question, inputs: list[Any]) -> dict[str, Any]:
    new = model.unknown_inputs(question, inputs)
    estimate = getattr(model.model, "estimate", None)
    cost = estimate(new) if estimate else None
    return {
        "model": model.identity.name,
        "asked for": question.value,
        "inputs": len(inputs),
        "new": len(new),
        "requests": cost.requests if cost else None,
        "tokens": cost.tokens if cost else None,
        "dollars": cost.dollars if cost else None,
    }


def _suite(suite: str | Path | Suite, seed: int | None, permutations: int | None) -> Suite:
    values = {"seed": seed, "permutations": permutations}
    options: dict[str, Any] = {name: value for name, value in values.items() if value is not None}
    chosen = suite if isinstance(suite, Suite) else load_suite(suite)
    probes = (
        dataclasses.replace(probe, options=dataclasses.replace(probe.options, **options)) for probe in chosen.probes
    )
    return dataclasses.replace(chosen, probes=tuple(probes))


def _notes(models: Sequence[Any]) -> tuple[str, ...]:
    """What a model has to say to everyone who reads its readings."""
    return tuple(model.note for model in models if isinstance(getattr(model, "note", None), str))


def _why(skipped: Sequence[Skipped]) -> str:
    """Why nothing came of an audit: a model that failed, otherwise the last probe that was tried."""
    failed = next((each for each in skipped if each.failed), None)
    if failed:
        return failed.reason if failed.model in failed.reason else f"{failed.model}: {failed.reason}"
    return f"{skipped[-1].model}, {skipped[-1].probe}: {skipped[-1].reason}"


class _Run:
    """The state of one audit while it runs."""

    def __init__(
        self,
        suite: Suite,
        store: ReadingStore | None,
        budget: Budget | None,
        progress: bool | None,
        announce: Callable[[str], None],
    ) -> None:
        self._suite = suite
        self._store = store
        self._budget = budget
        self._progress = progress
        self._announce = announce
        self.readings: list[Reading] = []
        self.files: list[str] = []
        self.skipped: list[Skipped] = []
        self._seen: list[str] = []
        self._stopped: CacheUnusable | None = None

    def measure(self, model: CachedModel, name: str) -> str:
        """Measure one model with the suite, called ``name`` until it says what it is; returns what readings call it."""
        try:
            if self._stopped:
                raise self._stopped
            identity = self._distinct(model.identity)
            name = model_name(identity)
            planned, others = plan(model, self._suite.probes)
            self.skipped += [
                Skipped(name, probe.id, f"needs {probe.kind.needs}: this model does not give that") for probe in others
            ]
            planned, vectors = self._side_vectors(model, name, planned)
            planned, answers = self._ask(model, name, planned)
        except TiltmeterError as error:
            reason = str(error)
            if isinstance(error, CacheUnusable):
                self._stopped, reason = error, f"not finished: {error}"
            done = {each.probe for each in self.skipped if each.model == name}
            self.skipped += [
                Skipped(name, probe.id, reason, failed=True) for probe in self._suite.probes if probe.id not in done
            ]
            return name
        for each in planned:
            self._read(identity, each, answers, vectors[each.probe.id])
        return name

    def _side_vectors(
        self, model: CachedModel, name: str, planned: list[Planned]
    ) -> tuple[list[Planned], dict[str, Vectors | None]]:
        """The probes whose second model, if they need one, knows what it must, and its vectors by the probe's id."""
        answers = side_vectors(planned, model.store, self._budget)
        vectors: dict[str, Vectors | None] = {}
        for probe, _ in planned:
            try:
                vectors[probe.id] = vectors_for(probe, answers)
            except BadInput as error:
                self.skipped.append(Skipped(name, probe.id, str(error)))
        return [each for each in planned if each.probe.id in vectors], vectors

    def _distinct(self, identity: Identity) -> Identity:
        """Two models of one name (two dicts, two files of one name in different folders) must not share readings."""
        name = model_name(identity)
        earlier = self._seen.count(name)
        self._seen.append(name)
        return dataclasses.replace(identity, name=f"{identity.name} ({earlier + 1})") if earlier else identity

    def _ask(
        self, model: CachedModel, name: str, planned: list[Planned]
    ) -> tuple[list[Planned], dict[Question, dict[Any, Any]]]:
        """The answers, and the probes they are for: one that asks what the model refuses does not stop the others."""
        try:
            return planned, ask(model, planned, self._announce, self._progress)
        except BadInput as error:
            refused: dict[str, str] = {}
            answers: dict[Question, dict[Any, Any]] = {}
            for each in planned:
                try:
                    for question, some in ask(model, [each], self._announce, self._progress).items():
                        answers.setdefault(question, {}).update(some)
                except BadInput as own:
                    refused[each.probe.id] = str(own)
            if len(refused) == len(planned):
                raise error
        self.skipped += [Skipped(name, probe, reason) for probe, reason in refused.items()]
        return [each for each in planned if each.probe.id not in refused], answers

    def _read(
        self, identity: Identity, planned: Planned, answers: dict[Question, dict[Any, Any]], vectors: Vectors | None
    ) -> None:
        probe, asked = planned
        try:
            reading = probe.read(identity, asked, answers, vectors)
        except TiltmeterError as error:
            self.skipped.append(Skipped(model_name(identity), probe.id, str(error)))
            return
        self.readings.append(reading)
        if self._store:
            self.files.append(self._store.save(reading))


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
