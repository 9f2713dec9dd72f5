"""An audit: the readings of every probe of a suite on every model, with what was left out and why."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
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
    """The readings of one audit. ``asked`` and ``recalled`` count inputs put to models and known before.

    ``command`` is the shell command that makes it again; empty where a model or the suite was an object of Python.
    """

    suite: str
    models: tuple[str, ...]
    readings: tuple[Reading, ...]
    skipped: tuple[Skipped, ...]
    asked: int
    recalled: int
    notes: tuple[str, ...] = ()
    folder: Path | None = None
    suite_description: str = ""
    command: str = ""

    def adjusted(self) -> list[float | None]:
        """For each reading its p-value adjusted for all tests of the audit (Holm); None where it has no test."""
        return self._adjusted(holm)

    def to_frame(self) -> pd.DataFrame:
        """One row a reading: what was measured on which model, and what was found."""
        import pandas as pd

        return pd.DataFrame(self._rows())

    def to_dict(self) -> dict[str, Any]:
        """Everything but the items, as JSON-ready values."""
        return {
            "suite": self.suite,
            "models": list(self.models),
            "readings": self._rows(),
            "skipped": [dataclasses.asdict(each) for each in self.skipped],
            "asked": self.asked,
            "recalled": self.recalled,
            "notes": list(self.notes),
            "folder": None if self.folder is None else str(self.folder),
            "suite_description": self.suite_description,
            "command": self.command,
        }

    def report(self, path: str | Path) -> Path:
        """Write the report, one HTML file that needs nothing else; into a folder as ``audit.html``."""
        from tiltmeter.views.exports import export

        return export(self, Path(path))

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """The audit stored in a folder."""
        store = ReadingStore(folder)
        manifest = store.manifest()
        try:
            return cls(
                suite=manifest["suite"],
                models=tuple(manifest["models"]),
                readings=tuple(store.load(manifest["readings"])),
                skipped=tuple(Skipped(**each) for each in manifest["skipped"]),
                asked=manifest["asked"],
                recalled=manifest["recalled"],
                notes=tuple(manifest["notes"]),
                folder=store.folder,
                suite_description=manifest.get("suite_description", ""),
                command=manifest.get("command", ""),
            )
        except (KeyError, TypeError) as error:
            raise BadInput(f"{store.folder / store.MANIFEST} is damaged ({error}): run the audit again") from None

    def _rows(self) -> list[dict[str, Any]]:
        both = zip(self.readings, self.adjusted(), self._adjusted(benjamini_hochberg), strict=True)
        return [_row(reading, p_holm, p_bh) for reading, p_holm, p_bh in both]

    def _adjusted(self, method: Callable[[list[float]], NDArray[np.float64]]) -> list[float | None]:
        tested = [r.effect.p_value for r in self.readings if r.effect.p_value is not None]
        p_values = iter(method(tested).tolist())
        return [next(p_values) if r.effect.p_value is not None else None for r in self.readings]


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
