from __future__ import annotations

import pytest

from tests.views.made import d, reading
from tiltmeter.readings import D, Estimate
from tiltmeter.statistics import Interval
from tiltmeter.views.phrases import said_of, sentence, shown_leans, shown_titles, value_text


@pytest.mark.parametrize(
    ("value", "ci", "text"),
    [
        (1.234, (0.9, 1.5), "1.23 [0.90, 1.50]"),
        (0.0123, (0.001, 0.02), "0.012 [0.001, 0.020]"),
        (0.0, None, "0.00"),
        (-0.5, None, "-0.50"),
    ],
)
def test_small_numbers_get_a_digit_more(value, ci, text):
    interval = Interval(*ci, 0.95, "bootstrap") if ci else None
    assert value_text(Estimate("d", value, D, interval)) == text


def test_what_is_not_significant_after_the_correction_is_no_clear_lean():
    made = reading(effect=d(-0.9, p=0.01))
    assert shown_leans(made, 0.04) == "women → career, men → family"
    assert shown_leans(made, 0.06) == "no clear lean"
    assert sentence(made, 0.04) == made.plain_words
    assert sentence(made, 0.06) == (
        "Plain words of career. It is not statistically significant after Holm's correction: no clear lean."
    )


def test_a_reading_without_a_direction_says_what_is_better():
    assert said_of(reading(poles=None), "T", None) == (
        "own:one, T: effect size d 0.90 [0.60, 1.20]; nearer to 0 is better"
    )


def test_titles_of_one_model_are_told_apart_by_their_ids():
    twice = [reading(id="a", title="T"), reading(id="b", title="T"), reading("own:two", "a", title="T")]
    assert shown_titles(twice) == ["T (a)", "T (b)", "T"]
