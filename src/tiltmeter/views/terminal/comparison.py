"""Compared models as a table in the terminal."""

from __future__ import annotations

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tiltmeter.compare.comparison import Comparison
from tiltmeter.compare.difference import Difference
from tiltmeter.readings.wording import p_number


def comparison_table(pair: Comparison) -> RenderableType:
    """One pair of models: the clearest differences first, then what could not be compared."""
    table = Table(
        title=Text(f"{pair.first}  →  {pair.second}", style="bold"),
        title_justify="left",
        header_style="bold",
        box=box.HORIZONTALS,
        expand=True,
        pad_edge=False,
    )
    columns = (("measured", None), ("first", 8), ("second", 8), ("difference [95% interval]", 24))
    for name, width in (*columns, ("p, corrected", 9), ("verdict", 32)):
        table.add_column(name, width=width, ratio=None if width else 1)
    for each in pair.differences:
        # Text, never str: a title with brackets must not be taken for markup.
        table.add_row(
            Text(each.title),
            Text(number(each.first, each)),
            Text(number(each.second, each)),
            Text(f"{number(each.difference, each, sign=True)} {interval(each)}"),
            Text("-" if each.p_holm is None else p_number(each.p_holm)),
            _verdict(each),
            style="" if each.is_real() else "dim",
        )
    left = [Text(f"Not compared: {each.id} ({each.reason})") for each in pair.not_compared]
    loose = [each.title for each in pair.differences if each.method == "independent"]
    if loose:
        left.append(Text(f"Not paired, so less would be found: {', '.join(loose)}"))
    return Group(table, *left, Text(""))


def number(value: float, each: Difference, *, sign: bool = False) -> str:
    """A value with the digits that its size needs."""
    return f"{value:{'+' if sign else ''}.{each.digits}f}"


def interval(each: Difference) -> str:
    return f"[{number(each.ci.low, each)}, {number(each.ci.high, each)}]"


def _verdict(each: Difference) -> Text:
    if not each.is_real():
        return Text("no real difference")
    further = each.growth > 0
    where = "further from level" if further else "nearer to level"
    return Text(f"really different: {where}", style="red" if further else "green")
