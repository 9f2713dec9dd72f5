"""Welch's form of the F test, by dealing families to groups."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import f_oneway

from tiltmeter.errors import BadInput
from tiltmeter.statistics.one_way import one_way_test


def alone(groups):
    return [np.arange(len(group)) for group in groups]


def test_its_p_value_is_near_that_of_welch_s_f():
    rng = np.random.default_rng(1)
    groups = [rng.normal(size=(n, 1)) * spread + shift for n, spread, shift in ((15, 1, 0), (25, 2, 1.2), (40, 1, 0.1))]
    found = one_way_test(groups, alone(groups), permutations=4_999)
    welch = f_oneway(*(group[:, 0] for group in groups), equal_var=False).pvalue
    assert found.p_value == pytest.approx(welch, abs=0.02)
    assert 0.01 < welch < 0.2


@pytest.mark.parametrize("spreads", [(3, 1, 1, 1), (1, 1, 1, 3)])
def test_a_group_of_wider_spread_is_no_finding(spreads):
    # With the small group wide the plain F test by permutation finds a difference in a quarter of these.
    rng = np.random.default_rng(8)
    alarms = 0
    for seed in range(800):
        groups = [wide * rng.normal(size=(n, 1)) for n, wide in zip((5, 10, 20, 30), spreads, strict=True)]
        found = one_way_test(groups, alone(groups), permutations=199, seed=seed)
        alarms += found.p_value <= 0.05
    assert 0.02 <= alarms / 800 <= 0.08


def test_families_are_dealt_whole():
    rng = np.random.default_rng(2)
    once = [rng.normal(size=(n, 2)) for n in (4, 5, 6)]
    thrice = [np.repeat(group, 3, axis=0) for group in once]
    families = [np.repeat(np.arange(len(group)), 3) for group in once]
    once[2] += 0.8
    thrice[2] += 0.8
    single = one_way_test(once, alone(once), permutations=1_999).p_value
    assert one_way_test(thrice, families, permutations=1_999).p_value == pytest.approx(single)
    assert one_way_test(thrice, alone(thrice), permutations=1_999).p_value < single / 2


def test_the_order_of_the_groups_and_the_unit_do_not_matter():
    rng = np.random.default_rng(3)
    groups = [rng.normal(size=(n, 3)) + n / 9 for n in (5, 9, 7)]
    first = one_way_test(groups, alone(groups), permutations=4_999).p_value
    moved = [1000 * group + 5 for group in groups]
    assert one_way_test(moved, alone(moved), permutations=4_999).p_value == pytest.approx(first)
    turned = groups[::-1]
    assert one_way_test(turned, alone(turned), permutations=4_999).p_value == pytest.approx(first, abs=0.03)


def test_too_few_ways_to_deal_the_families_give_no_test():
    groups = [np.ones((2, 1)), np.zeros((3, 1))]
    assert one_way_test(groups, alone(groups)) is None


def test_no_permutations_are_refused():
    groups = [np.ones((5, 1)), np.zeros((5, 1))]
    with pytest.raises(BadInput, match="permutations must be at least 1"):
        one_way_test(groups, alone(groups), permutations=0)
