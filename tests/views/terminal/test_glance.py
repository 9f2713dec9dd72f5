from __future__ import annotations

import io

import pytest
from rich.console import Console

from tests.views.made import audit, d, reading
from tiltmeter import Audit
from tiltmeter.readings import Poles
from tiltmeter.views.summary import summarise
from tiltmeter.views.terminal.glance import Glance

LONG = Poles.crossed(
    ("names common among white Americans", "names common among Black Americans"), ("pleasant words", "unpleasant words")
)
DIMENSIONS = ("gender", "race", "age", "religion", "disability")


def shown(made: Audit, width: int, **options) -> list[str]:
    console = Console(width=width, file=io.StringIO(), color_system=None, **options)
    console.print(Glance(summarise(made)), markup=False, highlight=False)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def large(models: int) -> Audit:
    """As many dimensions as the default suite has, everything clear, and a control that does not work."""
    readings = [
        reading(f"bundled:model-{m}", dimension, d(0.9 + m / 100, p=1e-4), dimension=dimension, poles=LONG)
        for m in range(models)
        for dimension in DIMENSIONS
    ]
    broken = reading("bundled:model-0", "flowers", d(0.1, p=0.8), control=True, family="controls")
    return audit(*readings, broken)


def test_the_grid_has_the_verdict_how_many_and_which_way():
    made = audit(
        reading("m:a", "career", d(0.9, p=0.001)),
        reading("m:a", "math", d(0.5, p=0.4)),
        reading("m:b", "career", d(0.4, p=0.4)),
        reading("m:b", "race", d(0.01, half=0.1, p=0.9), dimension="race"),
    )
    lines = shown(made, 100)
    assert lines[0] == "1 of 4 bias tests shows a clear lean, on 1 of 2 models."
    assert lines[1].split() == ["n/m", "tests", "m:a", "m:b"]
    assert lines[3].split() == ["gender", "●", "clear", "1/2", "○", "undecided", "1/1"]
    assert lines[4].strip() == "men → career, women → family"
    assert lines[5].split() == ["race", "-", "=", "level", "1/1"]
    assert lines[-1] == "● m:a men → career (Title of career; 0.90 [0.60, 1.20])"


def test_five_models_with_a_lean_in_every_dimension_fit_25_lines_of_100_columns():
    lines = shown(large(5), 100)
    assert max(map(len, lines)) <= 100
    assert len(lines) <= 24  # and the line that names the report
    assert sum("…white Americans" in line for line in lines[:20]) == len(DIMENSIONS)
    assert "The control does not work on bundled:model-0: its other verdicts mean little." in lines


@pytest.mark.parametrize("width", [30, 60, 80, 100, 200])
@pytest.mark.parametrize("models", [1, 2, 7, 30])
def test_any_terminal_shows_every_model_and_no_line_is_wider(width, models):
    lines = shown(large(models), width)
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    assert text.count("● clear 1/1") == models * len(DIMENSIONS) or width < 100
    assert all(f"model-{m}" in text for m in range(models))


def test_a_group_is_told_from_the_other_where_its_name_is_too_long():
    poles = Poles.crossed(("words for nondisabled people", "words for disabled people"), ("pleasant", "unpleasant"))
    made = audit(*(reading(f"m:{n}", "a", d(0.9), poles=poles) for n in range(5)))
    assert "…nondisabled…" in shown(made, 100)[4]


def test_without_colours_and_without_letters_beyond_ascii_the_words_remain():
    file = io.TextIOWrapper(io.BytesIO(), encoding="ascii", errors="backslashreplace")
    console = Console(width=100, file=file, color_system=None)
    console.print(Glance(summarise(audit(reading()))))
    file.seek(0)
    text = file.read()
    assert "clear 1/1" in text
    assert "\\u25cf" not in text


def test_an_audit_without_readings_is_one_line():
    assert shown(audit(), 100) == ["Nothing was tested: the numbers below have no p-value."]
