"""Scores summed up by unit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiltmeter.errors import BadInput
from tiltmeter.statistics import by_unit

SCORES = st.lists(st.floats(-100, 100), min_size=1, max_size=30)


def test_scores_of_a_word_become_their_mean_and_mean_square():
    # he: (1 + 3) / 2 = 2 and (1 + 9) / 2 = 5; man: 5 and 25
    group = by_unit([1.0, 5.0, 3.0], ["he", "man", "he"])
    assert group.means.tolist() == [2.0, 5.0]
    assert group.squares.tolist() == [5.0, 25.0]
    assert (group.n, group.observations) == (2, 3)


def test_without_units_every_score_is_its_own():
    group = by_unit([1.0, 3.0])
    assert group.means.tolist() == [1.0, 3.0]
    assert group.squares.tolist() == [1.0, 9.0]


@given(SCORES, st.randoms(use_true_random=False))
def test_units_keep_the_sums_of_scores_and_squares(scores, random):
    units = [random.choice("abc") for _ in scores]
    group = by_unit(scores, units)
    counts = np.array([units.count(unit) for unit in dict.fromkeys(units)])
    assert (group.means * counts).sum() == pytest.approx(sum(scores), abs=1e-9)
    assert (group.squares * counts).sum() == pytest.approx(sum(score**2 for score in scores), abs=1e-9)


@given(SCORES, st.floats(-100, 100))
def test_counting_from_a_centre_is_subtracting_it(scores, centre):
    units = [i % 3 for i in range(len(scores))]
    moved = by_unit(scores, units).around(centre)
    direct = by_unit([score - centre for score in scores], units)
    np.testing.assert_allclose(moved.means, direct.means, atol=1e-9)
    np.testing.assert_allclose(moved.squares, direct.squares, atol=1e-8)


@pytest.mark.parametrize(
    ("scores", "units", "message"),
    [
        ([], None, "at least one number"),
        ([[1.0, 2.0]], None, "at least one number"),
        (3.0, None, "at least one number"),
        ([1.0, float("nan")], None, "NaN or infinity"),
        ([1.0, float("inf")], None, "NaN or infinity"),
        ([[1.0], [1.0, 2.0]], None, "plain list of numbers"),
        (["he"], None, "plain list of numbers"),
        ([1.0, 2.0], ["he"], "2 scores but 1 units"),
    ],
)
def test_scores_that_cannot_be_used_are_named(scores, units, message):
    with pytest.raises(BadInput, match=message):
        by_unit(scores, units)
