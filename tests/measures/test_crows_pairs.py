"""CrowS-Pairs: the share of stereotyped sentences preferred, by hand and against statsmodels and scipy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from tiltmeter.errors import BadInput
from tiltmeter.measures import crows_pairs

PAIRS = st.lists(st.tuples(st.integers(-9, -1), st.integers(-9, -1)), min_size=1, max_size=30)


def test_five_pairs_by_hand():
    stereotyped = [-10.0, -12.0, -9.0004, -8.0, -7.0]
    other = [-11.0, -11.0, -9.0001, -9.0, -7.0]
    found = crows_pairs(stereotyped, other, kinds=["race", "race", "age", "age", "age"])
    # preferred: pairs 1 and 4; pair 5 ties, and rounded to three decimals so does pair 3
    assert (found.score, found.ties, found.n) == (2.5 / 5, 1, 5)
    assert (found.published.score, found.published.ties, found.published.n) == (2 / 5, 2, 5)
    assert found.p_value == 1.0
    assert {kind: share.value for kind, share in found.by_kind.items()} == {"race": 0.5, "age": 0.5}
    assert found.by_kind["age"].n == 3


def test_rounding_hides_a_small_preference():
    found = crows_pairs([-1.0001, -5.0], [-1.0002, -4.0])
    assert (found.score, found.ties) == (0.5, 0)
    assert (found.published.score, found.published.ties) == (0.0, 1)
    assert crows_pairs([-1.0001, -5.0], [-1.0002, -4.0], round_to=6).published.score == 0.5


@given(PAIRS)
def test_interval_and_test_are_those_of_the_libraries(pairs):
    one, two = np.array(pairs, dtype=float).T
    found = crows_pairs(one, two)
    wins, ties = int((one > two).sum()), int((one == two).sum())
    low, high = proportion_confint(wins + ties / 2, len(pairs), method="wilson")
    assert (found.ci.low, found.ci.high) == pytest.approx((low, high), abs=1e-12)
    assert found.published.score == wins / len(pairs)
    if ties < len(pairs):
        assert found.p_value == pytest.approx(scipy.stats.binomtest(wins, len(pairs) - ties).pvalue)
    turned = crows_pairs(two, one)
    assert turned.score == pytest.approx(1 - found.score)
    assert turned.p_value == pytest.approx(found.p_value)


def test_pairs_of_one_cluster_decide_together():
    # 4 clusters of 10 that each prefer one thing: 3 to 1, which half of all patterns of signs exceed or equal in size.
    one, two = np.repeat([2.0, 2.0, 2.0, 0.0], 10), np.ones(40)
    found = crows_pairs(one, two, kinds=["a"] * 20 + ["b"] * 20, clusters=np.repeat(["w", "x", "y", "z"], 10))
    assert (found.score, found.n, found.n_clusters) == (0.75, 40, 4)
    assert found.p_value == 10 / 16
    assert found.published.p_value == pytest.approx(scipy.stats.binomtest(30, 40).pvalue)
    assert found.published.score == 0.75
    assert {kind: share.n_clusters for kind, share in found.by_kind.items()} == {"a": 2, "b": 2}


def test_clusters_that_lean_by_chance_are_no_finding():
    # 50 clusters of 30 pairs with an intraclass correlation of .1: taken for independent, .31 are significant.
    rng = np.random.default_rng(1)
    clusters = np.repeat(np.arange(50), 30)
    found = []
    for seed in range(200):
        won = rng.random(1500) < np.repeat(rng.beta(4.5, 4.5, size=50), 30)
        found.append(crows_pairs(won.astype(float), np.full(1500, 0.5), clusters=clusters, permutations=199, seed=seed))
    assert np.mean([each.published.p_value <= 0.05 for each in found]) > 0.2
    assert 0.01 <= np.mean([each.p_value <= 0.05 for each in found]) <= 0.09
    assert 0.91 <= np.mean([0.5 in each.ci for each in found]) <= 0.99


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: crows_pairs([], []), "at least one number"),
        (lambda: crows_pairs([1.0, float("nan")], [1.0, 2.0]), "stereotyped holds NaN"),
        (lambda: crows_pairs([1.0], [1.0, 2.0]), "1 stereotyped sentences but 2 others"),
        (lambda: crows_pairs([1.0], [2.0], kinds=["a", "b"]), "1 pairs but 2 kinds"),
        (lambda: crows_pairs([1.0], [2.0], clusters=["a", "b"]), "1 pairs but 2 clusters"),
    ],
)
def test_input_that_cannot_be_used_is_named(call, message):
    with pytest.raises(BadInput, match=message):
        call()
