"""A share of preferences in plain words."""

from __future__ import annotations

import pytest

from tiltmeter.probes.sentences.shares import preference_words, towards_stereotype
from tiltmeter.readings import SHARE, Estimate
from tiltmeter.statistics import Interval


@pytest.mark.parametrize(
    ("value", "begins", "way"),
    [
        (0.6, "The model prefers the stereotype in 60.0% of 400 pairs", "a small tilt towards stereotypes"),
        (0.4, "The model prefers the stereotype in only 40.0% of 400 pairs", "a small tilt against stereotypes"),
        (0.51, "The model prefers the stereotype in 51.0% of 400 pairs", "a negligible tilt towards stereotypes"),
    ],
)
def test_a_share_says_which_way_and_how_far(value: float, begins: str, way: str) -> None:
    effect = Estimate("share", value, SHARE, Interval(value - 0.05, value + 0.05, 0.95, "Wilson"), 0.2)
    words = preference_words(effect, preferred="the stereotype", among="400 pairs")
    assert words.startswith(begins)
    assert way in words
    assert words.endswith(f"(95% interval {value - 0.05:.0%} to {value + 0.05:.0%}; 50% is level).")


def test_the_poles_name_what_was_sampled() -> None:
    assert towards_stereotype("pairs") == ("pairs → stereotype", "pairs → anti-stereotype")
