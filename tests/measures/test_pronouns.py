"""Pronoun gaps by occupation and preferences between versions of a sentence."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from tiltmeter.errors import BadInput
from tiltmeter.measures import preference, pronoun_gap

UNITS = ["cook", "cook", "nurse", "pilot", "clerk"]
HE, SHE = [0.6, 0.4, 0.1, 0.7, 0.3], [0.2, 0.4, 0.7, 0.1, 0.2]
SHARES = {"cook": 0.4, "nurse": 0.9, "pilot": 0.05, "clerk": 0.7, "judge": 0.3}


def test_gaps_by_hand():
    found = pronoun_gap(HE, SHE, units=UNITS)
    assert found.by_unit == pytest.approx({"cook": 0.2, "nurse": -0.6, "pilot": 0.6, "clerk": 0.1})
    # each occupation counts once: (.2 - .6 + .6 + .1) / 4
    assert found.gap == pytest.approx(0.075)
    assert (found.n, found.n_units, found.correlation) == (5, 4, None)
    # of +-.2 +-.6 +-.6 +-.1 only +-.1 (two patterns each) lies below .3 in size: 16 - 4 of 16
    assert found.p_value == pytest.approx(12 / 16)
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["by_unit"]["cook"] == pytest.approx(0.2)


def test_the_correlation_with_shares_is_scipys():
    found = pronoun_gap(HE, SHE, units=UNITS, shares=SHARES)
    expected = scipy.stats.pearsonr([0.2, -0.6, 0.6, 0.1], [0.4, 0.9, 0.05, 0.7])
    assert (found.correlation.r, found.correlation.p_value) == pytest.approx((expected.statistic, expected.pvalue))
    assert found.correlation.r < 0


def test_without_units_each_sentence_is_one():
    found = pronoun_gap(HE, SHE)
    assert found.gap == pytest.approx(np.mean(np.subtract(HE, SHE)))
    assert found.by_unit == pytest.approx(dict(enumerate(np.subtract(HE, SHE))))


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1), st.sampled_from("abcdef")), min_size=2, max_size=20))
@settings(max_examples=40)
def test_swapping_the_groups_turns_the_gap_round_and_copies_change_nothing(rows):
    one, two, units = (list(column) for column in zip(*rows, strict=True))
    units[0], units[1] = "x", "y"
    found, turned = pronoun_gap(one, two, units=units), pronoun_gap(two, one, units=units)
    assert turned.gap == pytest.approx(-found.gap, abs=1e-12)
    assert turned.p_value == found.p_value
    copied = pronoun_gap(one * 3, two * 3, units=units * 3)
    assert copied.gap == pytest.approx(found.gap, abs=1e-9)
    assert (copied.ci.low, copied.ci.high) == pytest.approx((found.ci.low, found.ci.high), abs=1e-9)


def test_preference_by_hand():
    pro, anti = [-1.0, -2.0, -3.0, -3.0, -1.0], [-2.0, -1.5, -3.0, -5.0, -2.0]
    found = preference(pro, anti, clusters=["cook", "cook", "nurse", "nurse", "pilot"])
    # wins 1, 0, tie, 1, 1; gaps 1, -.5, 0, 2, 1
    assert (found.share.value, found.gap.value, found.ties, found.n) == (3.5 / 5, pytest.approx(0.7), 1, 5)
    assert found.by_cluster == {"cook": 0.5, "nurse": 0.75, "pilot": 1.0}
    # sums by cluster .5, 2, 1: all signs alike or a smaller sum, 2 of 8
    assert found.gap.p_value == 2 / 8
    alone = preference(pro, anti)
    assert (alone.share.value, alone.by_cluster) == (0.7, {})
    assert alone.share.p_value == pytest.approx(scipy.stats.binomtest(3, 4).pvalue)


def test_copies_of_an_occupation_are_no_evidence():
    pro, anti, names = np.repeat([-1.0, -1.2, -0.8, -1.1], 50), np.full(200, -2.0), np.repeat(["a", "b", "c", "d"], 50)
    assert preference(pro, anti, clusters=names).share.p_value == 2 / 16
    assert preference(pro, anti).share.p_value < 1e-50


@given(st.lists(st.tuples(st.integers(-5, 0), st.integers(-5, 0), st.sampled_from("abc")), min_size=2, max_size=15))
@settings(max_examples=40)
def test_swapping_pro_and_anti_mirrors_the_preference(rows):
    pro, anti, names = (list(column) for column in zip(*rows, strict=True))
    names[0], names[1] = "x", "y"
    found, turned = preference(pro, anti, clusters=names), preference(anti, pro, clusters=names)
    assert turned.share.value == pytest.approx(1 - found.share.value)
    assert turned.gap.value == pytest.approx(-found.gap.value)
    assert (turned.share.p_value, turned.gap.p_value, turned.ties) == (
        found.share.p_value,
        found.gap.p_value,
        found.ties,
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: pronoun_gap([], []), "p_1 must be a list of at least one number"),
        (lambda: pronoun_gap([0.5, float("nan")], [0.5, 0.5]), "p_1 holds NaN"),
        (lambda: pronoun_gap([0.5], [0.5, 0.5]), "1 probabilities of group 1 but 2 of group 2"),
        (lambda: pronoun_gap([-0.5, 0.1], [0.5, 0.5]), "not their logarithms"),
        (lambda: pronoun_gap([0.5], [0.5]), "at least two units"),
        (lambda: pronoun_gap([0.5, 0.1], [0.5, 0.2], units=["a"]), "2 scores but 1 units"),
        (lambda: pronoun_gap(HE, SHE, units=UNITS, shares={"cook": 0.5}), "at least 4 units, not 1"),
        (lambda: preference([], []), "pro must be a list"),
        (lambda: preference([-1.0], [-1.0, -2.0]), "1 pro-stereotypical but 2 anti-stereotypical"),
        (lambda: preference([-1.0, float("-inf")], [-1.0, -2.0]), "pro holds NaN or infinity"),
        (lambda: preference([-1.0, -2.0], [-1.0, -2.0], clusters=["a"]), "2 values but 1 cluster"),
    ],
)
def test_input_that_cannot_be_used_is_named(call, message):
    with pytest.raises(BadInput, match=message):
        call()
