"""How steady scores are from model to model, as a table."""

from __future__ import annotations

import io

from rich.console import Console

from tiltmeter.measures import stability
from tiltmeter.readings.studies import Steadiness
from tiltmeter.views.terminal.stability import stability_rows, stability_view

MEASURES = [
    Steadiness("CABM, repaired", stability({"a": [1, -1, 1], "b": [2, 2, 2]})),
    Steadiness("MAC", None, "without b"),
    Steadiness("PMI alone", stability({"a": [1, -1, 1], "b": [1, -1, 1]})),
]


def test_the_steadiest_stand_first_and_what_has_no_number_last():
    assert [(row["measure"], row["mean SD"]) for row in stability_rows(MEASURES)] == [
        ("PMI alone", 0.0),
        ("CABM, repaired", 2**0.5 / 3),
        ("MAC", None),
    ]


def test_the_page_says_what_it_means_and_where_models_differ_most():
    console = Console(file=io.StringIO(), width=100)
    console.print(stability_view(MEASURES, ["nurse", "plumber", "teacher"]))
    text = " ".join(console.file.getvalue().split())
    assert "Stability over 2 models" in text
    assert "CABM, repaired 0.471 1.179" in text
    assert "MAC - - without b" in text
    assert "Lower is steadier, not truer" in text
    assert "Models differ most on: plumber (1.41)" in text
