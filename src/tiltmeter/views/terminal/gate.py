"""A check in the terminal: what failed and why, then the rest."""

from __future__ import annotations

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tiltmeter.compare.gate import FAILED, PASSED, Check

_STYLES = {FAILED: "bold red", PASSED: "green"}


def check_table(check: Check) -> RenderableType:
    """Every verdict with its reason, failures first, and the headline below."""
    table = Table(header_style="bold", box=box.HORIZONTALS, expand=True, pad_edge=False)
    for name, width, ratio in (("result", 8, None), ("measured", None, 2), ("model", None, 1), ("why", None, 3)):
        table.add_column(name, width=width, ratio=ratio)
    for probe in check.probes:
        style = _STYLES.get(probe.outcome, "dim")
        table.add_row(Text(probe.outcome, style=style), Text(probe.title), Text(probe.model), Text(probe.why))
    notes = [Text(note) for note in check.notes]
    return Group(table, *notes, Text(check.headline, style=_STYLES[FAILED if check.failed else PASSED]))
