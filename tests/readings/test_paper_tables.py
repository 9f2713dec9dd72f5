"""Tables as a paper prints them: what stands below what, and how far apart."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiltmeter.readings.paper_tables import PaperCell, PaperColumn, PaperRow, PaperTable, shade_of

TWO = (PaperColumn("M", "noun"), PaperColumn("KL", "noun", 4, cut=True))


def row(label: str, *values: float | None, **more: object) -> PaperRow:
    return PaperRow(label, tuple(PaperCell(value) for value in values), **more)


def test_a_printed_row_stands_below_ours_with_the_difference_and_is_not_repeated() -> None:
    table = PaperTable("Table 2", "", TWO, (row("mine", 0.4, None, like="GPT"), row("GPT", 0.51, 0.0133, printed=True)))
    lines = [(line.label, line.source, *line.texts) for line in table.lines()]
    assert lines == [
        ("mine", "ours", "0.40", ""),
        ("printed: GPT", "printed", "0.51", "0.0133"),
        ("difference", "difference", "-0.11", ""),
    ]


def test_a_row_is_compared_within_its_block_or_with_a_table_that_has_no_blocks() -> None:
    ours = (row("mine", 1.0, 0.0, part="a", like="x"), row("mine", 1.0, 0.0, part="b", like="x"))
    blocks = (row("x", 0.5, 0.0, part="b", printed=True), row("x", 0.25, 0.0, part="a", printed=True))
    lines = list(PaperTable("T", "", TWO, ours + blocks).lines())
    assert [line.part for line in lines] == ["b"] * 3 + ["a"] * 3  # one block after the other, as in the paper
    assert [line.texts[0] for line in lines if line.source == "difference"] == ["+0.50", "+0.75"]
    plain = PaperTable("T", "", TWO, (*ours, row("x", 0.5, 0.0, printed=True)))
    assert [line.texts[0] for line in plain.lines() if line.source == "difference"] == ["+0.50", "+0.50"]
    # What the paper has and we have not is shown all the same.
    assert [line.label for line in PaperTable("T", "", TWO, blocks).lines()] == ["printed: x", "printed: x"]


def test_a_frame_has_every_digit_and_says_whose_a_row_is() -> None:
    cells = (PaperCell(0.123456, "*", 3), PaperCell(None))
    frame = PaperTable("Table 4", "", TWO, (PaperRow("C1", cells),)).to_frame()
    assert list(frame.columns) == ["table", "part", "row", "source", "noun M", "noun M mark", "noun KL"]
    assert frame.iloc[0]["noun M"] == 0.123456
    assert frame.iloc[0]["noun M mark"] == "*"


@given(st.floats(0, 10), st.integers(1, 5))
def test_a_cut_number_never_exceeds_the_number_and_is_less_than_a_digit_below_it(value: float, digits: int) -> None:
    shown = float(PaperColumn("KL", digits=digits, cut=True).text(value))
    assert shown <= value + 1e-8
    assert value - shown < 10**-digits + 1e-8


@pytest.mark.parametrize(("d", "shade"), [(0.0, 0), (0.19, 0), (-0.2, 1), (0.5, 2), (-0.8, 3), (None, 0)])
def test_cells_are_shaded_by_cohens_steps(d: float | None, shade: int) -> None:
    assert shade_of(d) == shade


def test_no_number_is_no_text() -> None:
    assert [PaperColumn("d").text(value) for value in (None, math.nan, "small", 1234)] == ["", "", "small", "1,234"]
