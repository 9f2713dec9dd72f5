from __future__ import annotations

import dataclasses
import io

import pytest
from rich.console import Console, RenderableType

from tests.planted import CAREER_FAMILY, TERMS, Named, words
from tiltmeter import Reading, probe
from tiltmeter.readings import DISTANCE, SIZE, Correction, Estimate, LeftOut, Poles
from tiltmeter.views.rows import reading_rows
from tiltmeter.views.terminal.table import Sparkline, audit_table, reading_view

LEANS = dict(zip([*TERMS, *CAREER_FAMILY], [0.3, -0.3, 0.8, -0.8], strict=True))


@pytest.fixture(scope="module")
def reading() -> Reading:
    return probe("weat", Named(words(LEANS)), cache=False)


def corrected(reading: Reading, p_value: float) -> Reading:
    return dataclasses.replace(reading, correction=Correction(p_value, 2))


def printed(view: RenderableType, *, width: int) -> list[str]:
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(view)
    return console.file.getvalue().splitlines()


@pytest.mark.parametrize("width", [80, 100, 140])
def test_a_table_fits_the_terminal_and_breaks_no_number(reading, width):
    both = [corrected(reading, 0.0001), corrected(dataclasses.replace(reading, id="b"), 1.0)]
    lines = printed(
        audit_table("own:named", reading_rows(both)),
        width=width,
    )
    assert max(map(len, lines)) <= width
    text = "\n".join(lines)
    assert text.count(str(reading.effect)) == 2
    assert "0.0001" in text
    assert "corrected" in text
    assert "…" not in text


def test_a_lean_is_called_clear_only_after_correction(reading):
    clear = "\n".join(printed(audit_table("own:named", reading_rows([corrected(reading, 0.01)])), width=200))
    assert "● clear" in clear
    assert "male terms → career, female terms → family" in clear
    unclear = "\n".join(printed(audit_table("own:named", reading_rows([corrected(reading, 0.3)])), width=200))
    assert "◐ suggestive" in unclear
    assert "not significant after correction for this model's 2 bias tests" in unclear


def test_brackets_in_names_and_words_are_shown_and_not_taken_for_markup(reading):
    odd = dataclasses.replace(
        reading,
        title="a [/bold] title",
        model="own:[red]",
        left_out=(LeftOut("'[UNK]' (male terms)", "out of vocabulary of [/x]"),),
        poles=Poles("[b] → [/c]", "[/c] → [b]"),
        notes=("a [note]",),
        finding="In [plain] words.",
    )
    table = "\n".join(printed(audit_table("own:[red]", reading_rows([odd])), width=140))
    view = "\n".join(printed(reading_view(odd), width=140))
    for shown in ("a [/bold] title", "own:[red]", "In [plain] words."):
        assert shown in table
        assert shown in view
    assert "[b] → [/c]" in table
    assert "'[UNK]' (male terms): out of vocabulary of [/x]" in view
    assert "a [note]" in view


def test_a_long_list_of_what_was_left_out_is_cut_and_counted(reading):
    left = tuple(LeftOut(f"word {n}", "unknown") for n in range(11))
    text = "\n".join(printed(reading_view(dataclasses.replace(reading, left_out=left)), width=140))
    assert "word 7: unknown" in text
    assert "word 8" not in text
    assert "and 3 more" in text


def test_a_statistic_without_a_band_says_what_is_better(reading):
    distance = dataclasses.replace(reading, effect=Estimate("mean cosine distance", 0.71, DISTANCE), poles=None)
    text = " ".join(" ".join(printed(audit_table("own:named", reading_rows([distance])), width=200)).split())
    assert "0.71" in text
    assert "mean cosine distance, nearer" in text


def test_a_terminal_shows_the_sizes_at_one_look_and_a_file_does_not(reading):
    sized = dataclasses.replace(reading, effect=Estimate("mean bias", 0.2, SIZE))
    rows = reading_rows([reading, sized])
    shown = []
    for terminal in (True, False):
        console = Console(width=100, file=io.StringIO(), color_system=None, force_terminal=terminal)
        console.print(Sparkline(rows))
        shown.append(console.file.getvalue().strip())
    assert shown == ["Sizes in this order, whichever way they lean: █·", ""]


def test_a_reading_names_the_words_at_both_ends_and_what_their_values_mean(reading):
    view = "\n".join(printed(reading_view(reading), width=200))
    leans = sorted(reading.items, key=lambda item: -item.value)
    assert f"highest: {leans[0].unit} ({leans[0].value:+.2f})" in view
    assert f"lowest: {leans[-1].unit} ({leans[-1].value:+.2f})" in view
    assert reading.about.idea in view


@pytest.mark.parametrize("counted", ["words", "questions"])
def test_what_was_counted_is_called_by_its_name(reading, counted):
    text = "\n".join(printed(reading_view(dataclasses.replace(reading, counted=counted)), width=120))
    assert f"{reading.n_units} {counted}, {reading.n_items} items" in text
