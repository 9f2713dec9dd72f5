"""Audits of a model and of harmless variants of it, resumable: how far a model wobbles by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tiltmeter.errors import BadInput
from tiltmeter.files import at_home
from tiltmeter.models import load
from tiltmeter.models.variants import variations, vary
from tiltmeter.readings import Audit, Reading
from tiltmeter.run.audit import audit

#: The folder in an audit's own that holds the audits of its variants.
FOLDER = "variants"
DEFAULT_JITTER = 8


def jitter(
    model: str | object, *, out: str | Path, n: int = DEFAULT_JITTER, budget: Any = None, **options: Any
) -> tuple[Audit, dict[str, Audit]]:
    """The audit of a model in a folder, and those of so many variants, by their names; ``options`` are the audit's.

    A variant that was audited before, with the same weights and the same probes, is not audited again. An API is asked
    everything as often as there are variants, within the one budget.
    """
    folder = at_home(out)
    loaded = load(model, budget=budget)
    planned = variations(n, of=loaded)
    base = audit([model], out=folder, budget=budget, **options)
    failed = next((skipped for skipped in base.skipped if skipped.failed), None)
    if failed:
        raise BadInput(f"{failed.model}: {failed.reason}")
    audits = {}
    for variation in planned:
        place, variant = folder / FOLDER / variation.name, vary(loaded, variation)
        audits[variation.name] = _stored(place, base, variant.identity.revision) or audit(
            [variant], out=place, budget=budget, **options
        )
    return base, audits


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
