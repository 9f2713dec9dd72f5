"""ClozeGender's own table: contexts side by side, as published and repaired, one block per variant."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Column, Table
from rich.text import Text

from tiltmeter.readings import Reading
from tiltmeter.readings.details.cloze import ClozeDetails, ClozeShares
from tiltmeter.views.terminal.table import number_table

_FORMS = {
    "last": "the pronoun is the last word (ClozeLast)",
    "all": "each word but the first is clozed (ClozeAll)",
    "mean": "mean probability of the sentence's tokens",
    "mask": "the pronoun at its mask",
}
_VARIANTS = ("all", "someone", "person")
_CONTEXTS = ("noun", "verb", "occupation", "combined")
_MEANING = (
    "{groups}: share of sentences that lean to each; .50 is level. KL: how far apart the scores are; 0 is level. WEAT: "
    "how far the words' vectors go with it. HB: agreement with what people expect, which is neither good nor bad."
)


def cloze_view(readings: Sequence[Reading]) -> RenderableType | None:
    """The table of all cells of a cloze probe on one model; None where there are none, as for choices in words."""
    cells = [reading.details for reading in readings if isinstance(reading.details, ClozeDetails)]
    if len(cells) < len(readings) or not all(cell.published and cell.repaired for cell in cells):
        return None
    model = readings[0].model
    variants = sorted({cell.variant for cell in cells} - {"race"}, key=_place(_VARIANTS))
    tables = [_block(model, [cell for cell in cells if cell.variant == variant]) for variant in variants]
    if races := [cell for cell in cells if cell.variant == "race"]:
        title = f"{model}: race by occupation, {races[0].rows:,} sentences that end in them"
        tables.append(_table(title, races))
    columns = dict(pair for cell in cells for pair in zip(_heads(cell), cell.groups, strict=True))
    groups = ", ".join(head if head == group else f"{head} ({group})" for head, group in columns.items())
    repair = next((reading.repair for reading in readings if reading.repair), "")
    return Group(*tables, Text(_MEANING.format(groups=groups)), Text(f"Why the two differ. {repair}") if repair else "")


def _block(model: str, cells: Sequence[ClozeDetails]) -> Table:
    first = cells[0]
    title = f"{model}: {first.variant}, {first.rows:,} sentences; {_FORMS[first.form]}"
    table = _table(title, sorted(cells, key=lambda cell: _place(_CONTEXTS)(cell.context)))
    table.caption = Text(f"probability alone: {_two(first.steps[0].share_1)} to {first.groups[0]}")
    return table


def _table(title: str, cells: Sequence[ClozeDetails]) -> Table:
    table = number_table(title, Column("", no_wrap=True))
    published = [_numbers(cell, cell.published, cut=True) for cell in cells]
    repaired = [_numbers(cell, cell.repaired) for cell in cells]
    for cell, numbers in zip(cells, published, strict=True):
        for i, name in enumerate(numbers):
            above = cell.context if i == 0 and cell.variant != "race" else ""
            table.add_column(f"{above}\n{name}", justify="right", no_wrap=True)
    for form, rows in (("as published", published), ("repaired", repaired)):
        table.add_row(form, *(number for numbers in rows for number in numbers.values()))
    return table


def _heads(cell: ClozeDetails) -> tuple[str, ...]:
    """What stands above the shares of the groups: initials where four contexts stand side by side."""
    initials = tuple(group[:1].upper() for group in cell.groups)
    return cell.groups if cell.variant == "race" or len(set(initials)) < 2 else initials


def _numbers(cell: ClozeDetails, shares: ClozeShares | None, *, cut: bool = False) -> dict[str, str]:
    """What a cell says in one form, by column; the paper cuts KL after the fourth digit and does not round it."""
    assert shares is not None
    numbers = dict(zip(_heads(cell), (_two(shares.to_1), _two(shares.to_2)), strict=True))
    if not cell.contexts:
        kl = math.floor(shares.kl * 1e4) / 1e4 if cut else shares.kl
        numbers["KL"] = f"{kl:.4f}".removeprefix("0")
        numbers["WEAT"] = "-" if shares.weat is None else f"{shares.weat:.3f}".replace("0.", ".")
    return numbers if cell.variant == "race" else {**numbers, "HB": _two(shares.human_match)}


def _place(order: tuple[str, ...]) -> Callable[[str], int]:
    """The usual order, and what is not in it before the last."""
    return lambda name: order.index(name) if name in order else len(order) - 2


def _two(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}".removeprefix("0")


def sentence_view(rows: Sequence[Mapping[str, Any]], *, pronouns: Sequence[str]) -> RenderableType:
    """One sentence with and without each context, as ratios."""
    names = (f"to {pronouns[0]}", f"to {pronouns[1]}", f"ended: to {pronouns[0]}", f"to {pronouns[1]}")
    table = number_table("", "context", *(Column(name, justify="right") for name in names))
    for row in rows:
        shown = [_two(row[key]) for key in ("to_1", "to_2", "ended_to_1", "ended_to_2")]
        table.add_row(Text(row["context"] or "none"), *shown)
    return table
