"""Compared models, and a check against a baseline, as tables in the terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Column
from rich.text import Text

from tiltmeter.compare.comparison import Comparison
from tiltmeter.compare.difference import Difference
from tiltmeter.compare.gate import Check, Outcome
from tiltmeter.readings import p_number
from tiltmeter.views.rows import shown_titles
from tiltmeter.views.terminal.table import wide_table


def comparison_table(pair: Comparison) -> RenderableType:
    """One pair of models: how many probes differ, the clearest differences first, then what could not be compared."""
    titles = {moved.id: title for moved, title in zip(pair.differences, shown_titles(pair.differences), strict=True)}
    shown = [moved for moved in pair.differences if moved.state != "level"]
    lines = [Text(pair.headline, style="bold")]
    widths = {"first": 8, "second": 8, "difference [95% interval]": 24, "p, corrected": 9, "verdict": 28}
    numbers = (Column(name, width=width) for name, width in widths.items())
    table = wide_table("", Column("measured", ratio=1), *numbers)
    for moved in shown:
        difference = f"{number(moved.difference, moved, sign=True)} {interval(moved)}"
        p = "-" if moved.p_holm is None else p_number(moved.p_holm)
        # Text, never str: a title with brackets must not be taken for markup.
        cells = map(Text, (titles[moved.id], number(moved.first, moved), number(moved.second, moved), difference, p))
        table.add_row(*cells, verdict_text(moved), style="dim" if moved.state == "undecided" else "")
    notes = [
        (
            "Level, the difference too small to matter",
            [titles[moved.id] for moved in pair.differences if moved not in shown],
        ),
        (
            "Not paired, so only larger differences would show",
            [titles[moved.id] for moved in pair.differences if moved.method == "independent"],
        ),
        *_not_compared(pair),
    ]
    below = [Text(f"{what}: {', '.join(which)}") for what, which in notes if which]
    return Group(*lines, *([table] if shown else []), *below, Text(""))


def _not_compared(pair: Comparison) -> list[tuple[str, list[str]]]:
    """What was left out by its reason; of models that nothing was measured on together the headline says it all."""
    by_reason: dict[str, list[str]] = {}
    for left_out in pair.not_compared if pair.differences else ():
        by_reason.setdefault(left_out.reason, []).append(left_out.id)
    return [(f"Not compared, {reason}", which) for reason, which in by_reason.items()]


def number(value: float, moved: Difference, *, sign: bool = False) -> str:
    """A value with the digits that its size needs."""
    return f"{value:{'+' if sign else ''}.{moved.digits}f}"


def interval(moved: Difference) -> str:
    return f"[{number(moved.ci.low, moved)}, {number(moved.ci.high, moved)}]"


def verdict_text(moved: Difference) -> Text:
    """The state of a difference and, where it says which way, whether that is nearer to level."""
    if moved.state not in ("clear", "suggestive"):
        return Text(moved.state)
    said = f"{moved.state}: {moved.where}{' (control)' if moved.control else ''}"
    return Text(said, style="" if moved.control else "red" if moved.growth > 0 else "green")


_STYLES: dict[Outcome, str] = {"failed": "bold red", "undecided": "yellow", "passed": "green", "not checked": "dim"}


def check_table(check: Check) -> RenderableType:
    """The headline, then every probe with its reason, what failed first; what was not checked in a line each."""
    words = (Column(name, ratio=ratio) for name, ratio in (("measured", 2), ("model", 1), ("why", 3)))
    table = wide_table("", Column("result", width=9), *words)
    left = check.with_outcome("not checked")
    titles = {probe.id: title for probe, title in zip(check.probes, shown_titles(check.probes), strict=True)}
    for probe in check.probes:
        if probe not in left:
            style = _STYLES[probe.outcome]
            table.add_row(Text(probe.outcome, style=style), Text(titles[probe.id]), Text(probe.model), Text(probe.why))
    notes = [Text(f"Not checked: {titles[probe.id]} on {probe.model} ({probe.why})", style="dim") for probe in left]
    notes += [Text(note) for note in check.notes]
    headline = Text(check.headline, style=_STYLES["failed" if check.fails else check.outcome])
    return Group(headline, *([table] if len(left) < len(check.probes) else []), *notes)
