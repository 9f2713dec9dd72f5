"""Running an audit: every probe of a suite on every model, resumable, and what that would cost."""

from __future__ import annotations

import dataclasses
import datetime
import gc
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tiltmeter.errors import BadInput, CacheUnusable, TiltmeterError, without_passwords
from tiltmeter.files import locked
from tiltmeter.models import CachedModel, Identity, Question, VectorStore, load
from tiltmeter.models.protocol import LAST_LAYER
from tiltmeter.models.registry import SAMPLES
from tiltmeter.models.transformers.on_ray import cluster_in_use
from tiltmeter.probes import Probe
from tiltmeter.probes.kind import Asked, model_name
from tiltmeter.progress import MODEL, Step, tell
from tiltmeter.readings import Audit, Reading, ReadingStore, Skipped
from tiltmeter.run.probe import Answers, Planned, Vectors, ask, check_options, costs, marked, plan, side_vectors, stored
from tiltmeter.run.suite import SomeSuite, Suite, load_suite

if TYPE_CHECKING:
    from tiltmeter.models.api import Budget


def default_models(announce: Callable[[str], None] = lambda _: None) -> list[str]:
    """The sample models that can be asked here, and one whose bias is known.

    ``announce`` is told what would bring the others.
    """
    torch = find_spec("torch") is not None and find_spec("transformers") is not None
    if not torch:
        announce("encoders and language models are left out: they need pip install 'tiltmeter[hf]'")
    usable = [name for name, sample in SAMPLES.items() if torch or sample.static]
    missing = [name for name in usable if not SAMPLES[name].folder()]
    if missing:
        announce(f"not installed, so left out: {', '.join(missing)} (tiltmeter samples install brings them)")
    samples = [f"bundled:{name}" for name in usable if name not in missing]
    return [*samples, "reference:tilt-0.9" if torch else "reference:vectors-0.9"]


def audit(
    models: str | object | Sequence[Any] | None = None,
    *,
    suite: SomeSuite = "default",
    out: str | Path | None = None,
    cache: bool | VectorStore = True,
    seed: int | None = None,
    permutations: int | None = None,
    mined: str | Path | None = None,
    budget: Budget | None = None,
    progress: bool | None = None,
    announce: Callable[[str], None] = lambda _: None,
) -> Audit:
    """Run every probe of the suite on every model that answers its question.

    A model that fails does not stop the others: it is listed in ``skipped`` with the reason.

    Args:
        models: specs, or objects of your own; by default the sample models that are installed, and one with a known
            bias.
        suite: its name, a YAML file, what would stand in one as a dict, or a ``Suite`` of your own.
        out: a folder, into which each reading is written as soon as it is made.
        cache: whether answers are stored, or where.
        seed: of every random draw (0; a ``Suite`` of your own keeps that of its probes).
        permutations: draws of a permutation test that is too large to count (10,000; likewise).
        mined: a folder of ``tiltmeter mine``: tests of words whose groups are there are measured in context too.
        budget: the most to spend at paid APIs.
        progress: whether to show a bar; by default on a terminal or in a notebook.
        announce: is told, before a paid API is asked, what that costs at most.

    >>> words = {"he": [1.0, 0.1], "him": [1.0, 0.0], "she": [0.1, 1.0], "her": [0.0, 1.0]}
    >>> audit([words], suite="weat", cache=False)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    tiltmeter.errors.BadInput: nothing could be measured: ...
    """
    started = _now()
    chosen = _suite(suite, seed, permutations, mined)
    check_options(chosen.probes)
    if models is None:
        models = default_models(announce)
    specs = list(models) if isinstance(models, list | tuple) else [models]
    if not specs:
        raise BadInput("no model to audit: name at least one, e.g. bundled:minilm")
    # Every spec is understood before anything is measured, so that a typo costs nothing.
    loaded = [load(spec, budget=budget) for spec in specs]
    store = ReadingStore(out) if out is not None else None
    run = ModelRun(chosen, store, budget, lambda model, planned: ask(model, planned, announce, progress))
    asked = recalled = 0
    names, notes = list[str](), list[str]()
    cluster = cluster_in_use.get()
    with locked(store.folder) if store else nullcontext():
        if store:
            store.prepare()
        with stored(cache) as vectors:
            if cluster is not None and len(specs) > 1:
                from tiltmeter.run.on_cluster import measure_on

                for part in measure_on(cluster, specs, loaded, vectors, run, announce):
                    names.append(part.name)
                    run.add(part.run)
                    asked, recalled = asked + part.model.asked, recalled + part.model.recalled
                    notes += part.notes
            for spec in specs[len(names) :]:
                model = loaded.pop(0)  # nobody else holds it, so its weights go before the next model's come
                wrapped = CachedModel(model, vectors)
                shown = shown_spec(spec)
                tell(Step(MODEL, shown, done=len(names), total=len(specs)))
                names.append(run.measure(wrapped, shown))
                asked, recalled = asked + wrapped.asked, recalled + wrapped.recalled
                notes += said_by(model)
                del model, wrapped
                gc.collect()
            notes += vectors.notes if vectors else ()
        if not run.readings:
            raise BadInput(f"nothing could be measured: {_why(run.skipped)}")
        result = Audit(
            chosen.name,
            tuple(names),
            tuple(run.readings),
            tuple(run.skipped),
            asked,
            recalled,
            tuple(notes),
            store.folder if store else None,
            suite_description=chosen.description,
            command=_command(specs, suite, chosen, mined),
        )
        if store:
            store.save_manifest({**result.to_dict(), "readings": run.files, "started": started, "finished": _now()})
    return result


def _command(specs: Sequence[Any], suite: SomeSuite, chosen: Suite, mined: str | Path | None) -> str:
    """The shell command that makes the audit again; none where a model or the suite was an object of Python."""
    if not isinstance(suite, str | Path) or not all(isinstance(spec, str) for spec in specs):
        return ""
    options = chosen.probes[0].options
    statistics = ("--seed", str(options.seed), "--permutations", str(options.permutations))
    context = () if mined is None else ("--mined", str(mined))
    named = map(without_passwords, specs)
    return shlex.join(["tiltmeter", "audit", *named, "--suite", str(suite), *context, *statistics])


def dry_run(models: Sequence[Any], *, suite: str | Path | Suite = "default") -> list[dict[str, Any]]:
    """What an audit would ask of each model and what that would cost at most; nothing is asked."""
    return costs(models, (suite if isinstance(suite, Suite) else load_suite(suite)).probes)


def _suite(suite: SomeSuite, seed: int | None, permutations: int | None, mined: str | Path | None) -> Suite:
    values = {"seed": seed, "permutations": permutations}
    options: dict[str, Any] = {name: value for name, value in values.items() if value is not None}
    chosen = load_suite(suite, mined=mined)
    replace = dataclasses.replace
    return replace(chosen, probes=tuple(replace(p, options=replace(p.options, **options)) for p in chosen.probes))


def _why(skipped: Sequence[Skipped]) -> str:
    """Why nothing came of an audit: a model that failed, otherwise the last probe that was tried."""
    failed = next((one for one in skipped if one.failed), None)
    if failed:
        return failed.in_words
    return f"{skipped[-1].model}, {skipped[-1].probe}: {skipped[-1].reason}"


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


#: Questions whose answers are the same for every layer.
_LAYERLESS = {
    Question.FILLS,
    Question.LIKELIEST,
    Question.PSEUDO,
    Question.UNMASKED,
    Question.TOKENS,
    Question.CONTINUATIONS,
    Question.CHOICES,
}


def _another_layer(one: Identity, other: Identity) -> bool:
    """Whether two models are one with different layers chosen."""
    layers = {each.settings.get("layer", LAST_LAYER) for each in (one, other)}
    settings = [{name: value for name, value in each.settings.items() if name != "layer"} for each in (one, other)]
    return len(layers - {LAST_LAYER}) == 2 and one.name == other.name and settings[0] == settings[1]


class Call(NamedTuple):
    """A probe to be read: on which model, what it asked, and the answers."""

    probe: Probe[Any]
    identity: Identity
    asked: Asked
    answers: Answers
    vectors: Vectors | None


def read_here(call: Call) -> Reading | TiltmeterError:
    """The reading, or the error that a user can mend."""
    try:
        return call.probe.read(call.identity, call.asked, call.answers, call.vectors)
    except TiltmeterError as error:
        return error


def shown_spec(spec: object) -> str:
    """A model as it is called until it says what it is."""
    return without_passwords(spec) if isinstance(spec, str) else type(spec).__name__


def said_by(model: object) -> list[str]:
    """What a model has to say to everyone who reads its readings."""
    note = getattr(model, "note", None)
    return [note] if isinstance(note, str) else []


@dataclasses.dataclass
class ModelRun:
    """The state of one audit while it runs."""

    suite: Suite
    store: ReadingStore | None
    budget: Budget | None
    #: Asks a model what some probes need, and says beforehand what that costs.
    ask: Callable[[CachedModel, Sequence[Planned]], Answers]
    #: The models so far, as they say what they are.
    seen: list[Identity] = dataclasses.field(default_factory=list)
    readings: list[Reading] = dataclasses.field(default_factory=list)
    files: list[str] = dataclasses.field(default_factory=list)
    skipped: list[Skipped] = dataclasses.field(default_factory=list)
    stopped: CacheUnusable | None = None
    #: Readings of probes on answers, in their order; or the error that stands for one.
    read: Callable[[Sequence[Call]], Iterable[Reading | TiltmeterError]] = lambda calls: map(read_here, calls)

    def measure(self, model: CachedModel, name: str) -> str:
        """Measure one model with the suite, called ``name`` until it says what it is; returns what readings call it."""
        try:
            if self.stopped:
                raise self.stopped
            identity = self._distinct(model.identity)
            name = model_name(identity)
            self._skip(name, self.suite.absent)
            planned, others = plan(model, self.suite.probes)
            self._skip(name, {each.id: f"needs {each.kind.needs}: this model does not give that" for each in others})
            planned = self._once_per_model(name, planned)
            planned, vectors = self._side_vectors(model, name, planned)
            planned, answers = self._ask(model, name, planned)
        except TiltmeterError as error:
            reason = str(error)
            if isinstance(error, CacheUnusable):
                self.stopped, reason = error, f"not finished: {error}"
            done = {each.probe for each in self.skipped if each.model == name}
            self._skip(name, {each.id: reason for each in self.suite.probes if each.id not in done}, failed=True)
            tell(Step("failed", name, message=reason))
            return name
        calls = [Call(probe, identity, asked, answers, vectors[probe.id]) for probe, asked in planned]
        for place, ((probe, asked), read) in enumerate(zip(planned, self.read(calls), strict=True)):
            tell(Step("measuring", name, probe.id, place, len(planned)))
            if isinstance(read, TiltmeterError):
                self._skip(name, {probe.id: str(read)})
                tell(Step("left out", name, probe.id, message=str(read)))
                continue
            reading = marked(read, model, asked)
            self.readings.append(reading)
            if self.store:
                self.files.append(self.store.save(reading))
        tell(Step("measuring", name, done=len(planned), total=len(planned)))
        return name

    def add(self, part: ModelRun) -> None:
        """Take over what another has measured."""
        self.readings += part.readings
        self.files += part.files
        self.skipped += part.skipped
        self.stopped = self.stopped or part.stopped

    def _once_per_model(self, name: str, planned: list[Planned]) -> list[Planned]:
        """Without probes whose answers another layer of the model has given: what it expects depends on no layer."""
        *others, own = self.seen
        before = [each for each in others if _another_layer(each, own)]
        if not before:
            return planned
        again = [each for each in planned if set(each.asked) <= _LAYERLESS]
        reason = f"it does not depend on the layer: see {model_name(before[0])}"
        self._skip(name, {each.probe.id: reason for each in again})
        return [each for each in planned if each not in again]

    def _skip(self, model: str, reasons: Mapping[str, str], *, failed: bool = False) -> None:
        self.skipped += [Skipped(model, probe, reason, failed=failed) for probe, reason in reasons.items()]

    def _side_vectors(
        self, model: CachedModel, name: str, planned: list[Planned]
    ) -> tuple[list[Planned], dict[str, Vectors | None]]:
        """The probes whose second model, if they need one, knows what it must, and its vectors by the probe's id."""
        answers, failed = dict[Any, Vectors](), dict[Any, BadInput]()
        for key in {each.probe.vectors.key for each in planned if each.probe.vectors}:
            some = [each for each in planned if each.probe.vectors and each.probe.vectors.key == key]
            try:
                answers |= side_vectors(some, model.store, self.budget)
            except BadInput as error:  # it costs the probes that need these vectors, and no others
                failed[key] = error
        vectors: dict[str, Vectors | None] = {}
        for each in planned:
            try:
                if each.probe.vectors and each.probe.vectors.key in failed:
                    raise failed[each.probe.vectors.key]
                vectors[each.probe.id] = each.vectors(answers)
            except BadInput as error:
                self._skip(name, {each.probe.id: str(error)})
        return [each for each in planned if each.probe.id in vectors], vectors

    def _distinct(self, identity: Identity) -> Identity:
        """Two models of one name (two dicts, two files of one name in different folders) must not share readings."""
        self.seen.append(identity)
        same = sum(model_name(earlier) == model_name(identity) for earlier in self.seen)
        return dataclasses.replace(identity, name=f"{identity.name} ({same})") if same > 1 else identity

    def _ask(self, model: CachedModel, name: str, planned: list[Planned]) -> tuple[list[Planned], Answers]:
        """The answers, and the probes they are for: one that asks what the model refuses does not stop the others."""
        try:
            return planned, self.ask(model, planned)
        except BadInput as error:
            refused: dict[str, str] = {}
            answers: Answers = {}
            for each in planned:
                try:
                    for question, some in self.ask(model, [each]).items():
                        answers.setdefault(question, {}).update(some)
                except BadInput as own:
                    refused[each.probe.id] = str(own)
            if len(refused) == len(planned):
                raise error
        self._skip(name, refused)
        return [each for each in planned if each.probe.id not in refused], answers
