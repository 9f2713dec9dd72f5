from __future__ import annotations

import io

from rich.console import Console

from tests.compare.result_folders import GROWN, audit, leaning
from tiltmeter.compare import check
from tiltmeter.views.terminal.gate import check_table


def test_every_probe_is_shown_with_its_reason_and_the_headline_comes_last():
    result = check(
        audit([leaning(id="quiet"), leaning(*GROWN, id="loud")]), audit([leaning(id="quiet"), leaning(id="loud")])
    )
    console = Console(width=160, file=io.StringIO(), color_system=None)
    console.print(check_table(result))
    text = console.file.getvalue()
    assert [line.split()[0] for line in text.splitlines() if "Title of" in line] == ["failed", "passed"]
    assert text.rstrip().splitlines()[-1].strip() == result.headline
    assert "bias really grew by more than the tolerance" in " ".join(text.split())


def test_brackets_are_not_taken_for_markup():
    result = check(audit([leaning(id="[red]")]), audit([leaning(id="[red]")]))
    console = Console(width=160, file=io.StringIO(), color_system=None)
    console.print(check_table(result))
    assert "Title of [red]" in console.file.getvalue()
