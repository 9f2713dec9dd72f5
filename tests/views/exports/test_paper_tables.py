"""Tables of a paper in files: what a paper, a page, a spreadsheet and a program take."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from tests.views.paper import PAPER
from tiltmeter.errors import BadInput
from tiltmeter.views.exports.paper_tables import export_tables, to_html, to_latex


def test_latex_escapes_what_it_must_and_says_what_was_not_measured() -> None:
    text = to_latex(PAPER)
    assert r"\caption{Shares \& effects (Table 2 in the text). Stars: p < .05.}" in text.replace("$<$", "<").replace(
        r"\textless{}", "<"
    )
    assert r"mine & 0.40$^{*}$ & \cellcolor{black!32}$-$0.85 \\" in text
    assert r"\textbf{small\_1}" in text
    assert r"\multicolumn{2}{c}{noun}" in text
    assert "% Table 3. Race: not measured: needs 100% of GPT-3" in text
    assert text.count(r"\begin{table*}") == text.count(r"\end{table*}") == 2


def test_a_page_holds_every_table_and_the_chart_of_a_figure() -> None:
    html = to_html(PAPER)
    assert html.count("<svg") == 1
    assert "A &amp; B 2020" in html
    assert "needs 100% of GPT-3" in html


def test_files_hold_the_same_numbers_and_charts_stand_beside_them(tmp_path: Path) -> None:
    written = export_tables(PAPER, tmp_path, format="json")
    assert [path.name for path in written] == ["paper.json", "paper-figure-4.svg"]
    values = json.loads(written[0].read_text(encoding="utf-8"))
    assert values["tables"][0]["rows"][0]["cells"][1]["value"] == -0.85
    (table,) = export_tables(PAPER, tmp_path, format="csv")
    rows = list(csv.DictReader(table.read_text(encoding="utf-8").splitlines()[:4]))
    assert [row["source"] for row in rows] == ["ours", "printed", "difference"]
    assert float(rows[2]["noun to-M"]) == pytest.approx(-0.11)
    with pytest.raises(BadInput, match="unknown format 'docx'"):
        export_tables(PAPER, tmp_path, format="docx")
