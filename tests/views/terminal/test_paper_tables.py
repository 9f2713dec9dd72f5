"""Tables of a paper as the terminal shows them."""

from __future__ import annotations

import io

from rich.console import Console

from tests.views.paper import PAPER
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
