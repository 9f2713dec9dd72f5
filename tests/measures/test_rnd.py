"""Relative norm distance: by hand, its two signs, and its permutation test."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from tests.measures.vectors import BAD_VECTORS, cos, matrices, random_rows
from tiltmeter.errors import BadInput
from tiltmeter.measures import rnd


def near(distance, mean, attribute):
    return cos(mean, attribute) if distance == "cos" else math.dist(mean, attribute)


def score(distance, x, y, attributes):
    x, y = np.mean(x, axis=0), np.mean(y, axis=0)
    return float(np.mean([near(distance, x, a) - near(distance, y, a) for a in attributes]))


def test_two_attributes_by_hand():
    x, y = [[1.5, 0.5], [0.5, -0.5]], [[1.0, 1.0], [-1.0, 1.0]]  # their means are (1, 0) and (0, 1)
    attributes = [[1.0, 0.0], [2.0, 0.0]]
    # |X - a| - |Y - a|: 0 - sqrt(2) and 1 - sqrt(5); mean -1.325141. X is nearer, so the distance is negative
    found = rnd(x, y, attributes)
    assert found.by_attribute == pytest.approx((-math.sqrt(2), 1 - math.sqrt(5)), abs=1e-8)
    assert found.score == pytest.approx(-1.3251408, abs=1e-7)
    # cos: 1 - 0 and 1 - 0. X is nearer, so the similarity is positive
    assert rnd(x, y, attributes, distance="cos").score == pytest.approx(1.0)


@given(matrices(st.integers(1, 3)), matrices(st.integers(1, 3)), matrices(2), st.sampled_from(["norm", "cos"]))
@settings(max_examples=30)
def test_score_and_p_are_their_definitions(x, y, attributes, distance):
    everything = np.concatenate([x, y])
    splits = list(itertools.combinations(range(len(everything)), len(x)))
    try:
        found = rnd(x, y, attributes, distance=distance)
        null = np.array(
            [
                score(distance, everything[list(chosen)], np.delete(everything, chosen, axis=0), attributes)
                for chosen in splits
            ]
        )
    except (BadInput, RuntimeWarning):  # a group, or a split of them, that cancels out has no cosine
        reject()
    assert found.score == pytest.approx(null[0], abs=1e-9)
    low, high = ((np.abs(null) >= abs(null[0]) + slack).mean() for slack in (1e-7, -1e-7))
    assert low - 1e-9 <= found.p_value <= high + 1e-9
    assert found.p_value >= 1 / len(splits)


@pytest.mark.parametrize("distance", ["norm", "cos"])
def test_swapping_the_groups_turns_the_sign(distance):
    x, y, attributes = random_rows(5, seed=1), random_rows(5, seed=2), random_rows(6, seed=3)
    one, other = rnd(x, y, attributes, distance=distance), rnd(y, x, attributes, distance=distance)
    assert other.score == pytest.approx(-one.score)
    assert other.p_value == pytest.approx(one.p_value)


def test_an_average_that_meets_its_attribute_keeps_p_above_zero():
    # |mean X - a| is 0 for the observed split; its rounding must not hide the split from itself
    for seed in range(60):
        rng = np.random.default_rng(seed)
        x, y = rng.normal(size=(2, 3)).round(1) + 0.05, rng.normal(size=(3, 3)).round(1) + 0.05
        for alternative in ("less", "greater", "two-sided"):
            assert rnd(x, y, [x.mean(0)], alternative=alternative).p_value >= 1 / 10


def test_a_planted_bias_is_found_with_both_distances():
    rng = np.random.default_rng(0)
    direction = np.eye(10)[0]
    x, y = (rng.normal(size=(8, 10)) + side * direction for side in (2.5, -2.5))
    attributes = rng.normal(size=(8, 10)) + 2.5 * direction
    norm, cosine = rnd(x, y, attributes), rnd(x, y, attributes, distance="cos")
    for found in (norm, cosine, norm.repaired, cosine.repaired):
        assert found.p_value < 0.01
    assert norm.score < 0 < cosine.score
    assert norm.repaired.score < 0 < cosine.repaired.score
    assert norm.repaired.ci.high < 0 < cosine.repaired.ci.low
    for alternative, found in (("less", False), ("greater", True)):
        directed = rnd(x, y, attributes, alternative=alternative)
        assert (directed.p_value > 0.9, directed.repaired.p_value > 0.9) == (found, found)


def test_the_repaired_score_is_the_mean_over_pairs_of_different_words():
    x, y, attributes = random_rows(4, seed=1), 3 * random_rows(5, seed=2), random_rows(3, seed=3)
    found = rnd(x, y, attributes).repaired
    expected = []
    for a in attributes:
        squares = [
            np.mean([(one - a) @ (two - a) for one, two in itertools.permutations(group, 2)]) for group in (x, y)
        ]
        expected.append((squares[0] - squares[1]) / sum(np.linalg.norm(group.mean(axis=0) - a) for group in (x, y)))
    assert found.by_attribute == pytest.approx(expected)
    assert found.score == pytest.approx(np.mean(expected))
    assert found.p_value == max(found.p_targets, found.p_attributes)


@pytest.mark.parametrize(("n_x", "n_y"), [(20, 20), (5, 40), (40, 5)])
def test_groups_of_different_spread_are_no_finding(n_x, n_y):
    # As published, the wide group is further from everything in every run.
    rng = np.random.default_rng(5)
    found = []
    for seed in range(200):
        away = 1.5 * rng.normal(size=50)
        x, y, attributes = 3 * rng.normal(size=(n_x, 50)), rng.normal(size=(n_y, 50)), away + rng.normal(size=(8, 50))
        found.append(rnd(x, y, attributes, permutations=199, seed=seed))
    assert np.mean([each.repaired.p_value <= 0.05 for each in found]) <= 0.09
    assert 0.91 <= np.mean([0 in each.repaired.ci for each in found]) <= 0.99
    if n_x < n_y:
        assert np.mean([each.p_value <= 0.05 for each in found]) > 0.9


@pytest.mark.parametrize("n", [3, 5, 8])
def test_the_interval_of_few_attributes_covers(n):
    rng = np.random.default_rng(n)
    covered = 0
    for seed in range(300):
        attributes = 1.5 * rng.normal(size=50) + rng.normal(size=(n, 50))
        found = rnd(rng.normal(size=(8, 50)), rng.normal(size=(8, 50)), attributes, permutations=1, seed=seed)
        covered += 0 in found.repaired.ci
    assert 0.92 <= covered / 300 <= 0.98


@pytest.mark.parametrize("distance", ["norm", "cos"])
def test_forms_of_one_word_are_one_observation(distance):
    rng = np.random.default_rng(7)
    x, y, attributes = (rng.normal(size=(n, 40)) + 1 for n in (6, 7, 5))
    thrice = [np.repeat(each, 3, axis=0) + 1e-6 * rng.normal(size=(3 * len(each), 40)) for each in (x, y)]
    once, forms = (rnd(*groups, attributes, distance=distance).repaired for groups in ((x, y), thrice))
    assert forms.families == once.families == (6, 7, 5)
    assert forms.score == pytest.approx(once.score, abs=1e-4)
    assert forms.p_value == pytest.approx(once.p_value, abs=1e-5)
    assert (forms.ci.low, forms.ci.high) == pytest.approx((once.ci.low, once.ci.high), rel=0.02)


def test_sampled_splits_are_seeded_and_never_give_zero():
    x, y, attributes = random_rows(12, seed=1) + 3, random_rows(12, seed=2) - 3, random_rows(3, seed=3) + 3
    first, again = (rnd(x, y, attributes, permutations=99, seed=5) for _ in range(2))
    assert first == again
    assert (first.p_value, first.repaired.p_targets) == (1 / 100, 1 / 100)


@pytest.mark.parametrize(("distance", "bound"), [("norm", math.sqrt(2)), ("cos", 2.0)])
def test_one_attribute_has_no_interval_but_a_finite_range(distance, bound):
    found = rnd([[1.0, 0.0]], [[0.0, 1.0]], [[1.0, 0.2]], distance=distance)
    interval = found.repaired.ci
    assert "not estimable" in interval.method
    assert (interval.low, interval.high) == pytest.approx((-bound, bound))
    assert found.score in interval
    assert (found.repaired.p_value, found.repaired.p_attributes) == (1.0, None)


@pytest.mark.parametrize("position", range(3))
@pytest.mark.parametrize(("vectors", "message"), BAD_VECTORS)
def test_vectors_that_cannot_be_used_are_named(position, vectors, message):
    sets = [random_rows(3, 3, seed=n) for n in range(3)]
    sets[position] = vectors
    with pytest.raises(BadInput, match=message):
        rnd(*sets)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"distance": "norms"}, "did you mean 'norm'"),
        ({"alternative": "greatr"}, "did you mean 'greater'"),
        ({"permutations": 0}, "permutations must be at least 1"),
    ],
)
def test_options_that_make_no_sense_are_named(options, message):
    with pytest.raises(BadInput, match=message):
        rnd(random_rows(9), random_rows(9, seed=1), random_rows(2, seed=2), **options)


def test_a_group_that_cancels_out_has_no_cosine():
    with pytest.raises(BadInput, match="X: the vectors cancel out"):
        rnd([[1.0, 0.0], [-1.0, 0.0]], [[1.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]], distance="cos")
