"""Suites: lists of probes as YAML files."""

from __future__ import annotations

import dataclasses
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from tiltmeter.errors import BadInput, unknown
from tiltmeter.files import read_yaml
from tiltmeter.probes import AnyProbe, Options, make_probes
from tiltmeter.probes.registry import ALL_OPTIONS

_FIELDS = ("id", "probe", "title", *ALL_OPTIONS, "parts")


@dataclasses.dataclass(frozen=True, slots=True)
class Suite:
    """A named list of probes."""

    name: str
    description: str
    probes: tuple[AnyProbe, ...]


def suite_names() -> tuple[str, ...]:
    """The suites that come with tiltmeter.

    >>> "default" in suite_names()
    True
    """
    files = (resources.files(__package__) / "suites").iterdir()
    return tuple(sorted(file.name.removesuffix(".yaml") for file in files if file.name.endswith(".yaml")))


def suite_summaries() -> list[dict[str, Any]]:
    """What each suite that comes with tiltmeter holds, without the data sets that some of them read.

    >>> [summary["suite"] for summary in suite_summaries()][:3]
    ['bangla', 'cabm', 'default']
    """
    contents = [read_yaml(resources.files(__package__) / "suites" / f"{name}.yaml") for name in suite_names()]
    return [
        {"suite": each["name"], "probes": len(each["probes"]), "description": each["description"]} for each in contents
    ]


def load_suite(name_or_path: str | Path, *, options: Options | None = None) -> Suite:
    """A suite by the name it ships under, or from a YAML file.

    >>> load_suite("weat").probes[5].title
    'male names / female names × career / family'
    """
    if isinstance(name_or_path, Path) or name_or_path.endswith((".yaml", ".yml")):
        return _read(Path(name_or_path), options or Options())
    if name_or_path not in suite_names():
        raise unknown("suite", name_or_path, suite_names())
    return _read(resources.files(__package__) / "suites" / f"{name_or_path}.yaml", options or Options())


def _read(file: Path | Traversable, options: Options) -> Suite:
    content = read_yaml(file)
    if not isinstance(content, dict):
        raise BadInput(f"{file.name}: a suite is a mapping with name, description and probes")
    for key in content:
        if key not in ("name", "description", "probes"):
            raise unknown(f"key in {file.name}", str(key), ["name", "description", "probes"])
    entries = content.get("probes")
    if not isinstance(entries, list) or not entries:
        raise BadInput(f"{file.name}: 'probes' must list at least one probe")
    probes = tuple(
        probe for number, entry in enumerate(entries, 1) for probe in _probes(file.name, number, entry, options)
    )
    seen: set[str] = set()
    for probe in probes:
        if probe.id in seen:
            raise BadInput(f"{file.name}: two probes have the id '{probe.id}': give each its own")
        seen.add(probe.id)
    name = str(content.get("name") or file.name.rpartition(".")[0])
    return Suite(name, str(content.get("description") or ""), probes)


def _probes(file: str, number: int, entry: Any, options: Options) -> list[AnyProbe]:
    if not isinstance(entry, dict) or "probe" not in entry:
        raise BadInput(f"{file}: entry {number} must be a mapping that names its 'probe'")
    for key in entry:
        if key not in _FIELDS:
            raise unknown(f"key in entry {number} of {file}", str(key), _FIELDS)
    for key in ("targets", "attributes"):
        if key in entry and not (isinstance(entry[key], list) and all(isinstance(x, str) for x in entry[key])):
            raise BadInput(f"{file}: '{key}' of entry {number} must be a list of groups such as gender.male_terms")
    if not isinstance(entry.get("parts", False), bool):
        raise BadInput(f"{file}: 'parts' of entry {number} must be true or false: whether each part gets a reading")
    given = {key: value for key, value in entry.items() if key not in ("probe", "parts")}
    made = make_probes(str(entry["probe"]), options=options, **given)
    return made if entry.get("parts") else made[:1]
