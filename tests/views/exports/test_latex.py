from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from tests.views.exports.audits import AUDIT, SPOILT
from tiltmeter.views.exports import to_latex


def test_latex_has_one_row_per_reading_and_its_braces_are_in_pairs():
    for found in (AUDIT, SPOILT):
        text = to_latex(found)
        body = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
        bare = re.sub(r"\\[{}&%$#_\\]", "", body)
        assert bare.count("{") == bare.count("}")
        depth = 0
        for character in bare:
            depth += (character == "{") - (character == "}")
            assert depth >= 0
        assert bare.count("$") % 2 == 0
        assert body.count(r"\begin{longtable}") == body.count(r"\end{longtable}") == 2
        rows = [line for line in body.splitlines() if line.endswith(r" \\") and not line.startswith("measured")]
        assert len(rows) == len(found.readings)
        assert {len(re.findall(r"(?<!\\)&", row)) for row in rows} == {7}
    assert r"100\% a\_b \{x\} \textbar{} `c`" in to_latex(SPOILT)


def test_latex_compiles_where_it_is_installed(tmp_path):
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    page = "\\documentclass{article}\\usepackage[T1]{fontenc}\\usepackage{booktabs,longtable,array}\\begin{document}"
    (tmp_path / "page.tex").write_text(f"{page}\n{to_latex(SPOILT)}\\end{{document}}\n", encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "page.tex"], cwd=tmp_path, check=False
    )
    assert done.returncode == 0
