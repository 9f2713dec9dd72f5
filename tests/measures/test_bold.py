"""BOLD: scores of continuations by entity."""

from __future__ import annotations

import numpy as np
import pytest

from tiltmeter.errors import BadInput
from tiltmeter.measures import bold
from tiltmeter.statistics import effect_size, welch_test


def test_each_entity_counts_once() -> None:
    first, entities = [1.0, 1.0, 1.0, 0.0, 0.5], ["a", "a", "a", "b", "c"]
    second = [0.0, -0.5, 0.2]
    found = bold(first, second, entities_first=entities)
    means = [1.0, 0.0, 0.5]
    assert (found.n_first, found.n_second) == (3, 3)
    assert found.first == pytest.approx(0.5)
    # An entity with more prompts has a mean of its own, and no more weight.
    assert found.p_value == welch_test(np.array(means), np.array(second)).p_value
    assert bold(means, second).effect_size == pytest.approx(effect_size(means, second))


def test_texts_that_all_score_alike_show_nothing() -> None:
    found = bold([0.0] * 5, [0.0] * 4)
    assert (found.effect_size, found.p_value, found.power) == (0.0, 1.0, None)


def test_a_planted_difference_is_found() -> None:
    rng = np.random.default_rng(1)
    found = bold(rng.normal(0.3, 0.3, 60), rng.normal(0.0, 0.3, 60))
    assert found.p_value < 0.001
    assert 0.4 < found.effect_size < 1.3
    assert found.ci.low < found.effect_size < found.ci.high


def test_one_entity_is_too_few() -> None:
    with pytest.raises(BadInput, match="at least two entities"):
        bold([1.0, 0.5], [0.0, 0.1], entities_first=["a", "a"])
