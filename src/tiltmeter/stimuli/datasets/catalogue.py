"""Which public data sets there are, whose they are, where to get them, and which are here.

They are not part of tiltmeter: it reads the user's copy from the folder that ``TILTMETER_DATA`` names.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from tiltmeter.errors import BadInput, unknown

VARIABLE = "TILTMETER_DATA"


@dataclass(frozen=True, slots=True)
class DataSet:
    """One data set: ``path`` is its folder or only file below the data folder, ``files`` their SHA-256 below it."""

    name: str
    path: str
    what: str
    rows: str
    licence: str
    citation: str
    url: str
    files: Mapping[str, str]


@functools.cache
def catalogue() -> Mapping[str, DataSet]:
    """All data sets by name.

    >>> catalogue()["crows_pairs"].licence
    'CC BY-SA 4.0'
    """
    from tiltmeter.files import read_yaml

    content = read_yaml(files(__package__) / "catalogue.yaml")
    return {name: DataSet(name=name, **entry) for name, entry in content.items()}


def data_folder() -> Path:
    """The folder that holds the data sets."""
    named = os.environ.get(VARIABLE)
    if not named:
        raise BadInput(f"{VARIABLE} is not set: set it to the folder that holds the data sets")
    folder = Path(named)
    if not folder.is_dir():
        raise BadInput(f"{VARIABLE} names {folder}, which is no folder: set it to the one that holds the data sets")
    return folder


def find(name: str) -> Path:
    """The folder of a data set, or its file where it is only one."""
    if name not in catalogue():
        raise unknown("data set", name, catalogue())
    entry = catalogue()[name]
    path = data_folder() / entry.path
    if not path.exists():
        raise BadInput(f"data set '{name}' is not here: get it from {entry.url} and put it at {path}")
    return path


def status() -> list[dict[str, str]]:
    """Each data set with its ``state``: found, missing or changed (a checksum differs), and which files are so.

    Without a data folder every set is missing.
    """
    folder = data_folder() if os.environ.get(VARIABLE) else None
    rows = []
    for entry in catalogue().values():
        state, named = _state(entry, folder)
        about = {name: getattr(entry, name) for name in ("name", "what", "rows", "licence")}
        source = {name: getattr(entry, name) for name in ("path", "url", "citation")}
        rows.append({**about, "state": state, "files": ", ".join(named), **source})
    return rows


def _state(entry: DataSet, folder: Path | None) -> tuple[str, list[str]]:
    place = folder / entry.path if folder else None
    if place is None or not place.exists():
        return "missing", []
    root = place.parent if place.is_file() else place
    files_here = {name: root / name for name in entry.files}
    if missing := [name for name, path in files_here.items() if not path.is_file()]:
        return "missing", missing
    changed = [name for name, path in files_here.items() if _checksum(path) != entry.files[name]]
    return ("changed", changed) if changed else ("found", [])


def _checksum(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}") from None
