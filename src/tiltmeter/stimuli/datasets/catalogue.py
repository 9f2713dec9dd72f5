"""Which public data sets there are, whose they are, where to get them, and which are here.

They are not part of tiltmeter: it reads the user's copy, from the folder that ``TILTMETER_DATA`` names or else as
``tiltmeter data fetch`` has brought it.
"""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from tiltmeter.errors import BadInput, DataMissing, unknown
from tiltmeter.files import cache_folder

VARIABLE = "TILTMETER_DATA"


@dataclass(frozen=True, slots=True)
class DataSet:
    """One data set: ``path`` is its folder or only file below the data folder, ``files`` their SHA-256 below it.

    ``fetch`` is the address under which its authors keep the files, ``renamed`` how they call some of them, ``size``
    how many bytes they are.
    """

    name: str
    path: str
    what: str
    rows: str
    licence: str
    citation: str
    url: str
    files: Mapping[str, str]
    size: int
    fetch: str = ""
    renamed: Mapping[str, str] = field(default_factory=dict)

    @property
    def single(self) -> str:
        """Its only file, where ``path`` is that file; otherwise nothing."""
        name = self.path.rpartition("/")[2]
        return name if list(self.files) == [name] else ""


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
        raise BadInput(f"{VARIABLE} names {folder}, which is not a folder: set it to the one that holds the data sets")
    return folder


def fetched_folder() -> Path:
    """Where ``tiltmeter data fetch`` puts data sets."""
    return cache_folder() / "data"


def entry_named(name: str) -> DataSet:
    """What the catalogue says of a data set."""
    if name not in catalogue():
        raise unknown("data set", name, catalogue())
    return catalogue()[name]


def find(name: str) -> Path:
    """The folder of a data set, or its file where it is only one."""
    entry = entry_named(name)
    folders = _folders()
    for folder in folders:
        if (folder / entry.path).exists():
            return folder / entry.path
    fetch = f"tiltmeter data fetch {name}, or " if entry.fetch else ""
    place = folders[0] / entry.path if len(folders) > 1 else f"{entry.path} in the folder that {VARIABLE} names"
    raise DataMissing(f"data set '{name}' is not installed: {fetch}get it from {entry.url} and put it at {place}")


def _folders() -> list[Path]:
    """Where data sets may be: the user's own folder goes first."""
    return [*([data_folder()] if os.environ.get(VARIABLE) else []), fetched_folder()]


def status() -> list[dict[str, str]]:
    """Each data set with its ``state``: found, missing or changed (a checksum differs), and which files are so.

    Without a data folder every set is missing that was not fetched.
    """
    folders = _folders()
    rows = []
    for entry in catalogue().values():
        folder = next((each for each in folders if (each / entry.path).exists()), None)
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
