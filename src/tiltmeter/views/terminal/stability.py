"""How steady occupation scores are from model to model, as a table."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tiltmeter.readings.studies import Steadiness

#: Occupations whose score varies most, of the headline.
_NAMED = 3
MEANING = (
    "Mean SD of an occupation's score across models, each model at root mean square 1. Lower is steadier, not truer: "
    "PMI is counted in sentences and is the same for every model. As published: the scores as they are, which is small "
    "for any measure in small units."
)


def stability_rows(measures: Sequence[Steadiness]) -> list[dict[str, Any]]:
    """One row per measure, the steadiest first; those without a number at the end, with the reason.

    >>> stability_rows([Steadiness("MAC", None, "no vectors of words")])
    [{'measure': 'MAC', 'mean SD': None, 'as published': None, 'note': 'no vectors of words'}]
    """
    rows = [
        {
            "measure": each.measure,
            "mean SD": each.stability.mean_sd if each.stability else None,
            "as published": each.stability.published if each.stability else None,
            "note": each.note,
        }
        for each in measures
    ]
    return sorted(rows, key=lambda row: math.inf if row["mean SD"] is None else row["mean SD"])


def stability_view(measures: Sequence[Steadiness], words: Sequence[str]) -> RenderableType:
    """The table, what it means, and the occupations on which the models differ most."""
    models = next(each.stability.models for each in measures if each.stability)
    table = Table(title=f"Stability over {len(models)} models", title_justify="left", box=box.SIMPLE_HEAD)
    table.add_column("measure")
    table.add_column("mean SD", justify="right")
    table.add_column("as published", justify="right")
    table.add_column("")
    for row in stability_rows(measures):
        numbers = ("-" if row[key] is None else f"{row[key]:.3f}" for key in ("mean SD", "as published"))
        table.add_row(Text(row["measure"]), *numbers, Text(row["note"]))
    lines = [Text(MEANING)]
    first = measures[0].stability
    if first is not None:
        order = first.by_occupation.argsort(kind="stable")[::-1][:_NAMED]
        most = ", ".join(f"{words[i]} ({first.by_occupation[i]:.2f})" for i in order.tolist())
        lines.append(Text(f"Models differ most on: {most} ({measures[0].measure})."))
    return Group(table, *lines)
