"""The verdict: four states, and words that never contradict them."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.views.made import d, reading, share
from tiltmeter.readings import CORRELATION, DIFFERENCE, Correction, Estimate, Power, Reading
from tiltmeter.statistics import Interval


def judged(effect: Estimate, p_corrected: float | None = None, *, n: int = 14, **fields: object) -> Reading:
    correction = None if p_corrected is None else Correction(p_corrected, n)
    return reading(effect=effect, correction=correction, **fields)


def within(estimate: Estimate, low: float, high: float) -> Estimate:
    return dataclasses.replace(estimate, ci=Interval(low, high, 0.95, "bootstrap"))


@pytest.mark.parametrize(
    ("effect", "p_corrected", "state"),
    [
        (within(d(0.9, p=0.001), 0.4, 1.4), 0.014, "clear"),
        (within(d(0.9, p=0.03), 0.1, 1.7), 0.42, "suggestive"),
        (within(d(0.9, p=0.2), -0.4, 2.0), 0.9, "undecided"),
        (within(d(0.02, p=0.8), -0.15, 0.19), 1.0, "level"),
        # measurable, and smaller than what matters
        (within(d(0.1, p=0.001), 0.05, 0.15), 0.014, "level"),
        (within(share(0.51, p=0.6), 0.45, 0.55), 1.0, "level"),
        (within(share(0.51, p=0.6), 0.44, 0.55), 1.0, "undecided"),
        (Estimate("r", 0.01, CORRELATION, Interval(-0.08, 0.1, 0.95, "t"), 0.9), 1.0, "level"),
        # a scale on which nothing is known to matter can show no absence
        (Estimate("cosines", 0.0, DIFFERENCE, Interval(-1e-9, 1e-9, 0.95, "t"), 1.0), 1.0, "undecided"),
        (d(0.9, p=None), None, "untested"),
    ],
)
def test_the_state_follows_from_the_corrected_p_the_p_alone_and_the_interval(effect, p_corrected, state):
    assert judged(effect, p_corrected).verdict.state == state


@pytest.mark.parametrize(
    ("effect", "p_corrected", "state"),
    [
        (d(1.2, p=0.001), 0.002, "works"),
        (d(1.2, p=0.03), 0.06, "does not work"),
        (d(-1.2, p=0.001), 0.002, "does not work"),  # it leans the wrong way
        (within(d(0.0, p=0.9), -0.1, 0.1), 0.9, "does not work"),
    ],
)
def test_a_control_works_where_it_leans_as_it_should(effect, p_corrected, state):
    assert judged(effect, p_corrected, control=True, family="control").verdict.state == state


@pytest.mark.parametrize(
    ("effect", "power", "state"),
    [
        (d(1.2, p=0.12), Power(1.82, 1e-4), "undecided"),  # two flowers in the vocabulary: even d = 1.5 would be missed
        (d(0.2, p=0.7), Power(None, 1 / 3), "undecided"),
        (d(0.2, p=0.7), Power(1.1, 1e-4), "does not work"),
        (d(-1.9, p=0.01), Power(1.82, 1e-4), "does not work"),  # clear, and the wrong way
        (d(1.9, p=0.01), Power(1.82, 1e-4), "works"),
        (share(0.6, p=0.7), Power(0.4, 1e-4), "does not work"),  # how far a control leans on this scale is not known
    ],
)
def test_a_control_fails_only_where_its_test_could_have_seen_it_work(effect, power, state):
    found = judged(effect, control=True, family="control", power=power)
    assert found.verdict.state == state
    assert found.verdict.sentence.startswith(f"The control {'is undecided' if state == 'undecided' else state}")
    assert ("other verdicts on this model mean little" in found.verdict.sentence) == (state == "does not work")


SENTENCES = {
    "clear": ("Clear: p = 0.014 after correction for this model's 14 bias tests.", d(0.9, p=0.001), 0.014),
    "suggestive": (
        "Suggestive: p = 0.030 on its own, but not significant after correction for this model's 14 bias tests.",
        d(0.9, p=0.03),
        0.42,
    ),
    "undecided": (
        "Undecided: chance could explain it (p = 0.20). Only a tilt of 1.1 or more would be found "
        "reliably (8 times in 10), so this does not show balance.",
        d(0.9, p=0.2),
        1.0,
    ),
    "level": (
        "Level: the whole interval lies within ±0.2, the smallest effect that matters.",
        within(d(0.0, p=0.8), -0.1, 0.1),
        1.0,
    ),
}


@pytest.mark.parametrize("state", SENTENCES)
def test_each_state_has_its_sentence_with_one_p_value(state):
    sentence, effect, p_corrected = SENTENCES[state]
    found = judged(effect, p_corrected, power=Power(1.1, 0.0002))
    assert found.verdict.sentence == sentence
    assert found.plain_words == f"{found.finding} {sentence}"
    assert sentence.count("p = ") <= 1


def test_a_test_that_cannot_be_significant_says_so():
    found = judged(d(0.9, p=0.34), power=Power(None, 1 / 3))
    assert "No result could be significant with so few words (the smallest possible p is 0.33)" in found.plain_words


def test_what_can_never_be_significant_is_never_level():
    narrow = within(share(0.5, p=1.0), 0.48, 0.52)
    assert judged(narrow).verdict.state == "level"
    assert judged(narrow, power=Power(0.04, 0.001)).verdict.state == "level"
    # the interval of a few clusters ends at the outermost of them
    assert judged(narrow, power=Power(None, 0.25)).verdict.state == "undecided"


def test_what_could_have_been_found_is_said_in_the_units_of_the_scale():
    words = judged(share(0.52, p=0.7), power=Power(0.16, 0.001)).plain_words
    assert "Only a share below 34% or above 66% would be found reliably (8 times in 10)" in words


def test_an_interval_that_reaches_level_is_mentioned_beside_a_small_p():
    found = judged(within(d(0.9, p=0.001), -0.1, 1.9), 0.014)
    assert found.verdict.sentence.endswith("14 bias tests, though the interval reaches level.")


def test_a_direction_is_known_of_every_lean_and_named_of_clear_ones():
    clear, chance = judged(d(-0.9, p=0.001)), judged(d(-0.9, p=0.5))
    assert clear.leans == clear.direction == chance.direction == "women → career, men → family"
    assert chance.leans == "no clear lean"


ENDS = st.floats(-3, 3)
P = st.floats(1e-6, 1)


@given(st.tuples(ENDS, ENDS, ENDS).map(sorted), P, P, st.booleans())
def test_words_never_contradict_the_state(ends, p, p_corrected, control):
    low, value, high = ends
    effect = within(d(value, p=p), low, high)
    found = judged(effect, max(p, p_corrected), control=control, family="control" if control else "bias")
    state, words = found.verdict.state, found.plain_words
    assert words.removeprefix(found.finding).strip().lower().startswith(("the control " if control else "") + state)
    assert ("chance could explain it" in words) == (state == "undecided")
    assert (found.leans == "no clear lean") == (state not in ("clear", "works"))
    if state in ("clear", "works"):
        assert max(p, p_corrected) <= 0.05
