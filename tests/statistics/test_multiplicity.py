"""Adjusted p-values by hand, against their definitions and against statsmodels."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from tiltmeter.errors import BadInput
from tiltmeter.statistics import benjamini_hochberg, holm

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=10)


def test_holm_by_hand():
    # sorted .01 .03 .04 times 3, 2, 1: .03 .06 .04, made to rise: .03 .06 .06
    np.testing.assert_allclose(holm([0.01, 0.04, 0.03]), [0.03, 0.06, 0.06])


def test_benjamini_hochberg_by_hand():
    # sorted .01 .03 .04 times 3/1, 3/2, 3/3: .03 .045 .04, made to rise from the end: .03 .04 .04
    np.testing.assert_allclose(benjamini_hochberg([0.01, 0.04, 0.03]), [0.03, 0.04, 0.04])


@given(P_VALUES)
def test_holm_is_its_definition(p):
    order = np.argsort(p, kind="stable")
    expected, largest = np.empty(len(p)), 0.0
    for rank, position in enumerate(order):
        largest = max(largest, min(1.0, (len(p) - rank) * p[position]))
        expected[position] = largest
    np.testing.assert_allclose(holm(p), expected, atol=1e-12)


@given(P_VALUES)
def test_benjamini_hochberg_is_its_definition(p):
    order = np.argsort(p, kind="stable")[::-1]
    expected, smallest = np.empty(len(p)), 1.0
    for i, position in enumerate(order):
        smallest = min(smallest, p[position] * len(p) / (len(p) - i))
        expected[position] = smallest
    np.testing.assert_allclose(benjamini_hochberg(p), expected, atol=1e-12)


@pytest.mark.parametrize(("adjust", "name"), [(holm, "holm"), (benjamini_hochberg, "fdr_bh")])
def test_adjusted_p_values_are_statsmodels(adjust, name):
    p = np.random.default_rng(0).beta(0.5, 2, size=40).round(3)
    np.testing.assert_allclose(adjust(p), multipletests(p, method=name)[1], atol=1e-12)


@given(P_VALUES)
def test_adjusting_never_lowers_a_p_value(p):
    found = benjamini_hochberg(p)
    assert (found >= np.array(p) - 1e-15).all()
    assert (holm(p) >= found - 1e-12).all()
    assert (holm(p) <= 1).all()


def test_no_tests_have_no_p_values():
    assert holm([]).size == benjamini_hochberg([]).size == 0


@pytest.mark.parametrize("p", [[1.2], [-0.1], [float("nan")], [[0.1], [0.1, 0.2]], [[0.1]], ["small"]])
@pytest.mark.parametrize("adjust", [holm, benjamini_hochberg])
def test_numbers_that_are_no_p_values_are_an_error(p, adjust):
    with pytest.raises(BadInput, match="between 0 and 1"):
        adjust(p)
