from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.mitigation.planted_groups import as_pairs, planted, separable
from tiltmeter.errors import BadInput
from tiltmeter.mitigation import hard


def test_hand_computed_pair():
    # (1, 0, 1)/√2 and (-1, 0, 1)/√2: the direction is x, the middle (0, 0, 1/√2), so both keep √.5 along x.
    made = hard([{"he": [1.0, 0.0, 1.0], "she": [-1.0, 0.0, 1.0]}])
    assert made.replaced["he"] == pytest.approx([np.sqrt(0.5), 0.0, np.sqrt(0.5)])
    assert made.replaced["she"] == pytest.approx([-np.sqrt(0.5), 0.0, np.sqrt(0.5)])
    assert made.apply([[2.0, 3.0, 4.0]])[0] == pytest.approx([0.0, 0.6, 0.8])


@given(st.integers(0, 99))
def test_every_neutral_word_is_equally_far_from_the_words_of_a_pair(seed):
    made = hard(as_pairs(seed=seed))
    neutral = made.apply(np.random.default_rng(seed).normal(size=(9, 20)))
    for i in range(6):
        one, two = made.replaced[f"he{i}"], made.replaced[f"she{i}"]
        assert neutral @ one == pytest.approx(neutral @ two, abs=1e-9)
        assert [np.linalg.norm(one), np.linalg.norm(two)] == pytest.approx([1.0, 1.0])


def test_three_groups_need_two_directions():
    sets = [{"church": [1.0, 0.0, 0.0, 1], "mosque": [0.0, 1.0, 0.0, 1], "synagogue": [0.0, 0.0, 1.0, 1]}]
    neutral = hard(sets, rank=2).apply([[1.0, 2.0, 3.0, 4.0]])[0]
    # What is left is what the three share: (1, 1, 1, .) and the last axis.
    assert neutral[:3] == pytest.approx([neutral[0]] * 3)
    members = np.stack(list(hard(sets, rank=2).replaced.values()))
    assert members @ neutral == pytest.approx([members[0] @ neutral] * 3)


def test_words_to_keep_and_words_of_the_pairs_stay_when_nothing_is_equalised():
    made = hard([{"he": [1.0, 0.0], "she": [-1.0, 0.1]}], keep={"beard": [3.0, 4.0]}, equalise=False)
    assert made.replaced["beard"] == pytest.approx([0.6, 0.8])
    assert made.replaced["he"] == pytest.approx([1.0, 0.0])


def test_it_removes_a_bias_in_one_direction_and_keeps_one_in_another():
    one, groups = planted(1)
    two, _ = planted(2)
    made = hard(as_pairs())
    assert separable(one, groups) > 0.95
    assert separable(made.apply(one), groups) == pytest.approx(0.5, abs=0.1)
    assert separable(made.apply(two), groups) > 0.65


def test_a_pair_without_a_difference_along_the_direction_is_refused():
    pairs = [{"he": [1.0, 0.0, 0.0], "she": [-1.0, 0.0, 0.0]}, {"a": [0.0, 1.0, 0.0], "b": [0.0, 1.0, 0.0]}]
    with pytest.raises(BadInput, match="cannot be equalised"):
        hard(pairs)
