"""Running an audit: every probe of a suite on every model, resumable, and what that would cost."""

from __future__ import annotations

import dataclasses
import datetime
import gc
import shlex
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tiltmeter.errors import BadInput, without_passwords
from tiltmeter.files import locked
from tiltmeter.models import CachedModel, VectorStore, load
from tiltmeter.models.registry import SAMPLES
from tiltmeter.models.transformers.on_ray import cluster_in_use
from tiltmeter.progress import Step, tell
from tiltmeter.readings import Audit, ReadingStore, Skipped
from tiltmeter.run.model_run import ModelRun, said_by, shown_spec
from tiltmeter.run.probe import ask, check_options, costs, stored
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
                tell(Step("model", shown, done=len(names), total=len(specs)))
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
    failed = next((each for each in skipped if each.failed), None)
    if failed:
        return failed.reason if failed.model in failed.reason else f"{failed.model}: {failed.reason}"
    return f"{skipped[-1].model}, {skipped[-1].probe}: {skipped[-1].reason}"


def _now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
