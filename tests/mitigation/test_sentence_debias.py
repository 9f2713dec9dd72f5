from __future__ import annotations

import numpy as np
import pytest

from tests.mitigation.planted_groups import as_pairs, planted, separable
from tiltmeter.errors import BadInput
from tiltmeter.mitigation import sentence_debias


def test_it_removes_the_direction_of_the_sentences_and_keeps_a_bias_in_another():
    made = sentence_debias([list(pair.values()) for pair in as_pairs()])
    (one, groups), (two, _) = planted(1), planted(2)
    assert separable(made.apply(one), groups) == pytest.approx(0.5, abs=0.1)
    assert separable(made.apply(two), groups) > 0.65


def test_a_second_direction_takes_what_differs_next():
    sets = [[[3.0, 1.0, 0.0], [-3.0, 1.0, 0.0]], [[0.0, 1.0, 1.0], [0.0, 1.0, -1.0]]]
    assert np.abs(sentence_debias(sets, rank=2).apply([[5.0, 6.0, 7.0]])[0]) == pytest.approx([0.0, 6.0, 0.0])


def test_a_rank_too_high_for_the_sentences_is_refused():
    with pytest.raises(BadInput, match="a rank of 3 is too high or too low: 1 sets"):
        sentence_debias([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]], rank=3)
