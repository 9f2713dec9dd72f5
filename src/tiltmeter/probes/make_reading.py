"""From what a measure found to a reading that can be defended: who was asked what, with which versions."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from tiltmeter.models.protocol import Identity
from tiltmeter.readings import About, LeftOut, Provenance, Reading
from tiltmeter.statistics import plain

if TYPE_CHECKING:
    from tiltmeter.probes.kind import Measured, Probe


def make_reading(
    probe: Probe[Any],
    identity: Identity,
    measured: Measured,
    left_out: tuple[LeftOut, ...],
    vectors: Identity | None = None,
) -> Reading:
    """The reading of a probe on a model; ``vectors`` is a second model that gave word vectors."""
    kind = probe.kind
    fields = {field.name: getattr(measured, field.name) for field in dataclasses.fields(measured)}
    return Reading(
        id=probe.id,
        probe=kind.name,
        title=probe.title,
        model=model_name(identity),
        dimension=probe.dimension,
        control=probe.control,
        family="control" if probe.control else "bias",
        left_out=left_out,
        about=About(kind.summary, kind.idea, kind.citation, kind.caveats),
        provenance=Provenance(identity, digest(probe.stimuli), dataclasses.asdict(probe.options), versions(), vectors),
        **fields,
    )


def model_name(identity: Identity) -> str:
    """The model's name with the settings a user chose, as it stands in tables.

    >>> model_name(Identity("hf:some/folder", "1f0e", {"layer": "8", "pooling": "auto"}))
    'hf:some/folder?layer=8'
    """
    usual = {"case": ("exact",), "pooling": ("auto", "mean"), "layer": ("-1",)}
    chosen = [f"{k}={v}" for k, v in sorted(identity.settings.items()) if v not in usual.get(k, ())]
    bundled = identity.name.startswith(("bundled:", "chat:"))
    return identity.name if bundled or not chosen else f"{identity.name}?{'&'.join(chosen)}"


def digest(stimuli: Any) -> str:
    """A short hash of everything that was shown; ``to_dict`` says what that is where not every field is."""
    values = stimuli.to_dict() if hasattr(stimuli, "to_dict") else plain(stimuli)
    return hashlib.sha256(json.dumps(values, ensure_ascii=False, sort_keys=True).encode()).hexdigest()[:16]


@functools.cache
def versions() -> Mapping[str, str]:
    """Of what a number depends on."""
    found = {"python": platform.python_version()}
    for package in ("tiltmeter", "numpy", "scipy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "unknown"
    return found


def bridged(
    probe: Any, identity: Identity, found: Any, *, left_out: Any, stimuli: Any, beside: Identity | None = None
) -> Reading:
    """Until every probe is of the new kind: an old probe's result, through the migration of schema 1."""
    values = {
        "schema_version": 1,
        "id": probe.id,
        "probe": probe.kind.name,
        "title": probe.title,
        "model": model_name(identity),
        "effect": plain(found.effect),
        "published": plain(found.published) if found.published else None,
        "correction": found.correction,
        "leans": found.leans,
        "strength": found.strength,
        "plain_words": found.plain_words,
        "n_items": found.n_items,
        "n_units": found.n_units,
        "items": plain(found.items),
        "left_out": plain(left_out),
        "caveats": list(probe.kind.caveats),
        "details": plain(found.details),
        "provenance": {
            "model": identity.to_dict(),
            **({"beside": beside.to_dict()} if beside else {}),
            "stimuli": digest(stimuli),
            "settings": dataclasses.asdict(probe.options),
            "citation": probe.kind.citation,
            "versions": versions(),
        },
    }
    return Reading.from_dict(values)
