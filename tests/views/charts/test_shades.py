"""Colours of cells: legible on both pages, paler where less sure."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiltmeter.readings import STATES
from tiltmeter.views.charts import style
from tiltmeter.views.charts.shades import AWAY, PAGES, STEPS, TOWARDS, contrast, least_contrast, no_scale, shade

COLOURS = st.integers(0, 0xFFFFFF).map(lambda number: f"#{number:06x}")


def test_contrast_is_that_of_wcag():
    # Published examples: grey #767676 is the lightest with 4.5:1 on white, red has 4.00.
    assert contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.005)
    assert contrast("#ff0000", "#ffffff") == pytest.approx(4.00, abs=0.005)


@given(COLOURS, COLOURS)
def test_contrast_is_symmetric_and_between_1_and_21(one, two):
    assert contrast(one, two) == contrast(two, one)
    assert 1 <= contrast(one, two) <= 21
    assert contrast(one, one) == 1


@pytest.mark.parametrize("state", [*STATES, "works", "does not work"])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_text_in_every_cell_has_a_contrast_of_at_least_4_5(state, sign):
    for step in range(len(STEPS)):
        assert least_contrast(shade(step, sign, state)) >= 4.5
    assert least_contrast(no_scale()) >= 4.5


def test_the_larger_the_darker_and_the_less_sure_the_paler():
    for state in ("clear", "suggestive", "undecided"):
        opacity = [shade(step, 1.0, state).opacity for step in range(4)]
        assert opacity == sorted(opacity)
    for step in range(2, 4):
        sure = [shade(step, -1.0, state).opacity for state in ("clear", "suggestive", "undecided", "level")]
        assert sure == sorted(sure, reverse=True)
        assert len(set(sure)) == 4


def test_no_colour_stands_for_two_things():
    kinds = [style.COLOURS, style.GROUP_COLOURS, (TOWARDS, AWAY)]
    for one, two in itertools.combinations(kinds, 2):
        assert not set(one) & set(two)


@pytest.mark.parametrize("colour", [*style.GROUP_COLOURS, TOWARDS, AWAY])
def test_marks_stand_out_from_either_page(colour):
    for paper, _ in PAGES:
        assert contrast(colour, paper) >= 3
