"""A quick calibration; benchmarks/calibration.py runs the long one.

Bounds are the nominal rate plus or minus 3.3 binomial standard errors of the number of simulations (two-sided
chance of a false alarm .001 a case), because a permutation test of continuous scores is exact and the bootstrap
nearly so. Seeds are fixed, so a case that passes keeps passing.
"""

from __future__ import annotations

import math

import pytest
from benchmarks import calibration


def reach(rate: float, simulations: int) -> float:
    return 3.3 * math.sqrt(rate * (1 - rate) / simulations)


def test_false_positives_by_word_are_nominal_and_by_sentence_are_not():
    runs = 200
    found = dict(zip(["8", "25", "0", "0s", ".3", ".3s", "1", "1s"], rates(runs), strict=True))
    for ours in ("8", "25", "0", ".3", "1"):
        assert found[ours] == pytest.approx(0.05, abs=reach(0.05, runs))
    # sentences of one word are alike as soon as words differ: 90 sentences are then no 90 observations
    assert found["0s"] == pytest.approx(0.05, abs=reach(0.05, runs))
    assert found[".3s"] > 0.4
    assert found["1s"] > 0.65


def rates(runs):
    return [rate for _, rate in calibration.false_positives(runs)]


@pytest.mark.parametrize("n", [8, 25, 100])
@pytest.mark.parametrize("effect", [0.0, 0.9, 1.66])
def test_intervals_hold_the_planted_effect_as_often_as_they_say(n, effect):
    runs = 200
    found = calibration.coverage(calibration.normal(n, effect), effect, runs)
    assert found >= 0.95 - reach(0.95, runs)


def test_intervals_by_word_hold_in_clustered_and_skewed_scores():
    runs = 200
    assert calibration.coverage(calibration.clustered(11, 0.9), 0.9, runs) >= 0.95 - reach(0.95, runs)
    assert calibration.coverage(calibration.skewed(25, 0.9), 0.9, runs) >= 0.92 - reach(0.95, runs)


def test_whole_measurements_have_the_p_values_of_their_scores():
    assert calibration.whole_measurements(10) == "30 of 30"
