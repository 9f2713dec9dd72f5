"""Readings as a table in the terminal that needs no manual."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Column, Table
from rich.text import Text

from tiltmeter.readings import Estimate, Reading, State, p_number
from tiltmeter.views.rows import ReadingRow
from tiltmeter.views.summary import MARKS

_COLOURS = {"large": "red", "medium": "yellow", "small": "green", "negligible": "blue"}
#: An effect as high as a letter: level is the lowest block, d = 1.4 and more the highest.
_BLOCKS, _STEP = "▁▂▃▄▅▆▇█", 0.2


STATE_STYLES: dict[State, str] = {
    "clear": "bold red",
    "suggestive": "yellow",
    "undecided": "dim",
    "level": "green",
    "untested": "dim",
    "works": "green",
    "does not work": "bold red",
}


def wide_table(title: str, *columns: Column | str) -> Table:
    """A table as wide as the terminal."""
    return _table(title, columns, header_style="bold", box=box.HORIZONTALS, expand=True)


def number_table(title: str, *columns: Column | str) -> Table:
    """A table as narrow as its numbers."""
    return _table(title, columns, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), caption_justify="left")


def _table(title: str, columns: Sequence[Column | str], **look: Any) -> Table:
    heading = Text(title, style="bold") if title else None
    return Table(*columns, title=heading, title_justify="left", pad_edge=False, **look)


def audit_table(model: str, rows: Sequence[ReadingRow]) -> RenderableType:
    """One model's readings with their verdicts, and each in plain words below."""
    # The numbers keep their width, so that no interval is broken; titles and directions share the rest.
    words = [Column(name, ratio=1) for name in ("measured", "verdict and direction")]
    numbers = {"how strongly [95% interval]": 25, "p": 8, "p, corrected": 9}
    table = wide_table(model, *words, *(Column(name, width=width) for name, width in numbers.items()))
    table.show_lines = True
    sentences = Table.grid(padding=(0, 1))
    for row in rows:
        # Text, never str: a title or a word with brackets must not be taken for markup.
        cells = (Text(row.title), _verdict(row), _how_strongly(row), Text(row.raw_p or "-"), Text(row.p or "-"))
        table.add_row(*cells, style="" if row.clear else "dim")
        sentences.add_row("•", Text.assemble((f"{row.title}: ", "bold"), row.reading.plain_words))
    return Group(table, Sparkline(rows), Text("In plain words", style="bold"), sentences, Text(""))


def _verdict(row: ReadingRow) -> Text:
    """The verdict, and below it which way the reading leans where that may be said."""
    state = row.verdict.state
    text = Text(f"{MARKS[state]} {state}", STATE_STYLES[state])
    named = row.reading.direction if row.verdict.directed else ""
    return text.append(f"\n{named}", "default") if named else text


class Sparkline:
    """The size of each effect in the order of the table, at one look; nothing where nobody looks."""

    def __init__(self, rows: Sequence[ReadingRow]) -> None:
        self._rows = rows

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if not console.is_terminal or options.ascii_only or len(self._rows) < 2:
            return
        line = Text("Sizes in this order, whichever way they lean: ")
        for row in self._rows:
            style = _COLOURS.get(row.reading.strength, "") if row.clear else "dim"
            line.append(spark(row.reading.effect), style)
        yield line.append("\n")


def spark(effect: Estimate) -> str:
    """How far from level, as one letter.

    >>> from tiltmeter.readings import D
    >>> [spark(Estimate("effect size d", d, D)) for d in (0.0, 0.5, -2.0)]
    ['▁', '▃', '█']
    """
    size = effect.scale.as_d(effect.value)
    return "·" if size is None else _BLOCKS[min(len(_BLOCKS) - 1, int(abs(size) / _STEP))]


def reading_view(reading: Reading) -> RenderableType:
    """One reading, with what stands behind it."""
    facts, seen = Table.grid(padding=(0, 2)), ""
    for label, fact in _facts(reading):
        facts.add_row(label if label != seen else "", Text(fact))
        seen = label
    title = Text(f"{reading.title}  [{reading.model}]", style="bold")
    return Group(title, _verdict_line(reading), Text(reading.plain_words), facts)


def _verdict_line(reading: Reading) -> Text:
    """The verdict first: everything else is why."""
    state, direction = reading.verdict.state, reading.direction
    leans = f": {direction}" if direction and reading.verdict.directed else ""
    return Text(f"{MARKS[state]} {state}{leans}", STATE_STYLES[state])


def _how_strongly(row: ReadingRow) -> Text:
    effect, strength = row.reading.effect, row.reading.strength
    text = Text(f"{row.value}\n{effect.name}")
    if not strength:
        return text.append(f", {effect.better}")
    return text.append(": ").append(strength, style=_COLOURS[strength] if row.clear else "")


def _facts(reading: Reading) -> list[tuple[str, str]]:
    effect, published, source = reading.effect, reading.published, reading.provenance
    facts = [("statistic", f"{effect}  ({effect.name}; {effect.better})")]
    if effect.p_value is not None:
        how = "all splits counted" if effect.exact else "sampled or approximated"
        facts.append(("p", f"{p_number(effect.p_value)}  ({effect.alternative}, {how})"))
    if published:
        p = "" if published.p_value is None else f", p {p_number(published.p_value)} ({published.alternative})"
        facts.append(("as published", f"{published.value:.4f}{p}. {reading.repair}"))
    facts.append(("measured on", f"{reading.n_units:,} {reading.counted}, {reading.n_items:,} items"))
    facts += [("evidence", line) for line in (reading.evidence.in_words() if reading.evidence else ())]
    facts += [("driven by", line) for line in _extremes(reading)]
    shown = [f"{item.what}: {item.reason}" for item in reading.left_out[:8]]
    more = len(reading.left_out) - len(shown)
    facts += [("left out", line) for line in [*shown, *([f"and {more} more"] if more else [])]]
    facts += [("note", note) for note in reading.notes]
    facts += [("what counts as bias", reading.about.idea)] if reading.about.idea else []
    facts += [("caveats", caveat) for caveat in reading.about.caveats]
    stimuli = f"stimuli {source.stimuli}, seed {source.settings['seed']}; {reading.about.citation}"
    return [*facts, ("provenance", f"model revision {source.model.revision}, {stimuli}")]


def _extremes(reading: Reading) -> list[str]:
    """The units at both ends and what their values mean: what the number is made of."""
    if reading.driving is None:
        return []
    meaning, ends = reading.driving
    lines = (f"{name}: {', '.join(map(str, end))}" for name, end in zip(("highest", "lowest"), ends, strict=True))
    return [*lines, meaning]
