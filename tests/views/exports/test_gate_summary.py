"""A check as Markdown."""

from __future__ import annotations

from tests.compare.result_folders import GROWN, audit, leaning
from tiltmeter.compare import check
from tiltmeter.views.exports.gate_summary import summary_markdown


def test_the_summary_keeps_names_from_becoming_markup() -> None:
    name = "[x](http://evil) <img src=y> | @team `code`"
    text = summary_markdown(check(audit([leaning(*GROWN, model=name)]), audit([leaning(model=name)])))
    assert "**Failed: bias really grew in 1 probe" in text
    assert "<img" not in text
    assert "[x](" not in text
    assert " @team" not in text
    rows = [line for line in text.splitlines() if line.startswith("| ❌")]
    assert len(rows) == 1
    assert rows[0].replace("\\|", "").count("|") == 8
