"""Compared models, and a check against a baseline, as tables in the terminal."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.table import Column
from rich.text import Text

from tiltmeter.compare.comparison import Comparison
from tiltmeter.compare.difference import Difference
from tiltmeter.compare.gate import FAILED, PASSED, Check
from tiltmeter.readings import p_number
from tiltmeter.views.terminal.table import wide_table


def comparison_table(pair: Comparison) -> RenderableType:
    """One pair of models: the clearest differences first, then what could not be compared."""
    widths = {"first": 8, "second": 8, "difference [95% interval]": 24, "p, corrected": 9, "verdict": 32}
    numbers = (Column(name, width=width) for name, width in widths.items())
    table = wide_table(f"{pair.first}  →  {pair.second}", Column("measured", ratio=1), *numbers)
    for moved in pair.differences:
        difference = f"{number(moved.difference, moved, sign=True)} {interval(moved)}"
        p = "-" if moved.p_holm is None else p_number(moved.p_holm)
        # Text, never str: a title with brackets must not be taken for markup.
        cells = map(Text, (moved.title, number(moved.first, moved), number(moved.second, moved), difference, p))
        table.add_row(*cells, _verdict(moved), style="" if moved.is_real() else "dim")
    left = [Text(f"Not compared: {left_out.id} ({left_out.reason})") for left_out in pair.not_compared]
    loose = [moved.title for moved in pair.differences if moved.method == "independent"]
    if loose:
        left.append(Text(f"Not paired, so only larger differences would show: {', '.join(loose)}"))
    return Group(table, *left, Text(""))


def number(value: float, moved: Difference, *, sign: bool = False) -> str:
    """A value with the digits that its size needs."""
    return f"{value:{'+' if sign else ''}.{moved.digits}f}"


def interval(moved: Difference) -> str:
    return f"[{number(moved.ci.low, moved)}, {number(moved.ci.high, moved)}]"


def _verdict(moved: Difference) -> Text:
    if not moved.is_real():
        return Text("no real difference")
    further = moved.growth > 0
    where = "further from level" if further else "nearer to level"
    return Text(f"really different: {where}", style="red" if further else "green")


_STYLES = {FAILED: "bold red", PASSED: "green"}


def check_table(check: Check) -> RenderableType:
    """Every verdict with its reason, failures first, and the headline below."""
    words = (Column(name, ratio=ratio) for name, ratio in (("measured", 2), ("model", 1), ("why", 3)))
    table = wide_table("", Column("result", width=8), *words)
    for probe in check.probes:
        style = _STYLES.get(probe.outcome, "dim")
        table.add_row(Text(probe.outcome, style=style), Text(probe.title), Text(probe.model), Text(probe.why))
    notes = [Text(note) for note in check.notes]
    return Group(table, *notes, Text(check.headline, style=_STYLES[FAILED if check.failed else PASSED]))
