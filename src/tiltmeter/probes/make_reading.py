"""Until every probe is of the new kind: old probes' results, through the migration of schema 1. To be deleted."""

from __future__ import annotations

import dataclasses
from typing import Any

from tiltmeter.models.protocol import Identity
from tiltmeter.probes.kind import digest, model_name, versions
from tiltmeter.readings import Reading
from tiltmeter.statistics import plain


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
