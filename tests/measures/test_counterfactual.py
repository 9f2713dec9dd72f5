"""Counterfactual pairs: by hand, by brute force, and bad input."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tiltmeter.errors import BadInput
from tiltmeter.measures import counterfactual


def test_the_difference_and_its_exact_p_by_hand() -> None:
    # Sums by scenario 2, 1, 3: of eight ways to set signs, two are as extreme as all alike.
    found = counterfactual([1, 1, 1, 3], [0, 0, 0, 0], scenarios=["a", "a", "b", "c"])
    assert (found.first, found.second, found.difference) == (1.5, 0.0, 1.5)
    assert (found.p_value, found.exact) == (2 / 8, True)


def test_p_is_the_larger_of_those_over_scenarios_and_over_names() -> None:
    table = np.zeros((6, 4))
    table[:, 0] = 1.0  # one pair of names makes the whole difference
    scenarios = [f"s{i}" for i in range(6) for _ in range(4)]
    names = [f"n{j}" for j in range(4)] * 6
    alone = counterfactual(table.ravel(), np.zeros(24), scenarios=scenarios)
    both = counterfactual(table.ravel(), np.zeros(24), scenarios=scenarios, names=names)
    assert alone.p_value == 2 / 64
    assert both.by_names is not None
    assert both.p_value == both.by_names.p_value == 1.0
    assert both.ci.low <= 0 < alone.ci.low


def _by_brute_force(differences: np.ndarray, clusters: list[str]) -> float:
    sums = [differences[[one == name for one in clusters]].sum() for name in dict.fromkeys(clusters)]
    totals = [
        abs(sum(s * v for s, v in zip(signs, sums, strict=True)))
        for signs in itertools.product((1, -1), repeat=len(sums))
    ]
    return float(np.mean([total >= abs(sum(sums)) - 1e-9 for total in totals]))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-3, 3), st.integers(-3, 3)), min_size=4, max_size=14))
def test_p_is_that_of_all_ways_to_exchange_the_versions_and_swapping_them_changes_the_sign(pairs) -> None:
    scenarios = [f"s{place}" for place, _, _ in pairs]
    if len(set(scenarios)) < 2:
        return
    first, second = (np.array([pair[side] for pair in pairs], float) for side in (1, 2))
    found = counterfactual(first, second, scenarios=scenarios)
    turned = counterfactual(second, first, scenarios=scenarios)
    assert found.p_value == pytest.approx(_by_brute_force(first - second, scenarios))
    assert (turned.difference, turned.p_value) == (-found.difference, pytest.approx(found.p_value))
    assert found.difference == pytest.approx(found.first - found.second)


@pytest.mark.parametrize(
    ("first", "second", "scenarios"), [([1, 2], [1], ["a", "b"]), ([1, 2], [1, 2], ["a"]), ([1, 2], [1, 2], ["a", "a"])]
)
def test_bad_input_is_one_line(first, second, scenarios) -> None:
    with pytest.raises(BadInput) as caught:
        counterfactual(first, second, scenarios=scenarios)
    assert "\n" not in str(caught.value)
