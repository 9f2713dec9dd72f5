"""Suites: lists of probes as YAML files."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Mapping
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, TypeAlias

from tiltmeter.errors import BadInput, DataMissing, unknown
from tiltmeter.files import read_yaml
from tiltmeter.models.registry import runs_code
from tiltmeter.probes import Options, Probe, make_probes

_SHIPPED = resources.files(__package__) / "suites"
#: What an entry may say of any probe, with the form it has; other keys are for the kind of probe.
_FIELDS = {"probe": str, "id": str, "title": str, "dimension": str, "control": bool, "parts": bool}


@dataclasses.dataclass(frozen=True, slots=True)
class Suite:
    """A named list of probes.

    In its file every entry names a ``probe`` and says what that kind accepts (groups by address or with their words,
    ``from`` or ``data``, ...); further ``id``, ``title``, ``dimension``, whether it is a ``control`` that should lean,
    and whether its ``parts`` get readings of their own.
    """

    name: str
    description: str
    probes: tuple[Probe[Any], ...]
    #: Entries whose data set is not here, by id, with what to do about it.
    absent: Mapping[str, str] = dataclasses.field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<Suite {self.name}: {', '.join(probe.id for probe in self.probes)}>"


def suite_names() -> tuple[str, ...]:
    """The suites that come with tiltmeter.

    >>> "default" in suite_names()
    True
    """
    return tuple(sorted(file.name.removesuffix(".yaml") for file in _SHIPPED.iterdir() if file.name.endswith(".yaml")))


def suite_summaries() -> list[dict[str, Any]]:
    """What each suite that comes with tiltmeter holds, without the data sets that some of them read.

    >>> [summary["suite"] for summary in suite_summaries()][:3]
    ['bangla', 'bbq', 'cabm']
    """
    suites = (read_yaml(_SHIPPED / f"{name}.yaml") for name in suite_names())
    return [{"suite": it["name"], "probes": len(it["probes"]), "description": it["description"]} for it in suites]


#: A suite as a user may give it: its name, a YAML file, what stands in one, or the suite itself.
SomeSuite: TypeAlias = str | Path | Mapping[str, Any] | Suite


def load_suite(suite: SomeSuite, *, options: Options | None = None, mined: str | Path | None = None) -> Suite:
    """A suite by the name it ships under, from a YAML file, or of what would stand in one.

    With a folder of ``tiltmeter mine``, every WEAT whose four groups were mined is measured in context too.

    >>> load_suite("weat").probes[5].title
    'male names / female names × career / family'
    >>> load_suite({"name": "mine", "probes": [{"probe": "weat", "targets": [["he", "him"], ["she", "her"]]}]})
    <Suite mine: weat>
    """
    if isinstance(suite, Suite):
        if mined is not None:
            raise BadInput("a Suite of your own has its probes: add ceat to it, or give the suite by name or file")
        return suite
    if isinstance(suite, Mapping):
        return _read("the suite", dict(suite), "mine", options, mined)
    file: Path | Traversable = _SHIPPED / f"{suite}.yaml"
    if isinstance(suite, Path) or suite.endswith((".yaml", ".yml")):
        file = Path(suite)
    elif suite not in suite_names():
        raise unknown("suite", suite, suite_names())
    return _read(file.name, read_yaml(file), file.name.rpartition(".")[0], options, mined)


def _read(source: str, content: Any, name: str, options: Options | None, mined: str | Path | None) -> Suite:
    if not isinstance(content, dict):
        raise BadInput(f"{source}: a suite is a mapping with name, description and probes")
    for key in content:
        if key not in ("name", "description", "probes"):
            raise unknown(f"key in {source}", str(key), ["name", "description", "probes"])
    entries = content.get("probes")
    if not isinstance(entries, list) or not entries:
        raise BadInput(f"{source}: 'probes' must list at least one probe")
    if mined is not None:
        entries = [*entries, *_in_context(source, entries, mined)]
    parts, absent = list[list[Probe[Any]]](), dict[str, str]()
    for number, entry in enumerate(entries, 1):
        try:
            parts.append(_probes(source, number, entry, options or Options()))
        except DataMissing as error:
            absent[str(entry.get("id") or entry["probe"])] = str(error)
    if not parts:
        raise DataMissing(f"{source}: {next(iter(absent.values()))}")
    probes: dict[str, Probe[Any]] = {}
    for probe in itertools.chain.from_iterable(parts):
        if probes.setdefault(probe.id, probe) is not probe:
            raise BadInput(f"{source}: two probes have the id '{probe.id}': give each its own")
    return Suite(
        str(content.get("name") or name), str(content.get("description") or ""), tuple(probes.values()), absent
    )


def _in_context(source: str, entries: list[Any], folder: str | Path) -> list[dict[str, Any]]:
    """The tests of words whose groups were mined into a folder, as tests of words in context."""
    from tiltmeter.stimuli.mining import load_mined

    groups, added = set(load_mined(folder).groups), list[dict[str, Any]]()
    for entry in entries:
        words = entry if isinstance(entry, dict) and entry.get("probe") == "weat" else {}
        four = [*(words.get("targets") or ()), *(words.get("attributes") or ())]
        if four and all(isinstance(group, str) and group in groups for group in four):
            name, title = (str(words.get(key) or "weat") for key in ("id", "title"))
            added.append(
                {**words, "probe": "ceat", "id": f"{name}-ceat", "title": f"{title}, in context", "data": folder}
            )
    if not added:
        raise BadInput(f"{source}: no test of it has all its groups in {folder}: mine those that the suite names")
    # A test of which the text has too few windows does not cost the others.
    return [entry for entry in added if not _too_thin(entry)] or added[:1]


def _too_thin(entry: Mapping[str, Any]) -> bool:
    try:
        make_probes("ceat", data=entry["data"], targets=entry["targets"], attributes=entry["attributes"])
    except BadInput:
        return True
    return False


def _probes(file: str, number: int, entry: Any, options: Options) -> list[Probe[Any]]:
    if not isinstance(entry, dict) or "probe" not in entry:
        raise BadInput(f"{file}: entry {number} must be a mapping that names its 'probe'")
    for key, form in _FIELDS.items():
        if not isinstance(entry.get(key, form()), form):
            needed = "true or false" if form is bool else "text"
            raise BadInput(f"{file}: '{key}' of entry {number} must be {needed}, not {entry[key]!r}")
    fields = {"data" if key == "from" else str(key): value for key, value in entry.items()}
    name, parts = fields.pop("probe"), fields.pop("parts", False)
    for key in ("vectors", "scorer"):
        if runs_code(fields.get(key)):
            raise BadInput(
                f"{file}: entry {number} names {fields[key]}, and a file may not run code: use --vectors"
                if key == "vectors"
                else f"{file}: entry {number} names {fields[key]}, and a file may not run code: give it with --option"
            )
    for key in ("name", "options"):  # what the function below calls its own
        if key in fields:
            raise unknown(f"key of entry {number} in {file}", key, (*_FIELDS, "from", "targets", "attributes"))
    try:
        probes = make_probes(name, options=options, **fields)
    except DataMissing:
        raise
    except BadInput as error:
        raise BadInput(f"{file}: entry {number}: {error}") from None
    return probes if parts else probes[:1]
