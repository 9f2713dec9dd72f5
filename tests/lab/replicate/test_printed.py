"""What the texts print, as it stands in the files of this package."""

from __future__ import annotations

import itertools

import numpy as np
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


def test_the_printed_scores_of_cabm_are_weighted_sums_of_neither_standardised_nor_raw_features() -> None:
    """Printed weights, SDs and correlations of the scores say what those of the features would have to be.

    The two forests' scores alone would need standardised features of which PMI and context correlate with -1.60. All
    three would need raw cosines, which are differences of mean cosines, with an SD above 1.
    """
    names = ("SHAP + RF", "PCA + RF", "PCA")
    weights = {row.label: [cell.value for cell in row.cells] for row in printed_rows("cabm", "Section 2.5", 3)}
    sds = {row.label: row.cells[1].value for row in printed_rows("cabm", "Section 2.6.2", 10)}
    pearson = {row.label: row.cells[0].value for row in printed_rows("cabm", "Section 2.6.4", 2)}
    by_score = np.array([weights[name] for name in names], dtype=np.float64)
    together = np.array([[pearson.get(f"{one} / {other}", 0.0) for other in names] for one in names], dtype=np.float64)
    together += together.T + np.eye(3)

    # Of the two forests: the sum of w_i w_j r_ij is known for three pairs of scores, with 1 for every r_ii.
    pairs = [(0, 0), (1, 1), (0, 1)]
    sd = np.array([sds[name] for name in names[:2]], dtype=np.float64)
    products = [np.outer(by_score[i], by_score[j]) + np.outer(by_score[j], by_score[i]) for i, j in pairs]
    known = [2 * together[i, j] * sd[i] * sd[j] - np.trace(each) for (i, j), each in zip(pairs, products, strict=True)]
    places = np.triu_indices(3, 1)
    found = np.linalg.solve([2 * each[places] for each in products], known)
    assert found[1] == pytest.approx(-1.595, abs=5e-3)  # PMI and context

    spread = []
    for third in np.linspace(0.01, 2, 400):  # the SD of the PCA scores is not printed
        covariance = together * np.outer([*sd, third], [*sd, third])
        features = np.linalg.solve(by_score, np.linalg.solve(by_score, covariance).T)
        spread.append(np.sqrt(np.diag(features)))
    assert min(cosine for _, cosine, _ in spread) > 1.03
