"""From what a measure found to a reading that can be defended: who was asked what, with which versions."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from tiltmeter.models.protocol import Identity
from tiltmeter.probes.kind import Measured
from tiltmeter.readings.reading import LeftOut, Reading


def make_reading(
    probe: Any,
    identity: Identity,
    found: Measured,
    *,
    left_out: tuple[LeftOut, ...],
    stimuli: Any,
    beside: Identity | None = None,
) -> Reading:
    """The reading of a probe on a model; ``stimuli`` is everything it was shown, ``beside`` a second model it used."""
    return Reading(
        id=probe.id,
        probe=probe.kind.name,
        title=probe.title,
        model=model_name(identity),
        effect=found.effect,
        published=found.published,
        correction=found.correction,
        leans=found.leans,
        strength=found.strength,
        plain_words=found.plain_words,
        n_items=found.n_items,
        n_units=found.n_units,
        items=found.items,
        left_out=left_out,
        caveats=probe.kind.caveats,
        details=found.details,
        provenance={
            "model": identity.to_dict(),
            **({"beside": beside.to_dict()} if beside else {}),
            "stimuli": _digest(stimuli),
            "settings": dataclasses.asdict(probe.options),
            "citation": probe.kind.citation,
            "versions": versions(),
        },
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


def _digest(values: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(values, ensure_ascii=False, sort_keys=True).encode()).hexdigest()[:16]


def versions() -> dict[str, str]:
    """Of what a number depends on."""
    found = {"python": platform.python_version()}
    for package in ("tiltmeter", "numpy", "scipy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "unknown"
    return found
