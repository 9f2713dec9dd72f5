"""An audit in words: its verdict, what was not measured, what each kind of probe means, and how to reproduce it."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tiltmeter.readings import Audit, Reading, ReadingStore
from tiltmeter.views.rows import ReadingRow, rows_by_model


@dataclasses.dataclass(frozen=True, slots=True)
class ModelVerdict:
    """What the audit says of one model. ``strongest`` is the clear lean farthest from level, in words."""

    model: str
    measured: int
    tests: int
    clear: int
    strongest: str
    control: str
    left_out: int


@dataclasses.dataclass(frozen=True, slots=True)
class AuditVerdict:
    """What the audit says in all, in one line and a few sentences, and model by model."""

    headline: str
    sentences: tuple[str, ...]
    models: tuple[ModelVerdict, ...]


def verdict(audit: Audit) -> AuditVerdict:
    """What the audit says, in words."""
    by_model = rows_by_model(audit)
    rows = [row for mine in by_model.values() for row in mine]
    models = tuple(_model(name, mine) for name, mine in by_model.items())
    tests, clear = (sum(getattr(model, name) for model in models) for name in ("tests", "clear"))
    # A reading without a test says itself whether it leans, and is no part of the count.
    untested = sum(not row.tested and not row.reading.control for row in rows)
    without = f"{untested} {'reading comes' if untested == 1 else 'readings come'} without a test."
    means = "A clear lean is statistically significant after Holm's correction for the tests of its model."
    none = "That there is none is no proof of balance: short word lists find only strong tilts."
    proof = f"{means} {'What is not clear is no proof of balance.' if clear else none}"
    sentences = (proof if tests else "", without if untested else "", _controls(rows))
    return AuditVerdict(_headline(clear, tests, models), tuple(filter(None, sentences)), models)


def _headline(clear: int, tests: int, models: Sequence[ModelVerdict]) -> str:
    if not tests:
        return "Nothing was tested: the numbers below stand without a p-value."
    if not clear:
        return f"None of {tests} tests shows a clear lean."
    leaning = sum(model.clear > 0 for model in models)
    among = "" if len(models) == 1 else f", on {leaning} of {len(models)} models"
    return f"{clear} of {tests} tests {'shows' if clear == 1 else 'show'} a clear lean{among}."


def _controls(rows: Sequence[ReadingRow]) -> str:
    controls = [row for row in rows if row.reading.control]
    failed = sorted({row.reading.model for row in controls if not row.clear})
    if failed:
        return (
            f"Mind: the control, which should lean, does not lean clearly on {', '.join(failed)}. That no lean is seen "
            "there says little."
        )
    works = "The controls, which should lean and are not counted, do: the instrument works on these models."
    return works if controls else ""


def _model(name: str, rows: Sequence[ReadingRow]) -> ModelVerdict:
    tests = [row for row in rows if row.tested and not row.reading.control]
    clear = [row for row in tests if row.clear]
    controls = [row.clear for row in rows if row.reading.control]
    control = "" if not controls else "leans, as it should" if all(controls) else "does not lean clearly"
    left_out = sum(len(row.reading.left_out) for row in rows)
    strongest = ""
    if clear:
        row = max(clear, key=lambda row: abs(row.size or 0.0))
        leans = f": {row.leans}" if row.leans else ""
        strongest = f"{row.title}{leans} ({row.reading.effect.name} {row.value})"
    return ModelVerdict(name, len(rows), len(tests), len(clear), strongest, control, left_out)


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
    objects = [name for name in audit.models if name.startswith("own:") or ":" not in name]
    if objects:
        notes.append(f"{', '.join(objects)} was passed as an object in Python: pass it to tiltmeter.audit() again.")
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
