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


def _table(differences: np.ndarray, **options):
    rows, columns = differences.shape
    scenarios = [f"s{i}" for i in range(rows) for _ in range(columns)]
    names = [f"n{j}" for j in range(columns)] * rows
    return counterfactual(differences.ravel(), np.zeros(differences.size), scenarios=scenarios, names=names, **options)


def test_one_pair_of_names_that_makes_the_whole_difference_is_no_lean_of_the_group() -> None:
    table = np.zeros((6, 4))
    table[:, 0] = 1.0
    found = _table(table)
    assert found.by_scenario.p_value == 2 / 64
    assert found.by_names is not None
    assert found.by_names.p_value == 1.0
    assert found.p_value > 0.3
    assert found.ci.low < 0.05 < found.by_scenario.ci.low


def test_p_over_scenarios_and_names_by_hand() -> None:
    # About the mean 2 sums by name are 2 and -2: 8, times 2; squares of single pairs 4, times 4/3. So names count by
    # sqrt((16 - 16/3) / 16) = sqrt(2/3): sums 4, 4 and 4.90, 1.63. Of 16 signs 4 reach further than 8, none as far.
    found = _table(np.array([[3.0, 1.0], [3.0, 1.0]]), permutations=40_000)
    assert found.by_names is not None
    assert (found.by_scenario.p_value, found.by_names.p_value, found.exact) == (0.5, 0.5, False)
    assert found.p_value == 0.5  # never below an exact test
    table = np.array([[3.0, 1.0, 2.0, 2.0]] * 6)
    over_names = 4 * (6**2 + 6**2) / 3 - 12 * 24 / 23
    names = np.array([18.0, 6.0, 12.0, 12.0]) * np.sqrt(over_names / 96)
    signs = [np.array(list(itertools.product((1, -1), repeat=n))) for n in (6, 4)]
    null = np.abs((signs[0].sum(axis=1) * 8.0)[:, None] + (signs[1] @ names)[None])
    by_hand = (null > 48 + 1e-9).mean() + (np.abs(null - 48) <= 1e-9).mean() / 2
    assert _table(table, permutations=40_000).p_value == pytest.approx(max(by_hand, 2 / 64), abs=0.01)


def test_scenarios_that_all_agree_claim_no_more_than_their_exact_test() -> None:
    found = _table(np.array([[2.0, 2.0], [1.0, 1.0], [3.0, 3.0]]))
    assert found.p_value == found.by_scenario.p_value == 2 / 8
    assert _table(np.zeros((3, 2))).p_value == 1.0


def test_names_that_differ_beyond_chance_widen_the_interval() -> None:
    rng = np.random.default_rng(1)
    noise = rng.normal(0.5, 0.2, (12, 8))
    alike, apart = _table(noise), _table(noise + rng.permutation(np.linspace(-1, 1, 8)))
    assert apart.ci.high - apart.ci.low > 2 * (alike.ci.high - alike.ci.low)
    assert alike.p_value < 0.01 < apart.p_value
    assert alike.ci.low <= alike.difference <= alike.ci.high


@pytest.mark.parametrize("by_name", [0.0, 0.5])
def test_without_a_lean_p_is_small_about_as_often_as_it_may(by_name) -> None:
    rng = np.random.default_rng(18)
    tables = [rng.normal(0, 1, (10, 8)) + rng.normal(0, by_name, 8) for _ in range(400)]
    rate = np.mean([_table(table, permutations=499).p_value <= 0.05 for table in tables])
    assert 0.02 <= rate <= 0.08


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
