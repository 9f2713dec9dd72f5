"""Readings as a table in the terminal that needs no manual."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from tiltmeter.readings import Estimate, Reading, p_number
from tiltmeter.views.item_values import item_values
from tiltmeter.views.phrases import is_clear, sentence, shown_leans, shown_titles, value_text

_COLOURS = {"large": "red", "medium": "yellow", "small": "green", "negligible": "blue"}
_MOST_LEANING = 5
#: An effect as high as a letter: level is the lowest block, d = 1.4 and more the highest.
_BLOCKS, _STEP = "▁▂▃▄▅▆▇█", 0.2


def audit_table(model: str, rows: Sequence[tuple[Reading, float | None]]) -> RenderableType:
    """One model's readings with their adjusted p-values, and each in plain words below."""
    table = Table(
        title=Text(model, style="bold"),
        title_justify="left",
        header_style="bold",
        box=box.HORIZONTALS,
        show_lines=True,
        expand=True,
        pad_edge=False,
    )
    # The numbers keep their width, so that no interval is broken; titles and leans share the rest.
    for name, width in (("measured", None), ("leans", None), ("how strongly [95% interval]", 25), ("p, corrected", 9)):
        table.add_column(name, width=width, ratio=None if width else 1)
    sentences = Table.grid(padding=(0, 1))
    titles = shown_titles([reading for reading, _ in rows])
    for title, (reading, p) in zip(titles, rows, strict=True):
        # Text, never str: a title or a word with brackets must not be taken for markup.
        table.add_row(
            Text(title),
            Text(shown_leans(reading, p) or "-"),
            _how_strongly(reading, clear=is_clear(p)),
            Text("-" if p is None else p_number(p)),
            style="" if is_clear(p) else "dim",
        )
        sentences.add_row("•", Text.assemble((f"{title}: ", "bold"), sentence(reading, p)))
    return Group(table, Sparkline(rows), Text("In plain words", style="bold"), sentences, Text(""))


class Sparkline:
    """The size of each effect in the order of the table, at one look; nothing where nobody looks."""

    def __init__(self, rows: Sequence[tuple[Reading, float | None]]) -> None:
        self._rows = rows

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if not console.is_terminal or options.ascii_only or len(self._rows) < 2:
            return
        line = Text("Sizes in this order, whichever way they lean: ")
        for reading, p in self._rows:
            line.append(spark(reading.effect), style=_COLOURS.get(reading.strength, "") if is_clear(p) else "dim")
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
    facts = Table.grid(padding=(0, 2))
    seen = ""
    for label, fact in _facts(reading):
        facts.add_row(label if label != seen else "", Text(fact))
        seen = label
    return Group(Text(f"{reading.title}  [{reading.model}]", style="bold"), Text(reading.plain_words), facts)


def _how_strongly(reading: Reading, *, clear: bool) -> Text:
    text = Text(f"{value_text(reading.effect)}\n{reading.effect.name}")
    if not reading.strength:
        return text.append(f", {reading.effect.better}")
    return text.append(": ").append(reading.strength, style=_COLOURS[reading.strength] if clear else "")


def _facts(reading: Reading) -> list[tuple[str, str]]:
    effect, published, source = reading.effect, reading.published, reading.provenance
    facts = [("statistic", f"{value_text(effect)}  ({effect.name}; {effect.better})")]
    if effect.p_value is not None:
        how = "all splits counted" if effect.exact else "sampled or approximated"
        facts.append(("p", f"{p_number(effect.p_value)}  ({effect.alternative}, {how})"))
    if published:
        p = "" if published.p_value is None else f", p {p_number(published.p_value)} ({published.alternative})"
        facts.append(("as published", f"{published.value:.4f}{p}. {reading.repair}"))
    facts.append(("measured on", f"{reading.n_units:,} words, {reading.n_items:,} items"))
    facts += [("what drives it", line) for line in _extremes(reading)]
    shown = [f"{item.what}: {item.reason}" for item in reading.left_out[:8]]
    more = len(reading.left_out) - len(shown)
    facts += [("left out", line) for line in [*shown, *([f"and {more} more"] if more else [])]]
    facts += [("note", note) for note in reading.notes]
    facts += [("what counts as bias", reading.about.idea)] if reading.about.idea else []
    facts += [("mind", caveat) for caveat in reading.about.caveats]
    facts.append(
        (
            "provenance",
            f"model revision {source.model.revision}, stimuli {source.stimuli}, seed {source.settings['seed']}; "
            f"{reading.about.citation}",
        )
    )
    return facts


def _extremes(reading: Reading) -> list[str]:
    """The units at both ends and what their values mean: what the number is made of."""
    units = item_values(reading)
    if units is None or len(units.rows) < 2 * _MOST_LEANING:
        return []
    lines = (
        f"{name}: {', '.join(f'{row.label} ({row.value:+.2f})' for row in end)}"
        for name, end in zip(("highest", "lowest"), units.ends(_MOST_LEANING), strict=True)
    )
    return [*lines, units.meaning]
