from __future__ import annotations

import io

from rich.console import Console

from tests.compare.result_folders import GROWN, leaning, write_results
from tiltmeter.compare import compare, load_side
from tiltmeter.views.terminal.comparison import comparison_table, interval, number


def test_each_difference_is_shown_with_its_interval_and_a_verdict_in_words(tmp_path):
    first = write_results(tmp_path / "1", [leaning(id="a"), leaning(id="[b]")])
    second = write_results(tmp_path / "2", [leaning(id="a"), leaning(*GROWN, id="[b]")])
    (pair,) = compare([load_side(str(first)), load_side(str(second))]).pairs
    console = Console(width=140, file=io.StringIO(), color_system=None)
    console.print(comparison_table(pair))
    text = console.file.getvalue()
    clearest, same = pair.differences
    assert text.index("Title of [b]") < text.index("Title of a")
    assert f"{number(clearest.difference, clearest, sign=True)} {interval(clearest)}" in text
    assert number(clearest.difference, clearest, sign=True).startswith("+")
    assert "really different: further from" in text
    assert "no real difference" in text
    assert same.difference == 0
