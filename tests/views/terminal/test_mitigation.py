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
    assert "all splits" not in text


def test_the_terminal_shows_what_other_splits_gave():
    text = shown(over_splits())
    for said in ("hard 3 1 of 1 0 48%-52% 96%-98% yes in 2, perhaps in 1", "leace 2 1 of 1 0 30%-33% 91%-98% yes in 1"):
        assert said in text, said
    assert "Perhaps take hard" in text
