"""ClozeGender's own table: contexts side by side, as published and corrected, one block a variant."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tiltmeter.readings import Reading

_FORMS = {
    "last": "the pronoun is the last word (ClozeLast)",
    "all": "each word but the first is clozed (ClozeAll)",
    "mean": "mean probability of the sentence's tokens",
}
_VARIANTS = ("all", "someone", "person")
_CONTEXTS = ("noun", "verb", "occupation", "combined")
_MEANING = (
    "M, W: share of sentences that lean to the first and to the second group; .50 each is level. KL: how far apart the "
    "scores are; 0 is level. WEAT: how far the words' vectors go with it. HB: agreement with what people expect, which "
    "is neither good nor bad."
)


def cloze_view(readings: Sequence[Reading]) -> RenderableType:
    """The table of all cells of a cloze probe on one model."""
    parts: list[RenderableType] = []
    genders = [r for r in readings if r.details.get("variant") != "race"]
    races = [r for r in readings if r.details.get("variant") == "race"]
    for variant in sorted({r.details["variant"] for r in genders}, key=_place(_VARIANTS)):
        parts += _block([r for r in genders if r.details["variant"] == variant])
    if races:
        parts += _races(races)
    corrected = next((r.correction for r in readings if r.correction), "")
    return Group(*parts, Text(_MEANING), Text(f"Why the two differ. {corrected}") if corrected else "")


def _block(readings: list[Reading]) -> list[RenderableType]:
    first = readings[0]
    cells = sorted(readings, key=lambda r: _place(_CONTEXTS)(r.details["context"]))
    facts = first.details
    title = f"{first.model}: {facts['variant']}, {facts['rows']:,} sentences; {_FORMS[facts['form']]}"
    columns = [(r.details["context"], r) for r in cells]
    lines = [("as published", "published"), ("corrected", "corrected")]
    alone = first.details["steps"][0]
    table = _table(title, [name for name, _ in columns], bare=f"probability alone: to-M {_two(alone['share_1'])}")
    for label, key in lines:
        table.add_row(label, *(cell for _, r in columns for cell in _cells(r.details[key], r.details["context"])))
    return [table]


def _races(readings: list[Reading]) -> list[RenderableType]:
    first = readings[0]
    title = f"{first.model}: race by occupation, {first.details['rows']:,} sentences that end in them"
    table = _table(title, [r.details["context"] for r in readings], races=True)
    for label, key in (("as published", "published"), ("corrected", "corrected")):
        table.add_row(label, *(cell for r in readings for cell in _cells(r.details[key], "race")))
    return [table]


def _table(title: str, contexts: list[str], *, bare: str = "", races: bool = False) -> Table:
    table = Table(
        title=Text(title, style="bold"),
        caption=Text(bare) if bare else None,
        caption_justify="left",
        title_justify="left",
        box=box.SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
    )
    table.add_column("", no_wrap=True)
    for context in contexts:
        groups = context.split("/") if races else ["M", "W"]
        names = [*groups, *(["KL", "WEAT"] if context != "combined" else []), *([] if races else ["HB"])]
        for i, name in enumerate(names):
            table.add_column(f"{context if i == 0 and not races else ''}\n{name}", justify="right", no_wrap=True)
    return table


def _cells(numbers: Mapping[str, Any], context: str) -> list[str]:
    shares = [_two(numbers["to_1"]), _two(numbers["to_2"])]
    match = _two(numbers["human_match"])
    if context == "combined":
        return [*shares, match]
    weat = numbers.get("weat")
    row = [*shares, f"{numbers['kl']:.4f}".removeprefix("0"), "-" if weat is None else f"{weat:.3f}".replace("0.", ".")]
    return row if context == "race" else [*row, match]


def _place(order: tuple[str, ...]) -> Callable[[str], int]:
    """The usual order, and what is not in it before the last."""
    return lambda name: order.index(name) if name in order else len(order) - 2


def _two(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}".removeprefix("0")


def sentence_view(rows: Sequence[Mapping[str, Any]], *, pronouns: tuple[str, str]) -> RenderableType:
    """One sentence with and without each context, as ratios."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("context", f"to {pronouns[0]}", f"to {pronouns[1]}", f"ended: to {pronouns[0]}", f"to {pronouns[1]}"):
        table.add_column(name, justify="left" if name == "context" else "right")
    for row in rows:
        shown = [_two(row[key]) for key in ("to_1", "to_2", "ended_to_1", "ended_to_2")]
        table.add_row(Text(row["context"] or "none"), *shown)
    return table
