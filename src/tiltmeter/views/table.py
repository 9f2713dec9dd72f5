"""Readings as a table in the terminal that needs no manual."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tiltmeter.readings import Estimate, Reading

ALPHA = 0.05
_COLOURS = {"large": "red", "medium": "yellow", "small": "green", "negligible": "blue"}


def audit_table(model: str, rows: Sequence[tuple[Reading, float | None]]) -> RenderableType:
    """One model's readings with their adjusted p-values, and each in plain words below."""
    table = Table(title=f"[bold]{model}[/bold]", title_justify="left", header_style="bold", pad_edge=False)
    for name, justify in (("measured", "left"), ("leans", "left"), ("how strongly", "left")):
        table.add_column(name, justify=justify, ratio=None)  # type: ignore[arg-type]
    table.add_column("statistic [95% interval]", justify="right", no_wrap=True)
    table.add_column("p, corrected", justify="right", no_wrap=True)
    sentences: list[RenderableType] = []
    for reading, p in rows:
        clear = p is None or p <= ALPHA
        table.add_row(
            reading.title,
            reading.leans if clear else "no clear lean",
            _strength(reading, clear=clear),
            value_text(reading.effect),
            "-" if p is None else p_value_text(p),
            style="" if clear else "dim",
        )
        sentences.append(Padding(Text(f"• {reading.title}: {sentence(reading, p)}"), (0, 0, 0, 1)))
    return Group(table, Text("In plain words", style="bold"), *sentences, Text(""))


def reading_view(reading: Reading) -> RenderableType:
    """One reading, with what stands behind it."""
    parts: list[RenderableType] = [Text(f"{reading.title}  [{reading.model}]", style="bold"), Text(reading.plain_words)]
    facts = Table.grid(padding=(0, 2))
    facts.add_row("statistic", f"{value_text(reading.effect)}  ({reading.effect.name}; {reading.effect.better})")
    if reading.effect.p_value is not None:
        how = "all splits counted" if reading.effect.exact else "sampled"
        facts.add_row("p", f"{p_value_text(reading.effect.p_value)}  ({reading.effect.alternative}, {how})")
    if reading.published:
        p = "" if reading.published.p_value is None else f", p {p_value_text(reading.published.p_value)}"
        facts.add_row("as published", f"{reading.published.value:.4f}{p} ({reading.published.alternative})")
        facts.add_row("", reading.correction)
    facts.add_row("words", f"{reading.n_units} ({reading.n_items} items)")
    if reading.left_out:
        shown = [f"{each.what}: {each.reason}" for each in reading.left_out[:8]]
        more = len(reading.left_out) - len(shown)
        facts.add_row("left out", "\n".join(shown) + (f"\nand {more} more" if more > 0 else ""))
    for caveat in reading.caveats:
        facts.add_row("mind", caveat)
    return Group(*parts, facts)


def sentence(reading: Reading, p_adjusted: float | None) -> str:
    """The reading in plain words, in the light of all the tests it was one of."""
    p = reading.effect.p_value
    if p is not None and p_adjusted is not None and p <= ALPHA < p_adjusted:
        return f"{reading.plain_words} Among all the tests of this audit it may still be chance."
    return reading.plain_words


def value_text(effect: Estimate) -> str:
    """The number and its interval.

    >>> value_text(Estimate("d", 1.234, 0.0, "nearer to 0 is better"))
    '1.23'
    """
    digits = 2 if abs(effect.value) >= 0.1 or effect.value == 0 else 3
    interval = f" [{effect.ci.low:.{digits}f}, {effect.ci.high:.{digits}f}]" if effect.ci else ""
    return f"{effect.value:.{digits}f}{interval}"


def p_value_text(p: float) -> str:
    """A p-value in a cell, never zero.

    >>> p_value_text(0.00001), p_value_text(0.0432)
    ('< 0.0001', '0.043')
    """
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.01 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"


def _strength(reading: Reading, *, clear: bool) -> Text:
    if not reading.strength:
        return Text("-")
    return Text(reading.strength, style=_COLOURS[reading.strength] if clear else "")
