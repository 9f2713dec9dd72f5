"""Tables of a paper as the terminal shows them."""

from __future__ import annotations

import io

from rich.console import Console

from tests.views.paper import PAPER, row
from tiltmeter.readings.paper_tables import PaperColumn, PaperTable, Replication
from tiltmeter.views.terminal.paper_tables import replication_view


def test_ours_stands_above_what_is_printed_and_the_difference_below() -> None:
    console = Console(width=100, record=True, file=io.StringIO(), color_system="truecolor")
    console.print(replication_view(PAPER))
    styled, lines = console.export_text(clear=False, styles=True), console.export_text().splitlines()
    words = [line.split() for line in lines]
    assert ["mine", ".40*", "-.85"] in words
    assert ["printed:", "GPT-2", ".51", "-.80"] in words
    assert ["difference", "-.11", "-.05"] in words
    assert words.index(["small_1"]) < words.index(["mine", ".40*", "-.85"])
    assert "Not measured here: needs 100% of GPT-3" in lines
    # An effect of three of Cohen's steps has the darkest ground, and no other number has one.
    assert [line.count("\x1b[30;48;") for line in styled.splitlines() if "mine" in line] == [1]


def test_what_is_too_wide_stands_in_parts_and_no_number_is_cut() -> None:
    groups = [f"group {number}" for number in range(6)]
    columns = tuple(PaperColumn(name, group, 4) for group in groups for name in ("M", "W"))
    values = [1000 + place + 0.1234 for place in range(len(columns))]
    table = PaperTable("Table 2", "Wide", columns, (row("mine", *values),))
    console = Console(width=60, record=True, file=io.StringIO())
    console.print(replication_view(Replication("paper", "A paper", "A 2020", ("own:mine",), (table,))))
    lines = console.export_text().splitlines()
    numbers = [word for line in lines if line.split()[:1] == ["mine"] for word in line.split()[1:]]
    assert numbers == [f"{value:.4f}" for value in values]
    assert sum("Table 2, continued" in line for line in lines) >= 1
    assert all(len(line.rstrip()) <= 60 for line in lines)
