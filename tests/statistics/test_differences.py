"""Differences between two measurements of the same units."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_rel

from tiltmeter.statistics import Interval, holm
from tiltmeter.statistics.differences import Change, align, holm_bounds, independent_change, influence, paired_change
from tiltmeter.statistics.groups import Floats

FIRST = np.array([0.2, 0.5, -0.1, 0.9, 0.4, 0.3])
SECOND = np.array([0.4, 0.4, 0.2, 1.3, 0.7, 0.2])


def mean_of(values: Floats) -> Callable[[Floats], Floats]:
    return lambda weights: weights @ values / weights.sum(axis=1)


def test_of_means_it_is_the_paired_t_test() -> None:
    change = paired_change(mean_of(FIRST), mean_of(SECOND), strata=[0] * 6)
    assert change is not None
    expected = ttest_rel(SECOND, FIRST)
    assert change.p_value(change.difference) == pytest.approx(float(expected.pvalue), rel=1e-6)
    interval, known = change.interval(), expected.confidence_interval()
    assert (interval.low, interval.high) == pytest.approx((float(known.low), float(known.high)), rel=1e-6)


def test_of_two_groups_of_paired_differences_it_is_welchs_standard_error() -> None:
    first, second = np.arange(7.0), np.array([1.0, 1, 3, 3, 4, 7, 7])
    strata = [0, 0, 0, 1, 1, 1, 1]
    one, two = np.array(strata) == 0, np.array(strata) == 1

    def gap(values: Floats) -> Callable[[Floats], Floats]:
        return lambda w: (w * one) @ values / (w * one).sum(axis=1) - (w * two) @ values / (w * two).sum(axis=1)

    change = paired_change(gap(first), gap(second), strata=strata)
    assert change is not None
    moved = second - first
    assert change.standard_error**2 == pytest.approx(moved[one].var(ddof=1) / 3 + moved[two].var(ddof=1) / 4, rel=1e-6)


def test_the_same_measurement_twice_has_not_changed() -> None:
    change = paired_change(mean_of(FIRST), mean_of(FIRST), strata=[0] * 6)
    assert change is not None
    assert (change.difference, change.p_value(change.difference)) == (0.0, 1.0)


def test_a_change_in_which_all_units_agree_is_as_rare_as_their_signs() -> None:
    change = paired_change(mean_of(FIRST), mean_of(FIRST + 0.5), strata=[0] * 6)
    assert change is not None
    assert change.p_value(change.difference, sided="greater") == 1 / 64
    assert change.p_value(change.difference) == 2 / 64
    assert change.p_value(-0.5, sided="greater") == 1.0


def test_one_unit_a_stratum_tells_nothing_about_noise() -> None:
    assert paired_change(mean_of(FIRST), mean_of(SECOND), strata=[0, 0, 0, 0, 0, 1]) is None


def test_a_statistic_that_does_not_exist_gives_no_change() -> None:
    def undefined(weights: Floats) -> Floats:
        return np.full(len(weights), np.nan)

    assert paired_change(mean_of(FIRST), undefined, strata=[0] * 6) is None


def test_influence_of_a_mean_is_the_distance_from_it() -> None:
    assert influence(mean_of(FIRST), 6) == pytest.approx((FIRST - FIRST.mean()) / 6, abs=1e-7)


def test_units_that_count_little_give_few_degrees_of_freedom() -> None:
    whole = paired_change(mean_of(FIRST), mean_of(SECOND), strata=[0] * 6)
    few = paired_change(mean_of(FIRST), mean_of(SECOND), strata=[0] * 6, leverage=np.array([1.0, 1, 0, 0, 0, 0]))
    assert whole is not None
    assert few is not None
    assert (whole.df, few.df) == (pytest.approx(5), pytest.approx(2))


def test_aligning_takes_over_the_fit_and_the_spread() -> None:
    design = np.stack([np.ones(6), np.arange(6.0)], axis=1)
    moved = align(SECOND[:, None], FIRST[:, None], design, np.ones(6))[:, 0]
    fit, own = (np.linalg.lstsq(design, each, rcond=None) for each in (moved, FIRST))
    assert fit[0] == pytest.approx(own[0])
    assert float(fit[1][0]) == pytest.approx(float(own[1][0]))


def test_independent_errors_add_in_squares() -> None:
    one, two = (0.2, Interval(0.2 - 1.959964, 0.2 + 1.959964, 0.95, "")), (0.5, Interval(0.5, 0.5, 0.95, ""))
    change = independent_change(one, two)
    assert (change.difference, change.standard_error) == pytest.approx((0.3, 1.0), abs=1e-6)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0.001, 0.3))
def test_bounds_say_what_holms_adjusted_p_values_say(p_values: list[float], alpha: float) -> None:
    p = np.array(p_values)
    adjusted = holm(p)
    clear = np.abs(adjusted - alpha) > 1e-9  # on the edge, rounding decides
    assert ((p <= holm_bounds(p, alpha)) == (adjusted <= alpha))[clear].all()


@given(st.floats(-2, 2), st.floats(0.01, 2), st.floats(1, 50))
def test_p_values_are_probabilities_and_the_two_sides_add_up(value: float, error: float, df: float) -> None:
    change = Change(value, error, df, 10)
    greater, less = (change.p_value(each, sided="greater") for each in (value, -value))
    assert greater + less == pytest.approx(1.0)
    assert change.p_value(value) == pytest.approx(2 * min(greater, less))
