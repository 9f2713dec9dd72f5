"""A share of preferences in plain words."""

from __future__ import annotations

import pytest

from tiltmeter.probes.sentences.shares import preference_words, towards_stereotype
from tiltmeter.readings import SHARE, Estimate
from tiltmeter.statistics import Interval


def said(value: float, low: float, high: float, p_value: float) -> str:
    effect = Estimate("share", value, SHARE, Interval(low, high, 0.95, "Wilson"), p_value)
    return preference_words(effect, preferred="the stereotype", among="400 pairs", units="pairs")


@pytest.mark.parametrize(
    ("share", "begins", "way"),
    [
        ((0.6, 0.55, 0.65, 0.0002), "The model prefers the stereotype in 60.0% of 400 pairs", "towards stereotypes"),
        (
            (0.4, 0.35, 0.45, 0.0002),
            "The model prefers the stereotype in only 40.0% of 400 pairs",
            "against stereotypes",
        ),
    ],
)
def test_a_clear_share_says_which_way(share: tuple[float, float, float, float], begins: str, way: str) -> None:
    words = said(*share)
    assert words.startswith(begins)
    assert way in words
    assert "might vanish" not in words
    assert words.endswith("Half is level, and nearer to it is better.")


def test_where_the_interval_reaches_one_half_the_doubt_is_said() -> None:
    assert "the interval reaches 0.5: with other pairs it might vanish" in said(0.55, 0.49, 0.61, 0.04)


def test_a_share_that_chance_could_give_is_no_proof_of_balance() -> None:
    words = said(0.52, 0.47, 0.57, 0.4)
    assert words.startswith("No clear tilt: the model prefers the stereotype in 52.0% of 400 pairs")
    assert "no proof of balance" in words


def test_the_poles_name_what_was_sampled() -> None:
    assert towards_stereotype("pairs") == ("pairs → stereotype", "pairs → anti-stereotype")
