"""What calibration says of every measure, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from tiltmeter.readings import Reading
from tiltmeter.readings.details.calibration import CalibrationDetails

COLUMNS = (
    "measure",
    "form",
    "Spearman",
    "slope",
    "noise",
    "per .1 dose",
    "tells .5 from",
    "false positives",
    "retest",
    "order",
    "spread",
)
LEGEND = """Spearman: of the number with the dose. noise: SD of readings on models without bias. per .1 dose: what the
number gains, in SDs of noise. tells .5 from: the smallest dose read above 97.5% of null readings by every model.
false positives: null readings with p <= .05 (5% by design), where the reading tests the number itself. retest: r of
occupations between models of one dose. order: Spearman of occupations with what is planted. spread: SD over sets of
sentences, as a part of the mean."""


def calibration_rows(readings: Sequence[Reading]) -> list[dict[str, str]]:
    """One row per reading of a calibration, in the order of the readings."""
    return [_row(reading.details) for reading in readings if isinstance(reading.details, CalibrationDetails)]


def calibration_markdown(readings: Sequence[Reading]) -> str:
    """The same as a table in Markdown."""
    rows = [dict(zip(COLUMNS, COLUMNS, strict=True)), dict.fromkeys(COLUMNS, "---"), *calibration_rows(readings)]
    return "\n".join(f"| {' | '.join(row[name] for name in COLUMNS)} |" for row in rows) + "\n"


def _row(summary: CalibrationDetails) -> dict[str, str]:
    return {
        "measure": summary.measure,
        "form": summary.form,
        "Spearman": f"{summary.spearman:.2f}",
        "slope": f"{summary.slope:.3g}",
        "noise": f"{summary.noise:.2g}",
        "per .1 dose": _maybe(summary.slope_in_noise, ".1f"),
        "tells .5 from": _maybe(summary.smallest_dose, "g", "none"),
        "false positives": _maybe(summary.false_positives, ".1%"),
        "retest": f"{summary.retest:.2f}",
        "order": f"{summary.order:.2f}",
        "spread": _maybe(summary.spread, ".2f"),
    }


def _maybe(value: float | None, form: str, otherwise: str = "") -> str:
    return otherwise if value is None else format(value, form)
