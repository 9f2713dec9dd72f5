from __future__ import annotations

import pytest

from tiltmeter.readings import Poles, p_number, tilt_in_words
from tiltmeter.statistics import Interval


def test_a_tilt_is_said_with_its_direction_its_size_and_its_interval():
    said = tilt_in_words(("men", "women"), ("work", "home"), 0.61, Interval(0.2, 1.0, 0.95, "bootstrap"))
    assert said == (
        "A medium tilt in these words: men towards work, women towards home (d = 0.61, 95% interval 0.20 to 1.00)."
    )


def test_a_negative_tilt_is_said_from_the_side_of_the_other_group():
    groups, poles = ("men", "women"), ("work", "home")
    assert Poles.crossed(groups, poles).side(-1.3) == "women → work, men → home"
    said = tilt_in_words(groups, poles, -1.3, Interval(-1.6, -0.9, 0.95, "bootstrap"))
    assert said.startswith("A large tilt in these words: women towards work, men towards home (d = -1.30")


@pytest.mark.parametrize("p", [1e-300, 0.00009, 0.0001, 0.00999, 0.0999, 0.5, 1.0])
def test_a_p_value_is_never_written_as_zero(p):
    written = p_number(p)
    assert float(written.removeprefix("< ")) > 0
    assert written.startswith("<") == (p < 0.0001)
