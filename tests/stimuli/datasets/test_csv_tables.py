from __future__ import annotations

import csv

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.datasets.csv_tables import read_table, rows_named


def table(tmp_path, content: bytes, name="t.csv"):
    path = tmp_path / name
    path.write_bytes(content)
    return read_table(path)


def test_rows_are_numbered_as_in_a_spreadsheet_even_after_a_cell_of_two_lines(tmp_path):
    found = table(tmp_path, b'a,b\n"one\ntwo",x\n\nthree,y\n')
    assert [(row.number, row["a"], row["b"]) for row in found.rows] == [(2, "one\ntwo", "x"), (4, "three", "y")]


def test_cells_that_look_like_nothing_are_text(tmp_path):
    rows = table(tmp_path, b"a,b\nNA,null\nnan,01\n").need("a", "b")
    assert [dict(row.cells) for row in rows] == [{"a": "NA", "b": "null"}, {"a": "nan", "b": "01"}]


def test_a_quotation_mark_in_a_tsv_file_is_a_plain_character(tmp_path):
    rows = table(tmp_path, b'a\tb\n"Go, he said\tx\n', "t.tsv").need("a", "b")
    assert rows[0]["a"] == '"Go, he said'


def test_a_byte_order_mark_and_another_spelling_of_a_column_do_no_harm(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbfprounoun_m\r\nhe\r\n")
    assert read_table(path, aliases={"prounoun_m": "pronoun_m"}).need("pronoun_m")[0]["pronoun_m"] == "he"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "t.csv: the file is empty"),
        (b"a,b\n", "t.csv: no rows below the header"),
        (b"b\nx\n", "t.csv: no column 'a'; found: b"),
        (b"a,a\nx,y\n", "t.csv: column 'a' appears more than once"),
        (b"a,b\nx,y\nz\n", "t.csv: row 3: 1 cells, but the header has 2"),
        (b"a,b\nx,y\n ,y\n,y\n", "t.csv: column 'a' is blank in rows 3, 4: fill it in"),
        (b"a,b\nRen\xe9,y\n", "t.csv: not UTF-8 at byte 7"),
        (b'a,b\n"x,y\n', "t.csv: line 2: not a proper csv table"),
    ],
)
def test_each_fault_of_a_table_is_one_line(tmp_path, content, expected):
    with pytest.raises(BadInput) as caught:
        table(tmp_path, content).need("a")
    assert expected in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(BadInput, match=r"no file .*gone\.csv: check the path"):
        read_table(tmp_path / "gone.csv")


@given(
    st.lists(
        st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=2, max_size=2),
        min_size=1,
        max_size=5,
    )
)
def test_every_cell_comes_back_as_it_was_written(tmp_path_factory, cells):
    path = tmp_path_factory.mktemp("table") / "t.csv"
    with path.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, quoting=csv.QUOTE_ALL).writerows([["a", "b"], *cells])
    assert [[row["a"], row["b"]] for row in read_table(path).rows] == cells


@given(st.sets(st.integers(2, 999), min_size=1))
def test_a_message_names_at_most_nine_rows_and_says_how_many_there_are(numbers):
    named = rows_named(numbers)
    assert len(named) < 70
    if len(numbers) > 9:
        assert named.startswith(f"{len(numbers)} rows ({min(numbers)}, ")
    else:
        assert named.split(" ", 1)[1] == ", ".join(map(str, sorted(numbers)))
