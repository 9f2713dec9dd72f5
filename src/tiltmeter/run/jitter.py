"""Audits of a model, of harmless variants of it and of other runs of its training, resumable: how far it wobbles."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tiltmeter.errors import BadInput
from tiltmeter.files import at_home
from tiltmeter.models import load
from tiltmeter.models.variants import variations, vary
from tiltmeter.readings import Audit, Reading
from tiltmeter.run.audit import audit
from tiltmeter.run.audit import dry_run as plan_audit

if TYPE_CHECKING:
    from tiltmeter.models.api import Budget

#: The folders in an audit's own that hold the audits of its variants, and of other runs.
FOLDER = "variants"
RUNS = "runs"
DEFAULT_JITTER = 8


class Jittered(NamedTuple):
    """The audit of a model, and those of its variants and of other runs of its training, by their names."""

    base: Audit
    variants: dict[str, Audit]
    runs: dict[str, Audit]


def jitter(
    model: str | object,
    *,
    out: str | Path,
    n: int = DEFAULT_JITTER,
    runs: Sequence[str | object] = (),
    budget: Budget | None = None,
    **options: Any,
) -> Jittered:
    """Audit a model in a folder, so many variants of it, and other ``runs`` of its training.

    ``options`` are the audit's. What was audited before, with the same weights and the same probes, is not audited
    again. An API is asked everything as often as there are variants, within the one budget.
    """
    folder = at_home(out)
    loaded = load(model, budget=budget)
    planned = variations(n, of=loaded) if n else []
    base = audit([model], out=folder, budget=budget, **options)
    _check_finished(base)

    def other(place: Path, changed: Any) -> Audit:
        stored = _stored(place, base, changed.identity.revision)
        result = stored or audit([changed], out=place, budget=budget, **options)
        _check_finished(result)
        return result

    variants = {
        variation.name: other(folder / FOLDER / variation.name, vary(loaded, variation)) for variation in planned
    }
    again = {f"run-{i}": load(run, budget=budget) for i, run in enumerate(runs, start=1)}
    return Jittered(base, variants, {name: other(folder / RUNS / name, run) for name, run in again.items()})


def dry_run(
    model: str | object, *, n: int = DEFAULT_JITTER, runs: Sequence[str | object] = (), suite: str = "default"
) -> list[dict[str, Any]]:
    """What ``jitter`` would ask of the model, its variants and other runs, and what it would cost; nothing is asked."""
    loaded = load(model)
    rows = plan_audit([loaded], suite=suite)
    for variation in variations(n, of=loaded) if n else []:
        rows += [
            row | {"model": f"{row['model']} {variation.name}"}
            for row in plan_audit([vary(loaded, variation)], suite=suite)
            if row["model"] == loaded.identity.name
        ]
    return rows + (plan_audit(runs, suite=suite) if runs else [])


def _check_finished(audit: Audit) -> None:
    failed = next((skipped for skipped in audit.skipped if skipped.failed), None)
    if failed:
        raise BadInput(f"{failed.model}: {failed.reason}")


def _stored(folder: Path, base: Audit, revision: str) -> Audit | None:
    """The finished audit of a variant, if it is one of these weights and measured what the model's own audit did."""
    try:
        audit = Audit.load(folder)
    except BadInput:
        return None
    same = [_measured(reading) for reading in audit.readings] == [_measured(reading) for reading in base.readings]
    return audit if same and audit.readings[0].provenance.model.revision == revision else None


def _measured(reading: Reading) -> tuple[str, str, Any]:
    return reading.id, reading.provenance.stimuli, reading.provenance.settings
