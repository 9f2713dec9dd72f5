from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from tests.views.exports.audits import AUDIT, SPOILT
from tests.views.made import audit, d, reading
from tiltmeter import Audit
from tiltmeter.views.exports import to_latex
from tiltmeter.views.exports.latex import STARS


def body(text: str) -> str:
    return "\n".join(line for line in text.splitlines() if not line.startswith("%"))


def rows(table: str) -> list[list[str]]:
    """The cells of a table's rows, without its head."""
    lines = table.split(r"\midrule")[1].split(r"\bottomrule")[0].strip().splitlines()
    return [re.split(r" (?<!\\)& ", line.removesuffix(r" \\")) for line in lines]


def test_latex_has_one_row_per_test_and_its_braces_are_in_pairs():
    for found in (AUDIT, SPOILT):
        text = body(to_latex(found))
        bare = re.sub(r"\\[{}&%$#_\\]", "", text)
        assert bare.count("{") == bare.count("}")
        depth = 0
        for character in bare:
            depth += (character == "{") - (character == "}")
            assert depth >= 0
        assert bare.count("$") % 2 == 0
        overview, *details = text.split(r"\end{table*}")[:-1]
        assert [len(cells) for cells in rows(overview)] == [4, 4, 4]
        assert [len(rows(each)) for each in details] == [2, 1]
        assert {len(cells) for each in details for cells in rows(each)} == {8}
    assert r"100\% a\_b \{x\} \textbar{} `c`" in to_latex(SPOILT)


def test_stars_are_the_verdicts():
    states = {
        "clear": reading(id="a", effect=d(0.9, p=0.001)),
        "suggestive": reading(id="b", effect=d(-0.9, p=0.03)),
        "undecided": reading(id="c", effect=d(0.9, p=0.9)),
        "level": reading(id="e", effect=d(0.01, half=0.1, p=0.9)),
        "untested": reading(id="f", effect=d(0.9, p=None)),
        "works": reading(id="g", effect=d(0.9), control=True, family="controls"),
        "does not work": reading(id="h", effect=d(-0.9), control=True, family="controls"),
    }
    made = audit(*states.values())
    assert [each.verdict.state for each in made.readings] == list(states) == list(STARS)
    overview, details, _ = to_latex(made).split(r"\end{table*}")
    numbers = [cells[2] for cells in rows(overview)]
    assert numbers == [
        "0.90$^{**}$",
        "$-$0.90$^{*}$",
        "0.90",
        "0.01$^{=}$",
        "0.90$^{?}$",
        "0.90$^{+}$",
        "$-$0.90$^{-}$",
    ]
    assert [cells[2] for cells in rows(details)] == list(states)
    assert [cells[1] for cells in rows(details)] == ["gender"] * 5 + ["control"] * 2
    assert [cells[5:7] for cells in rows(details)][1] == ["$0.030$", "$0.090$"]
    for state, star in STARS.items():
        assert not star or rf"{star} {state}" in overview or rf"{star} without a test" in overview


def test_many_tests_and_models_fill_several_tables_and_nothing_is_lost():
    made = many()
    tables = body(to_latex(made)).split(r"\end{table*}")[:-1]
    overview, details = tables[:4], tables[4:]
    assert [len(rows(each)) for each in overview] == [42, 8, 42, 8]
    assert sum(len(rows(each)) for each in details) == len(made.readings)
    labels = re.findall(r"\\label\{(.*?)\}", "".join(tables))
    assert len(set(labels)) == len(tables)


def many() -> Audit:
    return audit(*(reading(f"hf:org/a-rather_long-name-{m}", f"id{n}") for m in range(7) for n in range(50)))


@pytest.mark.parametrize("made", [AUDIT, SPOILT, many()], ids=["small", "spoilt", "many"])
def test_latex_compiles_in_two_columns_and_fits_the_page(made, tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    head = r"\documentclass[twocolumn]{article}\usepackage[T1]{fontenc}\usepackage{booktabs}\begin{document}"
    (tmp_path / "page.tex").write_text(f"{head}\n{to_latex(made)}\\end{{document}}\n", encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"],
        cwd=tmp_path,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "page.pdf").is_file()
    if made is not SPOILT:  # whose words are longer than any line
        assert "Overfull" not in done.stdout
