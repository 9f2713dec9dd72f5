"""What stands on one side of a comparison: a folder of results, or one model of it."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING

from tiltmeter.errors import BadInput, unknown
from tiltmeter.readings import Reading

if TYPE_CHECKING:
    from tiltmeter.readings import Audit


@dataclasses.dataclass(frozen=True, slots=True)
class Side:
    """Readings of one model or several, and what to call them."""

    label: str
    folder: Path
    models: tuple[str, ...]
    readings: tuple[Reading, ...]

    def singles(self) -> list[Side]:
        """One side for each model."""
        return [
            Side(model, self.folder, (model,), tuple(each for each in self.readings if each.model == model))
            for model in self.models
        ]


def load_side(address: str) -> Side:
    """FOLDER, or FOLDER:MODEL for one model of it."""
    folder, model = _split(address)
    found = load_audit(folder)
    models = tuple(dict.fromkeys(reading.model for reading in found.readings))
    if model is None:
        return Side(str(folder), folder, models, found.readings)
    if model not in models:
        raise unknown(f"model of {folder}", model, models)
    return Side(address, folder, (model,), tuple(each for each in found.readings if each.model == model))


def load_audit(folder: Path) -> Audit:
    """The finished audit of a folder; whatever is wrong with it is said with its name."""
    from tiltmeter.readings import Audit

    if not folder.is_dir():
        raise BadInput(f"{folder} is no folder of results: run tiltmeter audit --out {folder}")
    try:
        return Audit.load(folder)
    except BadInput as error:
        if str(folder) in str(error):
            raise
        raise BadInput(f"{folder}: {error}: run the audit again") from None


def _split(address: str) -> tuple[Path, str | None]:
    """Where the folder ends: both a path and the name of a model may hold a colon."""
    if Path(address).expanduser().is_dir():
        return Path(address).expanduser(), None
    places = [i for i, character in enumerate(address) if character == ":"]
    for place in reversed(places):
        folder = Path(address[:place]).expanduser()
        if address[:place] and folder.is_dir():
            return folder, address[place + 1 :]
    return Path(address).expanduser(), None
