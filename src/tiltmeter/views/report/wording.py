"""An audit in words: what was not measured, what each kind of probe means, and how to reproduce it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tiltmeter.readings import Audit, Reading, ReadingStore


class NotMeasured(NamedTuple):
    """Probes that were not put to some models, and why."""

    probes: list[str]
    models: list[str]
    reason: str


def not_measured(audit: Audit) -> list[NotMeasured]:
    """What was left out, in the order of the suite."""
    by_reason: dict[tuple[str, str], list[str]] = {}
    for skipped in audit.skipped:
        by_reason.setdefault((skipped.model, skipped.reason), []).append(skipped.probe)
    by_probes: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for (model, reason), probes in by_reason.items():
        by_probes.setdefault((tuple(probes), reason), []).append(model)
    return [NotMeasured(list(probes), models, reason) for (probes, reason), models in by_probes.items()]


class Meaning(NamedTuple):
    """A kind of probe in words. ``better`` says for each of its statistics which way is better."""

    probe: str
    summary: str
    idea: str
    better: tuple[str, ...]
    caveats: tuple[str, ...]
    citations: tuple[str, ...]
    titles: tuple[str, ...]


def meanings(readings: Sequence[Reading]) -> list[Meaning]:
    """The kinds of probes behind these readings, in the order in which they come."""
    by_probe: dict[str, list[Reading]] = {}
    for reading in readings:
        by_probe.setdefault(reading.probe, []).append(reading)
    return [
        Meaning(
            probe,
            mine[0].about.summary or probe,  # readings that an earlier version wrote have no summary
            mine[0].about.idea[:1].upper() + mine[0].about.idea[1:],
            tuple(dict.fromkeys(f"{r.effect.name}: {r.effect.better}" for r in mine)),
            tuple(dict.fromkeys(caveat for r in mine for caveat in r.about.caveats)),
            tuple(dict.fromkeys(r.about.citation for r in mine)),
            tuple(dict.fromkeys(r.title for r in mine)),
        )
        for probe, mine in by_probe.items()
    ]


def shared_caveats(kinds: Sequence[Meaning]) -> tuple[str, ...]:
    """What is to mind about every kind of probe here, so that it can be said once for all of them."""
    if len(kinds) < 2:
        return ()
    return tuple(caveat for caveat in kinds[0].caveats if all(caveat in kind.caveats for kind in kinds))


class Origin(NamedTuple):
    """``date`` is the day on which the audit was finished, "" where it was not stored; ``command`` reproduces it."""

    date: str
    command: str
    note: str
    models: tuple[Mapping[str, str], ...]
    versions: Mapping[str, str]
    settings: Mapping[str, str]


def origin(audit: Audit) -> Origin:
    """What a reader needs to reproduce the audit."""
    provenances = [reading.provenance for reading in audit.readings]
    settings = {
        name: ", ".join(sorted({str(source.settings[name]) for source in provenances if name in source.settings}))
        for name in ("seed", "permutations", "alternative")
    }
    versions: dict[str, str] = {}
    for provenance in provenances:
        versions |= provenance.versions
    return Origin(
        str(ReadingStore(audit.folder).manifest().get("finished", ""))[:10] if audit.folder else "",
        audit.command or _command(audit, settings),
        _note(audit),
        tuple(_described(name, [r for r in audit.readings if r.model == name]) for name in audit.models),
        dict(sorted(versions.items())),
        {name: value for name, value in settings.items() if value},
    )


def _command(audit: Audit, settings: Mapping[str, str]) -> str:
    """The best guess where an earlier version, or a program, stored none."""
    words = ["tiltmeter", "audit", *audit.models, "--suite", audit.suite]
    for name in ("seed", "permutations"):
        if settings[name].isdecimal():
            words += [f"--{name}", settings[name]]
    return shlex.join(words)


def _note(audit: Audit) -> str:
    notes = []
    if audit.objects:
        named = ", ".join(audit.objects)
        notes.append(f"{named} was passed as an object in Python: pass it to tiltmeter.audit() again.")
    if not audit.command:
        notes.append("The command was not stored: this one is put together from the names of the models and the suite.")
    return " ".join(notes)


def _described(name: str, readings: Sequence[Reading]) -> Mapping[str, str]:
    if not readings:
        return {"name": name, "revision": "", "settings": "", "vectors": ""}
    model = readings[0].provenance.model
    settings = ", ".join(f"{key} {value}" for key, value in sorted(model.settings.items()))
    vectors = {f"{v.name} (revision {v.revision})" for r in readings if (v := r.provenance.vectors)}
    return {"name": name, "revision": model.revision, "settings": settings, "vectors": ", ".join(sorted(vectors))}
