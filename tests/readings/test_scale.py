from __future__ import annotations

import pytest

from tiltmeter.readings import Poles, p_number, tilt_in_words
from tiltmeter.statistics import Interval


def said(d: float, low: float, high: float, p: float) -> str:
    interval = Interval(low, high, 0.95, "bootstrap")
    return tilt_in_words(("men", "women"), ("work", "home"), d, interval, p, (8, 8), detectable=1.2)


def test_a_clear_tilt_is_said_with_its_direction_its_size_and_its_uncertainty():
    assert said(0.61, 0.2, 1.0, 0.012) == (
        "Men lean towards work and women towards home: a medium tilt (d = 0.61, 95% interval 0.20 to 1.00, p = 0.012). "
        "Taken alone, it is hard to explain by chance."
    )


def test_a_negative_tilt_is_said_from_the_side_of_the_other_group():
    sentence = said(-1.3, -1.6, -0.9, 0.00001)
    assert Poles.crossed(("men", "women"), ("work", "home")).side(-1.3) == "women → work, men → home"
    assert sentence.startswith("Women lean towards work and men towards home: a large tilt (d = -1.30")
    assert "p < 0.0001" in sentence


def test_a_clear_test_whose_interval_reaches_zero_says_so():
    assert said(0.91, -0.04, 1.52, 0.0023).endswith(
        "but the interval reaches 0: with other words for the same groups it might vanish."
    )


def test_no_clear_tilt_says_what_could_have_been_found():
    sentence = said(0.5, -0.3, 1.1, 0.3)
    assert sentence.startswith("No clear tilt of men against women between work and home (d = 0.50,")
    assert "With 8 + 8 words only a tilt of about 1.2 or more would be found reliably" in sentence


@pytest.mark.parametrize("p", [1e-300, 0.00009, 0.0001, 0.00999, 0.0999, 0.5, 1.0])
def test_a_p_value_is_never_written_as_zero(p):
    written = p_number(p)
    assert float(written.removeprefix("< ")) > 0
    assert written.startswith("<") == (p < 0.0001)
