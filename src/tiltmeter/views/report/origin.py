"""Where an audit comes from: when it was made, of what, and the command that makes it again."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tiltmeter.readings import Reading, ReadingStore

if TYPE_CHECKING:
    from tiltmeter.readings import Audit


#: Studies that leave a folder like that of an audit, and what makes them.
_STUDIES = {"context-length": ("lab", "context-length"), "calibration": ("lab", "calibrate")}


@dataclasses.dataclass(frozen=True, slots=True)
class Origin:
    """``date`` is the day on which the audit was finished, "" where it was not stored; ``command`` makes it again."""

    date: str
    command: str
    note: str
    models: tuple[Mapping[str, str], ...]
    versions: Mapping[str, str]
    settings: Mapping[str, str]


def origin(audit: Audit) -> Origin:
    """What a reader needs to make the audit again."""
    made = [reading.provenance for reading in audit.readings]
    settings = {
        name: ", ".join(sorted({str(each["settings"][name]) for each in made if name in each["settings"]}))
        for name in ("seed", "permutations", "alternative")
    }
    versions: dict[str, str] = {}
    for each in made:
        versions |= each["versions"]
    return Origin(
        _date(audit),
        _command(audit, settings),
        _note(audit),
        tuple(_model(name, [r for r in audit.readings if r.model == name]) for name in audit.models),
        dict(sorted(versions.items())),
        {name: value for name, value in settings.items() if value},
    )


def _date(audit: Audit) -> str:
    if audit.folder is None:
        return ""
    return str(ReadingStore(audit.folder).manifest().get("finished", ""))[:10]


def _command(audit: Audit, settings: Mapping[str, str]) -> str:
    from tiltmeter.run.suite import suite_names

    # A suite of the user's own is a file, whose place is not known here.
    suite = audit.suite if audit.suite in suite_names() else f"{audit.suite}.yaml"
    words = ["tiltmeter", "audit", *audit.models, "--suite", suite]
    if audit.suite in _STUDIES:
        words = ["tiltmeter", *_STUDIES[audit.suite], *(name for name in audit.models if ":" in name)]
    for name in ("seed", "permutations"):
        if settings[name].isdecimal():
            words += [f"--{name}", settings[name]]
    return shlex.join(words)


def _note(audit: Audit) -> str:
    from tiltmeter.run.suite import suite_names

    notes = []
    if audit.suite in _STUDIES:
        return "Give the options of the study too: the settings of each reading, and mined.json where a text was mined."
    own = [name for name in audit.models if name.startswith("own:") or ":" not in name]
    if own:
        notes.append(f"{', '.join(own)} was handed over as an object in Python: pass it to tiltmeter.audit() again.")
    if audit.suite not in suite_names():
        notes.append(f"The suite '{audit.suite}' is a file of your own: give its path.")
    return " ".join(notes)


def _model(name: str, readings: Sequence[Reading]) -> Mapping[str, str]:
    if not readings:
        return {"name": name, "revision": "", "settings": "", "beside": ""}
    made: Mapping[str, Any] = readings[0].provenance["model"]
    beside = {f"{b['name']} (revision {b['revision']})" for r in readings if (b := r.provenance.get("beside"))}
    return {
        "name": name,
        "revision": str(made["revision"]),
        "settings": ", ".join(f"{key} {value}" for key, value in sorted(made["settings"].items())),
        "beside": ", ".join(sorted(beside)),
    }
