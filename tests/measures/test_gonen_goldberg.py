"""The cluster and neighbour tests."""

from __future__ import annotations

import numpy as np
import pytest
from statsmodels.stats.proportion import proportion_confint

from tests.measures.vectors import BAD_VECTORS, cos, random_rows
from tiltmeter.errors import BadInput
from tiltmeter.measures import cluster_bias, cluster_deal_test, dealt_leans, neighbour_bias, neighbour_deal_test

EAST, NORTH = [[1.0, 0.1], [1.0, 0.0], [1.0, 0.2]], [[0.1, 1.0], [0.0, 1.0], [0.2, 1.0]]


def test_two_clusters_by_hand():
    found = cluster_bias(EAST, NORTH)
    # a table of 3 0 / 0 3: two such tables among C(6, 3) = 20
    assert (found.accuracy, found.n) == (1.0, 6)
    assert found.p_value == pytest.approx(2 / 20)
    # Wilson for 6 of 6: 6 / (6 + 1.96^2) = .6097 to 1
    assert (found.ci.low, found.ci.high) == pytest.approx((0.6097, 1.0), abs=1e-4)


def test_one_word_on_the_wrong_side_by_hand():
    found = cluster_bias([*EAST, [0.0, 2.0]], [*NORTH, [0.1, 3.0]])
    # 7 of 8 right; tables 3 1 / 0 4 or more extreme: 2 * C(4,3)C(4,0) / C(8,3) = 8 / 56
    assert found.accuracy == 7 / 8
    assert found.p_value == pytest.approx(8 / 56)
    assert (found.ci.low, found.ci.high) == pytest.approx(proportion_confint(7, 8, method="wilson"))


def test_accuracy_never_falls_below_half_and_words_without_trace_sit_near_it():
    found = [cluster_bias(random_rows(50, seed=n), random_rows(50, seed=n + 100)) for n in range(10)]
    assert all(0.5 <= each.accuracy <= 1 for each in found)
    # |accuracy - .5| of a fair coin thrown 100 times has mean .04
    assert np.mean([each.accuracy for each in found]) == pytest.approx(0.54, abs=0.04)
    assert sum(each.p_value <= 0.05 for each in found) <= 3


def test_a_stronger_trace_separates_better():
    shift = 2 * np.eye(20)[0]
    accuracies = [
        cluster_bias(random_rows(40, seed=1) + push * shift, random_rows(40, seed=2) - push * shift).accuracy
        for push in (0.0, 0.7, 2.0)
    ]
    assert accuracies == sorted(accuracies)
    assert accuracies[2] == 1.0


def test_thousands_of_words_do_not_make_p_zero():
    rng = np.random.default_rng(0)
    one, two = (side + 0.01 * rng.normal(size=(1_100, 2)) for side in (np.array([1, 0]), np.array([0, 1])))
    assert 0 < cluster_bias(one, two).p_value < 1e-300


def test_neighbours_by_hand():
    words = [[1.0, 0.3], [0.9, 0.4], [0.3, 1.0], [0.4, 0.9], [1.0, 1.01]]
    found = neighbour_bias(words, [1.0, 0.8, -1.0, -0.8, 0.0], EAST, NORTH, k=3)
    # the last lies between the groups, a little to the north: nearest are (.2, 1), (1, .2) and (.1, 1)
    assert found.shares[:4] == (1.0, 1.0, 0.0, 0.0)
    assert found.shares[4] == pytest.approx(1 / 3)
    assert found.correlation.r == pytest.approx(np.corrcoef(found.shares, [1.0, 0.8, -1.0, -0.8, 0.0])[0, 1])


def test_shares_are_those_of_a_plain_search():
    words, one, two = random_rows(12, seed=1), random_rows(15, seed=2), random_rows(25, seed=3)
    found = neighbour_bias(words, np.arange(12), one, two, k=7)
    pool = [*((v, 1) for v in one), *((v, 0) for v in two)]
    for word, share in zip(words, found.shares, strict=True):
        nearest = sorted(pool, key=lambda entry: -cos(word, entry[0]))[:7]
        assert share == pytest.approx(sum(group for _, group in nearest) / 7)


def test_a_word_is_no_neighbour_of_its_own():
    one, two = random_rows(6, seed=1), random_rows(6, seed=2)
    found = neighbour_bias(one, np.arange(6), one, two, k=3)
    for i, share in enumerate(found.shares):
        pool = [*((v, 1) for v in np.delete(one, i, axis=0)), *((v, 0) for v in two)]
        nearest = sorted(pool, key=lambda entry: -cos(one[i], entry[0]))[:3]
        assert share == pytest.approx(sum(group for _, group in nearest) / 3)


def test_a_planted_trace_is_found():
    rng = np.random.default_rng(0)
    bias = rng.uniform(-1, 1, size=60)
    direction, other = np.eye(20)[0], np.eye(20)[1]
    # the direction itself is gone from the words; a second one, which went with it, is left
    words = 0.3 * rng.normal(size=(60, 20)) + 3 * bias[:, None] * other
    pool_1, pool_2 = (0.3 * rng.normal(size=(80, 20)) + side * (direction + other) for side in (1, -1))
    found = neighbour_bias(words, bias, pool_1, pool_2, k=20)
    assert found.correlation.r > 0.7
    assert found.correlation.ci.low > 0


@pytest.mark.parametrize(("vectors", "message"), BAD_VECTORS)
def test_vectors_that_cannot_be_used_are_named(vectors, message):
    with pytest.raises(BadInput, match=f"group 2: .*{message}"):
        cluster_bias(random_rows(4, 3), vectors)
    with pytest.raises(BadInput, match=f"pool 1: .*{message}"):
        neighbour_bias(random_rows(4, 3), [1, 2, 3, 4], vectors, random_rows(4, 3), k=2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda w: cluster_bias(w[:1], w), "at least 2"),
        (lambda w: cluster_bias(w[[0, 0]], 2 * w[[0, 0]]), "the same direction"),
        (lambda w: cluster_bias(w, w + 1, seed=-1), "a seed must be"),
        (lambda w: neighbour_bias(w, range(5), w + 1, w + 2, k=0), "from 1 to 9"),
        (lambda w: neighbour_bias(w, range(5), w + 1, w + 2, k=10), "from 1 to 9"),
        (lambda w: neighbour_bias(w, range(5), w, w, k=9), "only 8 neighbours"),
        (lambda w: neighbour_bias(w, range(4), w + 1, w + 2, k=3), "same length"),
        (lambda w: neighbour_bias(w[:3], range(3), w + 1, w + 2, k=3), "at least 4"),
    ],
)
def test_input_that_cannot_be_used_is_named(call, message):
    with pytest.raises(BadInput, match=message):
        call(random_rows(5))


def _planted(*, along: bool):
    """Words in two clusters, and two sides of words that differ where the clusters do, or elsewhere."""
    rng = np.random.default_rng(1)
    clusters, other = np.eye(30)[0], np.eye(30)[1]
    words = rng.normal(size=(40, 30)) + 6 * np.outer([1, -1] * 20, clusters)
    axis = clusters if along else other
    return words, rng.normal(size=(8, 30)) + 3 * axis, rng.normal(size=(8, 30)) - 3 * axis


def test_leans_are_cosines_with_the_difference_of_the_sides():
    words, one, two = random_rows(5, seed=1), random_rows(4, seed=2), random_rows(3, seed=3)
    leans = dealt_leans(words, one, two, deals=20)
    means = [np.mean([v / np.linalg.norm(v) for v in side], axis=0) for side in (one, two)]
    assert leans[:, 0] == pytest.approx([cos(word, means[0] - means[1]) for word in words])
    assert dealt_leans(words, two, one, deals=20)[:, 0] == pytest.approx(-leans[:, 0])
    assert leans.shape == (5, 21)


def test_words_of_a_family_are_dealt_together():
    # Three words in copies: every deal gives the copies to one side, so there are 20 splits and no more.
    one, two = (np.repeat(random_rows(3, seed=seed), 5, axis=0) for seed in (1, 2))
    leans = dealt_leans(random_rows(6, seed=3), one, two, deals=2_000)
    assert len(np.unique(leans.round(9), axis=1).T) == 20


def test_clusters_along_the_lean_are_found_and_clusters_of_something_else_are_not():
    words, one, two = _planted(along=True)
    found = cluster_deal_test(words, dealt_leans(words, one, two))
    assert found.accuracy == 1.0
    assert found.p_value < 0.01
    assert cluster_deal_test(words, dealt_leans(words, two, one)).p_value == pytest.approx(found.p_value, abs=0.01)
    words, one, two = _planted(along=False)
    assert cluster_deal_test(words, dealt_leans(words, one, two)).p_value > 0.05


def test_neighbours_along_the_lean_are_found_and_neighbours_by_something_else_are_not():
    words, one, two = _planted(along=True)
    leans = dealt_leans(words, one, two)
    found = neighbour_deal_test(words, leans, k=8)
    assert found.correlation.p_value < 0.01
    assert neighbour_deal_test(words, dealt_leans(words, two, one), k=8).correlation.p_value < 0.01
    lean = leans[:, 0]
    upper = lean > np.median(lean)
    theirs = neighbour_bias(words, lean, words[upper], words[~upper], k=8)
    assert found.shares == pytest.approx(theirs.shares)
    assert found.correlation.r == pytest.approx(theirs.correlation.r)
    words, one, two = _planted(along=False)
    assert neighbour_deal_test(words, dealt_leans(words, one, two), k=8).correlation.p_value > 0.05


def test_neighbours_and_clusters_along_arbitrary_words_are_findings_as_often_as_chance_says():
    # Words on a curved sheet: neighbours are alike in every direction, as they are in a real model.
    rng = np.random.default_rng(2)
    words = np.tanh(rng.normal(size=(40, 4)) @ rng.normal(size=(4, 20)))
    runs, p_values, published = 200, [], []
    for _ in range(runs):
        leans = dealt_leans(words, *rng.normal(size=(2, 6, 20)), deals=99)
        found = neighbour_deal_test(words, leans, k=8)
        p_values.append((found.correlation.p_value, cluster_deal_test(words, leans).p_value))
        published.append(np.corrcoef(found.shares, leans[:, 0])[0, 1])
    # 200 runs at .05 have an SD of .0154.
    assert np.mean(np.array(p_values) <= 0.05, axis=0) == pytest.approx([0.05, 0.05], abs=3 * 0.0154)
    assert np.mean(published) > 0.5


def test_a_family_counts_once_in_the_intervals():
    words, one, two = random_rows(20, seed=4), random_rows(6, seed=5), random_rows(6, seed=6)
    leans = dealt_leans(words, one, two, deals=9)
    families = [i // 4 for i in range(20)]
    for test in (lambda **kin: cluster_deal_test(words, leans, **kin).ci, lambda **kin: _r(words, leans, **kin).ci):
        alone, kin = test(), test(families=families)
        assert kin.high - kin.low > alone.high - alone.low


def _r(words, leans, **kin):
    return neighbour_deal_test(words, leans, k=4, **kin).correlation


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda w: dealt_leans(w, w[:2], w[:2]), "the same average"),
        (lambda w: dealt_leans(w, w[:2], w[2:], deals=0), "at least 1"),
        (lambda w: neighbour_deal_test(w, np.zeros((6, 3)), k=6), "k must be from 1 to 5"),
    ],
)
def test_deals_that_cannot_be_made_are_an_error(call, message):
    with pytest.raises(BadInput, match=message):
        call(random_rows(6))
