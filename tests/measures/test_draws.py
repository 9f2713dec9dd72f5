"""Which contexts are drawn of each word."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tiltmeter.measures import draw_contexts


def test_a_word_is_drawn_with_replacement_only_where_it_has_fewer_contexts_than_draws():
    picks = draw_contexts([20, 30, 7], draws=20, seed=1)
    assert sorted(picks[:, 0].tolist()) == list(range(20))
    assert len(set(picks[:, 1].tolist())) == 20
    assert set(picks[:, 2].tolist()) <= set(range(7))
    assert picks.min() == 0


def test_every_context_is_drawn_equally_often():
    counts = np.bincount(draw_contexts([4], draws=40_000)[:, 0])
    assert counts == pytest.approx(10_000, abs=4 * math.sqrt(40_000 * 3 / 16))


def test_fixed_sampling_is_the_same_whatever_the_other_words_and_the_model():
    one = draw_contexts([5, 8, 6], draws=100, sampling="fixed", seed=9)
    two = draw_contexts([2, 8, 40], draws=100, sampling="fixed", seed=9)
    assert np.array_equal(one[:, 1], two[:, 1])
    assert not np.array_equal(one[:, 1], draw_contexts([5, 8, 6], draws=100, sampling="fixed", seed=8)[:, 1])
    # Words of as many contexts get draws of their own.
    same = draw_contexts([8, 8], draws=100, sampling="fixed")
    assert not np.array_equal(same[:, 0], same[:, 1])
