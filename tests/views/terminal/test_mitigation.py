from __future__ import annotations

import io

from rich.console import Console

from tests.views.mitigated import over_splits, result
from tiltmeter.views.terminal.mitigation import mitigation_view


def shown(made):
    console = Console(file=io.StringIO(), width=140)
    for view in mitigation_view(made):
        console.print(view, markup=False, highlight=False)
    return " ".join(console.file.getvalue().split())


def test_the_terminal_shows_methods_tests_and_the_verdict():
    text = shown(result())
    for said in ("50% [40%, 60%]", "leans less", "hidden (guessing 50%)", "no words are left", "Take leace", "she/he"):
        assert said in text, said
    assert "splits of the words" not in text


def test_the_terminal_shows_a_row_for_each_split():
    text = shown(over_splits())
    for said in ("hard 0 1 of 1 0 50.0% 97.5% yes", "leace 1 1 of 1 0 33.0% 91.0% no", "leace 2", "no pair is left"):
        assert said in text, said
    assert "Perhaps take hard" in text
