"""An audit: every probe of a suite on every model, resumable, with what was left out and why."""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, get_args

from tiltmeter.asking import ask, inputs_of, words_beside, words_for
from tiltmeter.errors import BadInput, TiltmeterError, unknown
from tiltmeter.models import CachedModel, Identity, Question, VectorStore, load
from tiltmeter.probes import AnyProbe, Options, make_probes
from tiltmeter.probes.language import LanguageProbe
from tiltmeter.probes.reading import model_name
from tiltmeter.readings import Reading, ReadingStore
from tiltmeter.statistics import Alternative, benjamini_hochberg, holm
from tiltmeter.suites import Suite, load_suite

if TYPE_CHECKING:
    import pandas as pd

    from tiltmeter.models.api import Budget

DEFAULT_MODELS = ("bundled:minilm", "bundled:glove", "bundled:smollm2", "reference:tilt-0.9")


@dataclasses.dataclass(frozen=True, slots=True)
class Skipped:
    """A probe that was not measured on a model, and why; ``failed`` if the model itself gave up."""

    model: str
    probe: str
    reason: str
    failed: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Audit:
    """The readings of one audit. ``asked`` and ``recalled`` count inputs put to models and known before."""

    suite: str
    models: tuple[str, ...]
    readings: tuple[Reading, ...]
    skipped: tuple[Skipped, ...]
    asked: int
    recalled: int
    notes: tuple[str, ...] = ()
    folder: Path | None = None

    def adjusted(self) -> list[tuple[float | None, float | None]]:
        """For each reading its p-value adjusted for all tests of the audit: Holm, and Benjamini-Hochberg."""
        tested = [r.effect.p_value for r in self.readings if r.effect.p_value is not None]
        pairs = iter(zip(holm(tested).tolist(), benjamini_hochberg(tested).tolist(), strict=True))
        return [next(pairs) if r.effect.p_value is not None else (None, None) for r in self.readings]

    def to_frame(self) -> pd.DataFrame:
        """One row a reading: what was measured on which model, and what was found."""
        import pandas as pd

        return pd.DataFrame([_row(r, *p) for r, p in zip(self.readings, self.adjusted(), strict=True)])

    def to_dict(self) -> dict[str, Any]:
        """Everything but the items, as JSON-ready values."""
        rows = [_row(r, *p) for r, p in zip(self.readings, self.adjusted(), strict=True)]
        return {
            "suite": self.suite,
            "models": list(self.models),
            "readings": rows,
            "skipped": [dataclasses.asdict(each) for each in self.skipped],
            "asked": self.asked,
            "recalled": self.recalled,
            "notes": list(self.notes),
            "folder": None if self.folder is None else str(self.folder),
        }

    def report(self, path: str | Path) -> Path:
        """Write the report, one HTML file that needs nothing else."""
        from tiltmeter.views.report import write_report

        return write_report(self, Path(path))

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """The audit stored in a folder."""
        store = ReadingStore(folder)
        manifest = store.manifest()
        try:
            return cls(
                suite=manifest["suite"],
                models=tuple(manifest["models"]),
                readings=tuple(store.load(manifest["readings"])),
                skipped=tuple(Skipped(**each) for each in manifest["skipped"]),
                asked=manifest["asked"],
                recalled=manifest["recalled"],
                notes=tuple(manifest["notes"]),
                folder=store.folder,
            )
        except (KeyError, TypeError) as error:
            raise BadInput(f"{store.folder / store.MANIFEST} is damaged ({error}): run the audit again") from None


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

    ``models`` are specs or objects of your own. With ``out`` each reading is written as soon as it is made. A
    model that fails does not stop the others: it is listed in ``skipped`` with the reason. ``seed`` (0) and
    ``permutations`` (10,000) go to every probe; a ``Suite`` of your own keeps those it was made with unless given.

    >>> words = {"he": [1.0, 0.1], "him": [1.0, 0.0], "she": [0.1, 1.0], "her": [0.0, 1.0]}
    >>> audit([words], suite="weat", cache=False)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    tiltmeter.errors.BadInput: nothing could be measured: ...
    """
    started = _now()
    plan = _plan(suite, seed, permutations)
    _check_options(plan.probes)
    given = list(models) if isinstance(models, list | tuple) else [models]
    if not given:
        raise BadInput("no model to audit: name at least one, e.g. bundled:minilm")
    # Every spec is understood before anything is measured, so that a typo costs nothing.
    loaded = [load(each, budget=budget) for each in given]
    store = ReadingStore(out) if out is not None else None
    if store:
        store.prepare()
    run = _Run(plan, store, progress, announce)
    asked = recalled = 0
    names = []
    with stored(cache) as vectors:
        for spec, model in zip(given, loaded, strict=True):
            wrapped = CachedModel(model, vectors)
            names.append(run.measure(wrapped, spec if isinstance(spec, str) else type(spec).__name__))
            asked, recalled = asked + wrapped.asked, recalled + wrapped.recalled
        notes = (*_notes(loaded), *(vectors.notes if vectors else ()))
    if not run.readings:
        raise BadInput(f"nothing could be measured: {_why(run.skipped)}")
    found = Audit(
        plan.name,
        tuple(names),
        tuple(run.readings),
        tuple(run.skipped),
        asked,
        recalled,
        notes,
        store.folder if store else None,
    )
    if store:
        store.save_manifest({**found.to_dict(), "readings": run.files, "started": started, "finished": _now()})
    return found


def probe(
    name: str,
    model: str | object,
    *,
    cache: bool | VectorStore = True,
    seed: int = 0,
    permutations: int = 10_000,
    alternative: str = "two-sided",
    budget: Budget | None = None,
    progress: bool | None = None,
    **stimuli: Any,
) -> Reading:
    """One probe on one model, with the stimuli given or its default ones.

    Word probes take ``targets``, ``attributes``, ``pairs`` and ``templates``; probes of language models ``data``,
    ``vectors`` and ``method``. Of a probe with several parts this is the whole; ``put(make_probes(...))`` gives all.

    >>> words = {"he": [1, 0.1], "him": [1, 0], "she": [0.1, 1], "her": [0, 1], "job": [0.9, 0.2], "home": [0.1, 0.9]}
    >>> terms = ["gender.male_pronouns", "gender.female_pronouns"]
    >>> probe("weat", words, targets=terms, attributes=["attributes.career", "attributes.family"], cache=False).leans
    'no clear lean'
    """
    options = Options(alternative, permutations, seed)
    whole = make_probes(name, options=options, **stimuli)[:1]
    return put(whole, model, cache=cache, budget=budget, progress=progress)[0]


def put(
    probes: Sequence[AnyProbe],
    model: str | object,
    *,
    cache: bool | VectorStore = True,
    budget: Budget | None = None,
    progress: bool | None = None,
    announce: Callable[[str], None] = lambda _: None,
) -> list[Reading]:
    """Put ready-made probes to one model; one that cannot be measured is an error, but for parts after the first."""
    _check_options(probes)
    with stored(cache) as store:
        wrapped = CachedModel(load(model, budget=budget), store)
        fitting = []
        for place, each in enumerate(probes):
            if each.asks(wrapped.answers_question) is not None:
                fitting.append(each)
            elif place == 0 or not isinstance(each, LanguageProbe):  # a further part may be for other models
                raise BadInput(
                    f"{each.kind.name} needs {each.kind.asks_for}: {wrapped.identity.name} does not give that"
                )
        beside = words_beside(fitting, store)
        answers = ask(wrapped, fitting, announce, progress)
        return [each.read(wrapped.identity, answers, words_for(each, beside)) for each in fitting]


def _notes(models: Sequence[Any]) -> tuple[str, ...]:
    """What a model has to say to everyone who reads its readings."""
    return tuple(model.note for model in models if isinstance(getattr(model, "note", None), str))


def _plan(suite: str | Path | Suite, seed: int | None, permutations: int | None) -> Suite:
    chosen = {"seed": seed, "permutations": permutations}
    given: dict[str, Any] = {name: value for name, value in chosen.items() if value is not None}
    if not isinstance(suite, Suite):
        return load_suite(suite, options=dataclasses.replace(Options(), **given))
    probes = (dataclasses.replace(each, options=dataclasses.replace(each.options, **given)) for each in suite.probes)
    return dataclasses.replace(suite, probes=tuple(probes))


def _check_options(probes: Sequence[AnyProbe]) -> None:
    """Done before a model is asked: a typing error must not cost a request."""
    for options in {each.options for each in probes}:
        if options.alternative not in get_args(Alternative):
            raise unknown("alternative", options.alternative, get_args(Alternative))
        if options.permutations < 1:
            raise BadInput(f"permutations must be at least 1, not {options.permutations}")
        if options.seed < 0:
            raise BadInput(f"the seed must be 0 or more, not {options.seed}")


def _why(skipped: Sequence[Skipped]) -> str:
    """Why nothing came of an audit: a model that failed, otherwise the last probe that was tried."""
    failed = next((each for each in skipped if each.failed), None)
    if failed:
        return failed.reason if failed.model in failed.reason else f"{failed.model}: {failed.reason}"
    return f"{skipped[-1].model}, {skipped[-1].probe}: {skipped[-1].reason}"


@contextlib.contextmanager
def stored(cache: bool | VectorStore) -> Iterator[VectorStore | None]:
    """The caller's store as it is, or the usual one for as long as it is needed."""
    if isinstance(cache, VectorStore):
        yield cache
    elif cache:
        with VectorStore() as store:
            yield store
    else:
        yield None


class _Run:
    """The state of one audit while it runs."""

    def __init__(
        self, plan: Suite, store: ReadingStore | None, progress: bool | None, announce: Callable[[str], None]
    ) -> None:
        self._plan = plan
        self._store = store
        self._progress = progress
        self._announce = announce
        self.readings: list[Reading] = []
        self.files: list[str] = []
        self.skipped: list[Skipped] = []
        self._seen: list[str] = []

    def measure(self, model: CachedModel, name: str) -> str:
        """Put the suite to one model, called ``name`` until it says what it is; returns what readings call it."""
        try:
            identity = self._distinct(model.identity)
            name = model_name(identity)
            fitting = [probe for probe in self._plan.probes if self._fits(model, name, probe)]
            beside = words_beside(fitting, model.store)
            fitting, answers = self._ask(model, name, fitting)
        except TiltmeterError as error:
            done = {each.probe for each in self.skipped if each.model == name}
            self.skipped += [
                Skipped(name, probe.id, str(error), failed=True) for probe in self._plan.probes if probe.id not in done
            ]
            return name
        for probe in fitting:
            self._read(identity, probe, answers, words_for(probe, beside))
        return name

    def _distinct(self, identity: Identity) -> Identity:
        """Two models of one name (two dicts, two files of one name in different folders) must not share readings."""
        name = model_name(identity)
        earlier = self._seen.count(name)
        self._seen.append(name)
        return dataclasses.replace(identity, name=f"{identity.name} ({earlier + 1})") if earlier else identity

    def _ask(
        self, model: CachedModel, name: str, probes: list[AnyProbe]
    ) -> tuple[list[AnyProbe], dict[Question, dict[Any, Any]]]:
        """The answers, and the probes they are for: one that asks what the model refuses does not stop the others."""
        try:
            return probes, ask(model, probes, self._announce, self._progress)
        except BadInput as error:
            refused: dict[str, str] = {}
            answers: dict[Question, dict[Any, Any]] = {}
            for probe in probes:
                try:
                    for question, found in ask(model, [probe], self._announce, self._progress).items():
                        answers.setdefault(question, {}).update(found)
                except BadInput as own:
                    refused[probe.id] = str(own)
            if len(refused) == len(probes):
                raise error
        self.skipped += [Skipped(name, probe, reason) for probe, reason in refused.items()]
        return [probe for probe in probes if probe.id not in refused], answers

    def _fits(self, model: CachedModel, name: str, probe: AnyProbe) -> bool:
        if probe.asks(model.answers_question) is not None:
            return True
        self.skipped.append(Skipped(name, probe.id, f"needs {probe.kind.asks_for}: this model does not give that"))
        return False

    def _read(self, identity: Identity, probe: AnyProbe, answers: dict[Question, dict[Any, Any]], beside: Any) -> None:
        try:
            reading = probe.read(identity, answers, beside)
        except TiltmeterError as error:
            self.skipped.append(Skipped(model_name(identity), probe.id, str(error)))
            return
        self.readings.append(reading)
        if self._store:
            self.files.append(self._store.save(reading))


def dry_run(models: Sequence[Any], *, suite: str | Path | Suite = "default") -> list[dict[str, Any]]:
    """What an audit would ask of each model and what that would cost at most; nothing is asked."""
    plan = suite if isinstance(suite, Suite) else load_suite(suite)
    rows = []
    with VectorStore() as store:
        for each in models:
            model = CachedModel(load(each), store)
            for question, inputs in inputs_of(model, plan.probes).items():
                new = model.unknown_inputs(question, inputs)
                estimate = getattr(model.model, "estimate", None)
                cost = estimate(new) if estimate else None
                rows.append(
                    {
                        "model": model.identity.name,
                        "asked for": question.value,
                        "inputs": len(inputs),
                        "new": len(new),
                        "requests": cost.requests if cost else None,
                        "tokens": cost.tokens if cost else None,
                        "dollars": cost.dollars if cost else None,
                    }
                )
    return rows


def _row(reading: Reading, p_holm: float | None, p_bh: float | None) -> dict[str, Any]:
    effect = reading.effect
    return {
        "model": reading.model,
        "id": reading.id,
        "probe": reading.probe,
        "title": reading.title,
        "statistic": effect.name,
        "value": effect.value,
        "level": effect.level,
        "better": effect.better,
        "ci_low": effect.ci.low if effect.ci else None,
        "ci_high": effect.ci.high if effect.ci else None,
        "p_value": effect.p_value,
        "p_holm": p_holm,
        "p_bh": p_bh,
        "leans": reading.leans,
        "strength": reading.strength,
        "n_units": reading.n_units,
        "n_items": reading.n_items,
        "left_out": len(reading.left_out),
        "published_value": reading.published.value if reading.published else None,
        "published_p_value": reading.published.p_value if reading.published else None,
        "plain_words": reading.plain_words,
    }


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
