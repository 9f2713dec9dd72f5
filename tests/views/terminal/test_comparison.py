from __future__ import annotations

import io

from rich.console import Console

from tests.compare.result_folders import GROWN, audit, leaning, write_results
from tiltmeter.compare import check, compare, load_side
from tiltmeter.views.terminal.comparison import check_table, comparison_table, interval, number


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
    assert "clear: further from level" in text
    assert "Level, the difference too small to matter: Title of a" in text
    assert same.difference == 0


def test_every_probe_is_shown_with_its_reason_and_the_headline_comes_first():
    result = check(
        audit([leaning(id="quiet"), leaning(*GROWN, id="loud")]), audit([leaning(id="quiet"), leaning(id="loud")])
    )
    console = Console(width=160, file=io.StringIO(), color_system=None)
    console.print(check_table(result))
    text = console.file.getvalue()
    assert [line.split()[0] for line in text.splitlines() if "Title of" in line] == ["failed", "passed"]
    assert text.splitlines()[0].strip() == result.headline
    assert "bias grew beyond the tolerance of 0.02, by more than its items' noise" in " ".join(text.split())


def test_brackets_are_not_taken_for_markup():
    result = check(audit([leaning(id="[red]")]), audit([leaning(id="[red]")]))
    console = Console(width=160, file=io.StringIO(), color_system=None)
    console.print(check_table(result))
    assert "Title of [red]" in console.file.getvalue()
