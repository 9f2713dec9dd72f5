"""Readings as a table in the terminal that needs no manual."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from tiltmeter.probes.wording import ALPHA, p_number
from tiltmeter.readings import Estimate, Reading
from tiltmeter.views.one_scale import on_one_scale

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

    >>> [spark(Estimate("effect size d", d, 0.0, "")) for d in (0.0, 0.5, -2.0)]
    ['▁', '▃', '█']
    """
    size = on_one_scale(effect)
    return "·" if size is None else _BLOCKS[min(len(_BLOCKS) - 1, int(abs(size) / _STEP))]


def reading_view(reading: Reading) -> RenderableType:
    """One reading, with what stands behind it."""
    facts = Table.grid(padding=(0, 2))
    seen = ""
    for label, fact in _facts(reading):
        facts.add_row(label if label != seen else "", Text(fact))
        seen = label
    return Group(Text(f"{reading.title}  [{reading.model}]", style="bold"), Text(reading.plain_words), facts)


def is_clear(p: float | None) -> bool:
    """Whether a reading's lean may be named; one without a test has said itself whether it is clear."""
    return p is None or p <= ALPHA


def shown_leans(reading: Reading, p: float | None) -> str:
    """Which way it leans, in the light of the p-value given."""
    return reading.leans if is_clear(p) else "no clear lean"


def shown_titles(readings: Sequence[Reading]) -> list[str]:
    """Titles under which no two readings of one model are the same."""
    often = Counter((reading.model, reading.title) for reading in readings)
    return [r.title if often[r.model, r.title] == 1 else f"{r.title} ({r.id})" for r in readings]


def sentence(reading: Reading, p_adjusted: float | None) -> str:
    """The reading in plain words, in the light of all the tests it was one of."""
    p = reading.effect.p_value
    if p is not None and p_adjusted is not None and p <= ALPHA < p_adjusted:
        return f"{reading.plain_words} Among all the tests of this audit chance could explain it: no clear lean."
    return reading.plain_words


def value_text(effect: Estimate) -> str:
    """The number and its interval.

    >>> value_text(Estimate("d", 1.234, 0.0, "nearer to 0 is better"))
    '1.23'
    """
    digits = 2 if abs(effect.value) >= 0.1 or effect.value == 0 else 3
    interval = f" [{effect.ci.low:.{digits}f}, {effect.ci.high:.{digits}f}]" if effect.ci else ""
    return f"{effect.value:.{digits}f}{interval}"


def _how_strongly(reading: Reading, *, clear: bool) -> Text:
    text = Text(f"{value_text(reading.effect)}\n{reading.effect.name}")
    if not reading.strength:
        return text.append(f", {reading.effect.better}")
    return text.append(": ").append(reading.strength, style=_COLOURS[reading.strength] if clear else "")


def _facts(reading: Reading) -> list[tuple[str, str]]:
    effect, published, made = reading.effect, reading.published, reading.provenance
    facts = [("statistic", f"{value_text(effect)}  ({effect.name}; {effect.better})")]
    if effect.p_value is not None:
        how = "all splits counted" if effect.exact else "sampled or approximated"
        facts.append(("p", f"{p_number(effect.p_value)}  ({effect.alternative}, {how})"))
    if published:
        p = "" if published.p_value is None else f", p {p_number(published.p_value)} ({published.alternative})"
        facts.append(("as published", f"{published.value:.4f}{p}. {reading.correction}"))
    facts.append(("measured on", f"{reading.n_units:,} words, {reading.n_items:,} items"))
    facts += [("lean most", line) for line in _extremes(reading)]
    shown = [f"{each.what}: {each.reason}" for each in reading.left_out[:8]]
    more = len(reading.left_out) - len(shown)
    facts += [("left out", line) for line in [*shown, *([f"and {more} more"] if more else [])]]
    facts += [("mind", caveat) for caveat in reading.caveats]
    facts.append(
        (
            "provenance",
            f"model revision {made['model']['revision']}, stimuli {made['stimuli']}, seed {made['settings']['seed']}; "
            f"{made['citation']}",
        )
    )
    return facts


def _extremes(reading: Reading) -> list[str]:
    """The words at both ends, where every item has a lean: what the number is made of."""
    leans: dict[str, list[float]] = {}
    for item in reading.items:
        if "lean" in item:
            leans.setdefault(item["word"], []).append(item["lean"])
    if len(leans) < 2 * _MOST_LEANING:
        return []
    means = sorted((sum(values) / len(values), word) for word, values in leans.items())
    first, second = means[: -_MOST_LEANING - 1 : -1], means[:_MOST_LEANING]
    return [
        f"to what is named {name}: {', '.join(f'{word} ({lean:+.2f})' for lean, word in end)}"
        for name, end in (("first", first), ("second", second))
    ]
