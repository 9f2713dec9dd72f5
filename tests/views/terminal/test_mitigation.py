from __future__ import annotations

import io

from rich.console import Console

from tests.views.mitigated import result
from tiltmeter.views.terminal.mitigation import mitigation_view


def test_the_terminal_shows_methods_tests_and_the_verdict():
    console = Console(file=io.StringIO(), width=140)
    for view in mitigation_view(result()):
        console.print(view, markup=False, highlight=False)
    text = " ".join(console.file.getvalue().split())
    for said in ("50% [40%, 60%]", "leans less", "hidden (guessing 50%)", "no words are left", "Take leace", "she/he"):
        assert said in text, said
