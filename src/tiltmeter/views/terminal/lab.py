"""The lab's results as tables: how measures follow a planted bias, how steady they are from model to model."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Column
from rich.text import Text

from tiltmeter.readings import Reading
from tiltmeter.readings.details.calibration import CalibrationDetails
from tiltmeter.readings.studies import Steadiness
from tiltmeter.views.terminal.table import number_table

CALIBRATION_LEGEND = """\
Spearman: of the number with the dose. noise: SD of readings on models without bias. per .1 dose: what the
number gains, in SDs of noise. tells .5 from: the smallest dose read above 97.5% of null readings by every model.
false positives: null readings with p <= .05 (5% by design), where the reading tests the number itself. retest: r of
occupations between models of one dose. order: Spearman of occupations with what is planted. spread: SD over sets of
sentences, as a part of the mean."""


def number_or(value: float | None, form: str, otherwise: str = "") -> str:
    """A number in a form, or what stands there without one.

    >>> number_or(0.5, ".2f"), number_or(None, ".2f", "none")
    ('0.50', 'none')
    """
    return otherwise if value is None else format(value, form)


_CELLS: Mapping[str, Callable[[CalibrationDetails], str]] = {
    "measure": lambda summary: summary.measure,
    "form": lambda summary: summary.form,
    "Spearman": lambda summary: f"{summary.spearman:.2f}",
    "slope": lambda summary: f"{summary.slope:.3g}",
    "noise": lambda summary: f"{summary.noise:.2g}",
    "per .1 dose": lambda summary: number_or(summary.slope_in_noise, ".1f"),
    "tells .5 from": lambda summary: number_or(summary.smallest_dose, "g", "none"),
    "false positives": lambda summary: number_or(summary.false_positives, ".1%"),
    "retest": lambda summary: f"{summary.retest:.2f}",
    "order": lambda summary: f"{summary.order:.2f}",
    "spread": lambda summary: number_or(summary.spread, ".2f"),
}
CALIBRATION_COLUMNS = tuple(_CELLS)


def calibration_rows(readings: Sequence[Reading]) -> list[dict[str, str]]:
    """One row per reading of a calibration, in the order of the readings."""
    summaries = (reading.details for reading in readings if isinstance(reading.details, CalibrationDetails))
    return [{name: cell(summary) for name, cell in _CELLS.items()} for summary in summaries]


def calibration_markdown(readings: Sequence[Reading]) -> str:
    """The same as a table in Markdown."""
    rows = [CALIBRATION_COLUMNS, ["---"] * len(_CELLS), *(row.values() for row in calibration_rows(readings))]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


#: Occupations whose score varies most, of the headline.
_NAMED = 3
_MEANING = (
    "Mean SD of an occupation's score across models, each model at root mean square 1. Lower is steadier, not truer: "
    "PMI is counted in sentences and is the same for every model. As published: the scores as they are, which is small "
    "for any measure in small units."
)


def stability_rows(measures: Sequence[Steadiness]) -> list[dict[str, Any]]:
    """One row per measure, the steadiest first; those without a number at the end, with the reason.

    >>> stability_rows([Steadiness("MAC", None, "no vectors of words")])
    [{'measure': 'MAC', 'mean SD': None, 'as published': None, 'note': 'no vectors of words'}]
    """
    rows: list[dict[str, Any]] = []
    for measured in measures:
        mean, published = (s.mean_sd, s.published) if (s := measured.stability) else (None, None)
        rows.append({"measure": measured.measure, "mean SD": mean, "as published": published, "note": measured.note})
    return sorted(rows, key=lambda row: math.inf if row["mean SD"] is None else row["mean SD"])


def stability_view(measures: Sequence[Steadiness], words: Sequence[str]) -> RenderableType:
    """The table, what it means, and the occupations on which the models differ most."""
    models = next(steadiness.stability.models for steadiness in measures if steadiness.stability)
    right = (Column(name, justify="right") for name in ("mean SD", "as published"))
    table = number_table(f"Stability over {len(models)} models", "measure", *right, "")
    for row in stability_rows(measures):
        numbers = (number_or(row[key], ".3f", "-") for key in ("mean SD", "as published"))
        table.add_row(Text(row["measure"]), *numbers, Text(row["note"]))
    lines = [Text(_MEANING)]
    first = measures[0].stability
    if first is not None:
        order = first.by_occupation.argsort(kind="stable")[::-1][:_NAMED]
        most = ", ".join(f"{words[i]} ({first.by_occupation[i]:.2f})" for i in order.tolist())
        lines.append(Text(f"Models differ most on: {most} ({measures[0].measure})."))
    return Group(table, *lines)
