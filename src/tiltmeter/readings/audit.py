"""An audit: the readings of every probe of a suite on every model, with what was left out and why."""

from __future__ import annotations

import dataclasses
import importlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from tiltmeter.errors import BadInput
from tiltmeter.readings.reading import Reading
from tiltmeter.readings.store import ReadingStore
from tiltmeter.statistics import benjamini_hochberg, holm

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray


@dataclasses.dataclass(frozen=True, slots=True)
class Skipped:
    """A probe that was not measured on a model, and why; ``failed`` if the model itself gave up."""

    model: str
    probe: str
    reason: str
    failed: bool = False


@dataclasses.dataclass(frozen=True, slots=True)
class Audit:
    """The readings of one audit.

    ``asked`` and ``recalled`` count inputs put to models and known before. ``command`` is the shell command that
    reproduces it; empty where a model or the suite was an object in Python. ``suite_description`` is what the suite
    says of itself.
    """

    suite: str
    models: tuple[str, ...]
    readings: tuple[Reading, ...]
    skipped: tuple[Skipped, ...]
    asked: int
    recalled: int
    notes: tuple[str, ...] = ()
    folder: Path | None = None
    command: str = ""
    suite_description: str = ""

    def adjusted(self) -> list[float | None]:
        """For each reading its p-value adjusted for all tests of the audit (Holm); None where it has no test."""
        return self._adjusted(holm)

    def to_frame(self) -> pd.DataFrame:
        """One row per reading: what was measured on which model, and the result."""
        import pandas as pd

        return pd.DataFrame(self._rows())

    def to_dict(self) -> dict[str, Any]:
        """Everything but the items, as JSON-ready values."""
        return {
            "suite": self.suite,
            "models": list(self.models),
            "readings": self._rows(),
            "skipped": [dataclasses.asdict(skipped) for skipped in self.skipped],
            "asked": self.asked,
            "recalled": self.recalled,
            "notes": list(self.notes),
            "folder": None if self.folder is None else str(self.folder),
            "command": self.command,
            "suite_description": self.suite_description,
        }

    def report(self, path: str | Path) -> Path:
        """Write the report, one HTML file that needs nothing else; into a folder as ``audit.html``."""
        # As a reading finds its chart: views read audits, so an audit asks for its view by name.
        exports = importlib.import_module("tiltmeter.views.exports")
        written: Path = exports.export(self, Path(path))
        return written

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """The audit stored in a folder."""
        store = ReadingStore(folder)
        manifest = store.manifest()
        try:
            readings = store.load(manifest["readings"])
        except (KeyError, TypeError) as error:
            raise _damaged(store.folder, error) from None
        return cls.from_manifest(manifest, readings, store.folder)

    @classmethod
    def from_manifest(cls, manifest: Mapping[str, Any], readings: Iterable[Reading], folder: Path) -> Self:
        """The audit that a manifest describes, with these of its readings."""
        try:
            return cls(
                suite=str(manifest["suite"]),
                models=tuple(map(str, manifest["models"])),
                readings=tuple(readings),
                skipped=tuple(Skipped(**skipped) for skipped in manifest["skipped"]),
                asked=manifest["asked"],
                recalled=manifest["recalled"],
                notes=tuple(map(str, manifest["notes"])),
                folder=folder,
                # An earlier version stored neither.
                command=str(manifest.get("command", "")),
                suite_description=str(manifest.get("suite_description", "")),
            )
        except (KeyError, TypeError) as error:
            raise _damaged(folder, error) from None

    def _rows(self) -> list[dict[str, Any]]:
        both = zip(self.readings, self.adjusted(), self._adjusted(benjamini_hochberg), strict=True)
        return [_row(reading, p_holm, p_bh) for reading, p_holm, p_bh in both]

    def _adjusted(self, method: Callable[[list[float]], NDArray[np.float64]]) -> list[float | None]:
        tested = [r.effect.p_value for r in self.readings if r.effect.p_value is not None]
        p_values = iter(method(tested).tolist())
        return [next(p_values) if r.effect.p_value is not None else None for r in self.readings]


def _damaged(folder: Path, error: Exception) -> BadInput:
    return BadInput(f"{folder / ReadingStore.MANIFEST} is damaged ({error}): run the audit again")


def _row(reading: Reading, p_holm: float | None, p_bh: float | None) -> dict[str, Any]:
    effect = reading.effect
    return {
        "model": reading.model,
        "id": reading.id,
        "probe": reading.probe,
        "title": reading.title,
        "statistic": effect.name,
        "value": effect.value,
        "level": effect.level,
        "better": effect.better,
        "ci_low": effect.ci.low if effect.ci else None,
        "ci_high": effect.ci.high if effect.ci else None,
        "p_value": effect.p_value,
        "p_holm": p_holm,
        "p_bh": p_bh,
        "leans": reading.leans,
        "strength": reading.strength,
        "n_units": reading.n_units,
        "n_items": reading.n_items,
        "left_out": len(reading.left_out),
        "published_value": reading.published.value if reading.published else None,
        "published_p_value": reading.published.p_value if reading.published else None,
        "plain_words": reading.plain_words,
    }
