"""What the texts print, as it stands in the files of this package."""

from __future__ import annotations

import itertools

import pytest

from tiltmeter.lab.replicate.paper import _content as content
from tiltmeter.lab.replicate.paper import printed_rows
from tiltmeter.lab.replicate.replicate import PAPERS


@pytest.mark.parametrize("name", PAPERS)
def test_every_printed_table_is_one_of_the_text_and_its_rows_fit_its_columns(name: str) -> None:
    paper = PAPERS[name]
    assert set(content(name)) <= set(paper.tables)
    for table in content(name):
        columns = paper.tables[table].columns
        assert isinstance(columns, tuple)  # a printed table has the columns of the text, whatever the models
        for row in printed_rows(name, table, len(columns)):
            assert len(row.cells) == len(columns), (table, row.label)


@pytest.mark.parametrize(
    ("name", "table", "part", "label", "place", "value"),
    [
        ("clozegender", "Table 2", "occupation named", "+ GloVe", 11, 0.151),
        ("clozegender", "Table 2", "gender neutral (someone)", "+ fasttext", 0, 0.17),
        ("clozegender", "Table 3", "", "+ RN-GloVe", 2, 4e-5),
        ("clozegender", "Table 7", "", "DeepSeek-R1-8B + DD-GloVe", 11, -0.015),
        ("clozegender", "Table 9", "person (PN)", "GPT-J-6B", 4, 0.82),
        ("bangla", "Table 4", "C9", "the study", 1, -1.03),
        ("cabm", "Section 2.6.2", "", "SHAP + RF", 6, 198.0),
        ("cabm", "Section 2.6.5, unmasking", "", "SHAP + RF", 2, 69.23),
        ("cabm", "Section 3.2", "", "WEAT", 0, 0.0111),
    ],
)
def test_printed_values_are_those_of_the_text(
    name: str, table: str, part: str, label: str, place: int, value: float
) -> None:
    rows = printed_rows(name, table, 16)
    (found,) = [row for row in rows if (row.part, row.label) == (part, label)]
    assert found.cells[place].value == value


def test_shares_of_men_and_women_add_up_to_one_in_what_was_copied() -> None:
    """A slip of the pen would show: the papers cut or round, so to within .02; GPT-4o on Japanese is printed as .90."""
    paper = PAPERS["clozegender"]
    for table in ("Table 2", "Table 3", "Table 4", "Table 5", "Table 6", "Table 7", "Table 8", "Table 9"):
        columns = paper.tables[table].columns
        pairs = [
            i
            for i, (one, two) in enumerate(itertools.pairwise(columns))
            if two.name in ("W", "to-w", "B", "A", "H") and one.name not in ("KL", "WEAT", "HB")
        ]
        for row in printed_rows("clozegender", table, len(columns)):
            for i in pairs:
                one, two = (row.cells[place].value for place in (i, i + 1))
                if one is not None and two is not None and (table, row.label) != ("Table 6", "GPT-4o"):
                    assert one + two == pytest.approx(1, abs=0.021), (table, row.label, columns[i].above)


def test_bangla_table_4_marks_what_is_significant() -> None:
    marked = sum(cell.mark == "*" for row in printed_rows("bangla", "Table 4", 5) for cell in row.cells)
    assert marked == 27
