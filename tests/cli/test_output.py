"""What commands print: tables or JSON, errors in one line, lists of addresses."""

from __future__ import annotations

import json

import pytest

from tiltmeter.cli.output import complain, parse_budget, print_view, show, split
from tiltmeter.errors import BadInput

ROWS = [{"name": "müller [bold]", "size": 12345, "note": None}, {"name": "b", "size": 0, "note": "x"}]


def test_json_holds_the_rows_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    show(ROWS, ("name",), as_json=True)
    printed = capsys.readouterr().out
    assert json.loads(printed) == ROWS
    assert "müller" in printed


def test_a_table_has_the_columns_asked_for_with_thousands_and_blanks(capsys: pytest.CaptureFixture[str]) -> None:
    show(ROWS, ("name", "size", "note"), as_json=False)
    cells = [[cell.strip() for cell in line.split("│")[1:-1]] for line in capsys.readouterr().out.splitlines()]
    assert ["müller [bold]", "12,345", ""] in cells
    assert ["b", "0", "x"] in cells


@pytest.mark.parametrize(("columns", "lines"), [("40", 3), ("", 1)])
def test_a_text_is_as_wide_as_the_terminal_or_wide_enough_to_read(
    columns: str, lines: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    print_view("four " * 20)
    assert len(capsys.readouterr().out.strip().splitlines()) == lines


def test_an_error_is_one_line_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    complain("first\n  second\tthird")
    assert capsys.readouterr() == ("", "error: first second third\n")


@pytest.mark.parametrize(("text", "parts"), [(None, None), ("", []), (" a , b.c,, ", ["a", "b.c"])])
def test_addresses_are_split_at_commas(text: str | None, parts: list[str] | None) -> None:
    assert split(text) == parts


def test_a_budget_is_read_or_refused() -> None:
    assert parse_budget(None) is None
    assert parse_budget("50 requests").requests == 50
    with pytest.raises(BadInput):
        parse_budget("a lot")
